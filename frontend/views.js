/** The views of the page: one is shown, and the search box is its own. The address names it. */

import { element } from "./dom.js";
import { say } from "./language.js";

const DEFAULT = "ask";

/** `opening` gives each view {submit(question), shown()}, loaded when it is first shown.
 *
 * A view may also have `left()`, and `own`, names of the address that are its alone.
 */
export function openViews(opening) {
  const alert = document.getElementById("page-alert");
  const opened = new Map();
  const coming = new Map(); // those on their way, so that two clicks do not open one twice
  const buttons = new Map();
  let current = null;
  let wanted = null; // while it is loaded, the reader may want another

  for (const name of Object.keys(opening)) {
    const choose = { type: "button", onclick: () => show(name) };
    buttons.set(name, element("button", choose, say(`views.${name}`)));
  }
  document.getElementById("views-nav").append(...buttons.values());

  /** Shows a view and resolves to it; what is in the search box stays. */
  async function show(name, { keepAddress = false } = {}) {
    wanted = name;
    if (!opened.has(name)) opened.set(name, await load(name));
    if (wanted !== name) return opened.get(name);
    if (current !== name) opened.get(current)?.left?.();
    current = name;
    for (const node of document.querySelectorAll("[data-view]")) {
      node.hidden = !node.dataset.view.split(" ").includes(name);
    }
    for (const [each, button] of buttons) {
      if (each === name) button.setAttribute("aria-current", "page");
      else button.removeAttribute("aria-current");
    }
    const others = [...opened].filter(([each]) => each !== name).map(([, view]) => view);
    if (!keepAddress) remember(name, others.flatMap((view) => view.own ?? []));
    opened.get(name).shown?.();
    return opened.get(name);
  }

  async function load(name) {
    if (!coming.has(name)) coming.set(name, opening[name]());
    try {
      return await coming.get(name);
    } catch (error) {
      coming.delete(name);
      alert.hidden = false;
      alert.textContent = say("page.viewFailed");
      throw error;
    }
  }

  const named = () => {
    const asked = new URLSearchParams(location.search).get("view");
    return Object.hasOwn(opening, asked) ? asked : DEFAULT;
  };
  addEventListener("popstate", () => show(named(), { keepAddress: true }));
  opened.set(DEFAULT, opening[DEFAULT]());
  show(named(), { keepAddress: true });
  // the one that was chosen last, also while it is loaded: what is sent meanwhile is meant for it
  return { show, chosen: async () => opened.get(wanted) ?? load(wanted) };
}

function remember(name, notIts) {
  const query = new URLSearchParams(location.search);
  for (const each of notIts) query.delete(each);
  if (name === DEFAULT) query.delete("view");
  else query.set("view", name);
  const written = query.toString();
  history.pushState(null, "", location.pathname + (written ? `?${written}` : ""));
}
