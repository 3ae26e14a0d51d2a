/** Building elements. Text goes in as text nodes, so data can never become markup. */

/** An element; `on…` attributes are listeners, null children are left out. */
export function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child !== null));
  return node;
}

export function at(id) {
  return document.getElementById(id);
}

export function plainButton(label, onclick, attributes = {}) {
  return element("button", { type: "button", onclick, ...attributes }, label);
}

/** A button that looks like a link. */
export function linkButton(label, onclick, attributes = {}) {
  return plainButton(label, onclick, { class: "link", ...attributes });
}

/** A button that shows a sign alone, and is called `name`. */
export function signButton(sign, name, onclick) {
  const label = element("span", { "aria-hidden": "true" }, sign);
  return plainButton(label, onclick, { "aria-label": name, title: name });
}

/** Has `act` take what a form sends. */
export function onSubmit(form, act) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    act();
  });
}

/** A part that unfolds below its summary. */
export function disclosure(summary, attributes, ...nodes) {
  return element("details", attributes, element("summary", {}, summary), ...nodes);
}

/** A choice of [value, words] pairs. */
export function choice(attributes, pairs) {
  const options = pairs.map(([value, words]) => element("option", { value }, words));
  return element("select", attributes, ...options);
}

/** A control behind its label. */
export function withLabel(words, control) {
  return [element("label", { for: control.id }, words), control];
}

/** Shows what went wrong in an element with the role of an alert, or nothing. */
export function alertIn(node, message = "") {
  node.hidden = message === "";
  node.textContent = message; // after it is seen, so that it is announced
}

/** An element of a drawing. */
export function svg(tag, attributes = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

/** A link to another site, or null unless the address is one of the web, without a password. */
export function externalLink(address, text, attributes = {}) {
  if (!/^https?:\/\//i.test(address ?? "") || !URL.canParse(address)) return null;
  const { username, password } = new URL(address);
  if (username || password) return null;
  const link = { href: address, target: "_blank", rel: "noopener", ...attributes };
  return element("a", link, text);
}

/** Where a text is from, in words, with a link to its own site if it has an address. */
export function placeLine(parts, address, title) {
  const site = URL.canParse(address ?? "") ? new URL(address).hostname.replace(/^www\./, "") : "";
  const link = externalLink(address, site, { "aria-label": `${site}: ${title}` });
  const words = parts.filter(Boolean).join(" · ");
  return element("span", { class: "place" }, link ? `${words} · ` : words, link);
}

/** Has the page use a style sheet of a part that is loaded late; resolves when it is there. */
export function styled(name) {
  const address = new URL(name, import.meta.url); // of the version of this file
  const link = element("link", { rel: "stylesheet", href: address });
  const there = new Promise((resolve) => {
    link.addEventListener("load", resolve);
    link.addEventListener("error", resolve); // unstyled, it still works
  });
  document.head.append(link);
  return there;
}

/** A row of a table: its head, and texts or elements. */
export function row(head, cells) {
  const rest = cells.map((cell) => (cell instanceof Element ? cell : element("td", {}, cell)));
  return element("tr", {}, element("th", { scope: "row" }, head), ...rest);
}

/** A description list of [term, description] pairs. */
export function definitions(pairs) {
  const rows = pairs.map(([term, description]) =>
    element("div", {}, element("dt", {}, term), element("dd", {}, description)),
  );
  return element("dl", {}, ...rows);
}
