/** The documents, page by page: found by their titles, and opened beside the list. */

import { getJson, Problem } from "../api.js";
import { element } from "../dom.js";
import { say } from "../language.js";

const PAGE = 50;
const PAUSE = 250; // ms after the last letter
const ORDERS = ["id", "title", "date", "-date"];

/** {nodes, narrow}: `narrow({label, from, to})` lists the documents of a time alone. */
export function documentList({ corpora }, page) {
  const title = element("input", { id: "about-find", type: "text", maxlength: "200" });
  const corpus = select("about-corpus", [["", say("about.every")], ...corpora.map((c) => [c.id, c.label])]);
  const order = select("about-order", ORDERS.map((name) => [name, say(`about.order_${name}`)]));
  const time = element("p", { class: "notice", hidden: "" });
  const found = element("p", { role: "status", class: "hint" });
  const list = element("ol", { class: "about-documents" });
  const previous = element("button", { type: "button" }, say("about.previous"));
  const next = element("button", { type: "button" }, say("about.next"));
  let offset = 0;
  let last = 0; // offset of the last page, as far as it is known
  let within = null;
  let latest = 0;
  let timer = 0;

  async function load() {
    latest += 1;
    const mine = latest;
    try {
      const query = new URLSearchParams({ limit: PAGE, offset, sort: order.value });
      if (title.value.trim()) query.set("title", title.value.trim());
      if (corpus.value) query.set("corpus", corpus.value);
      if (within) query.set("filters", JSON.stringify({ date: { from: within.from, to: within.to } }));
      const listing = await getJson(`api/documents?${query}`);
      if (mine === latest) show(listing);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (mine === latest) list.replaceChildren(element("li", { role: "alert" }, error.message));
    }
  }

  function show({ total, documents, next_offset: following }) {
    const range = { from: offset + 1, to: offset + documents.length, all: total };
    last = Math.max(0, PAGE * Math.floor((total - 1) / PAGE));
    found.textContent = documents.length > 0 ? say("about.range", range) : say("about.found", { count: total });
    list.start = offset + 1;
    list.replaceChildren(...documents.map((document) => item(document, page)));
    // not `disabled`, which drops the focus
    mark(previous, offset > 0);
    mark(next, following !== null);
  }

  function restart() {
    offset = 0;
    load();
  }

  function turn(button, step) {
    if (button.hasAttribute("aria-disabled")) return;
    // pressed twice before the next page was there, it may be the last one already
    const wanted = Math.min(Math.max(offset + step, 0), last);
    if (wanted === offset) return;
    offset = wanted;
    load();
  }

  function narrow(chosen) {
    within = chosen;
    time.hidden = within === null;
    if (within !== null) {
      const back = { type: "button", class: "link", onclick: () => narrow(null) };
      const all = element("button", back, say("words.everywhere"));
      time.replaceChildren(`${say("words.narrowed", { where: within.label })} `, all);
      found.scrollIntoView({ block: "center" });
    }
    restart();
  }

  previous.addEventListener("click", () => turn(previous, -PAGE));
  next.addEventListener("click", () => turn(next, PAGE));
  title.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(restart, PAUSE);
  });
  for (const control of [corpus, order]) control.addEventListener("change", restart);
  load();
  const bar = element(
    "div",
    { class: "words-bar" },
    labelled("about.find", title),
    labelled("about.of", corpus),
    labelled("about.order", order),
  );
  const pager = element("div", { class: "words-bar" }, previous, next);
  return { nodes: [bar, time, found, list, pager], narrow };
}

function mark(button, enabled) {
  if (enabled) button.removeAttribute("aria-disabled");
  else button.setAttribute("aria-disabled", "true");
}

function item({ document_id: documentId, title, metadata, corpus, passages }, page) {
  const open = { type: "button", class: "link", onclick: () => page.open({ documentId }) };
  const said = [metadata.date, page.label(corpus), say("page.passages", { count: passages })];
  return element(
    "li",
    {},
    element("button", open, title),
    " ",
    element("span", { class: "place" }, said.filter(Boolean).join(" · ")),
  );
}

function select(id, choices) {
  const options = choices.map(([value, text]) => element("option", { value }, text));
  return element("select", { id }, ...options);
}

function labelled(key, control) {
  const label = element("label", { for: control.id }, say(key));
  return element("div", { class: "chooser" }, label, control);
}
