/** Passages and citations: the text of a source with its place, and a button that opens it. */

import { element, placeLine } from "../dom.js";
import { say } from "../language.js";
import { contextLine, fullPlace, marked, sectionBelow, unitSpans, warningStatus } from "../text.js";
import { whyHere } from "./retrieval.js";
import { placeOf } from "./sentences.js";

const SHOWN = 3;

/** The list of passages, best first; all but the first few are behind a button. */
export function passageList(passages, page) {
  const items = passages.map((passage) => passageItem(passage, page));
  const rest = items.slice(SHOWN);
  rest.forEach((item) => (item.hidden = true));
  return element(
    "section",
    { class: "sources" },
    element("h3", {}, say("answer.sources", { count: passages.length })),
    element("ol", {}, ...items),
    rest.length > 0 ? showAll(passages.length, rest) : null,
  );
}

function showAll(total, rest) {
  const button = element("button", { type: "button", class: "quiet" }, say("answer.showAll", { total }));
  button.addEventListener("click", () => {
    rest.forEach((item) => (item.hidden = false));
    button.remove();
    rest[0].querySelector("button").focus();
  });
  return button;
}

function passageItem(passage, page) {
  const highlights = unitSpans(passage.text, passage.highlights);
  const place = [
    page.label(passage.corpus),
    passage.date,
    fullPlace(passage),
    say("answer.score", { score: passage.score.toFixed(3) }),
    passage.valid ? "" : say("answer.tooWeak"),
  ];
  return element(
    "li",
    { "data-passage": passage.passage_id },
    element("h4", {}, passage.title, statusBadge(passage.metadata)),
    element("p", {}, placeLine(place, passage.url, passage.title)),
    contextLine(passage),
    element("div", { class: "passage-text" }, ...marked(passage.text, highlights)),
    duplicateList(passage.duplicates, page),
    element("div", { class: "more" }, openButton(passage, page), whyHere(passage)),
  );
}

/** The badge of a source that is overruled, repealed and the like, or null. */
function statusBadge(metadata) {
  const status = warningStatus(metadata);
  return status ? element("strong", { class: "badge" }, status) : null;
}

function openButton(passage, page) {
  const place = placeOf(passage);
  return element(
    "button",
    {
      type: "button",
      class: "link",
      "aria-label": say("answer.openIn", { title: passage.title }),
      onclick: () => page.open(place),
    },
    say("answer.open"),
  );
}

/** A folded list of them, each of which can be opened; null without any. */
function duplicateList(ids, page) {
  if (ids.length === 0) return null;
  const items = ids.map((id) => {
    const open = { type: "button", class: "link", onclick: () => page.open({ passageId: id }) };
    return element("li", {}, element("button", open, id.slice(0, id.lastIndexOf(":"))));
  });
  return element(
    "details",
    { class: "duplicates" },
    element("summary", {}, say("answer.duplicates", { count: ids.length })),
    element("ul", {}, ...items),
  );
}

/** Lists the citations of an answer, numbered. */
export function citationList(answer, page) {
  const said = answer.sentences.map(({ text }) => oneLine(text));
  const items = answer.citations.map((citation) => {
    // an extractive answer is its quotes; said once is enough
    const quote = oneLine(citation.quote);
    const quoted = said.some((text) => text.includes(quote));
    return element("li", {}, ...sourceNodes(citation, page), quoted ? null : quoteNode(citation));
  });
  return element("ol", { class: "citations", "aria-label": say("answer.citations") }, ...items);
}

/** A quote as such, below its source. */
export function quoteItem(citation, page) {
  return element("li", {}, ...sourceNodes(citation, page), quoteNode(citation));
}

function sourceNodes(citation, page) {
  const place = [
    page.label(citation.corpus),
    citation.date,
    fullPlace(citation),
    sectionBelow(citation),
    citation.speaker,
  ];
  const open = { type: "button", class: "link", onclick: () => page.open(placeOf(citation)) };
  return [
    element("button", open, citation.title),
    statusBadge(citation.metadata),
    placeLine(place, citation.url, citation.title),
  ];
}

function quoteNode({ quote }) {
  return element("blockquote", {}, quote);
}

/** A text whose lines may have been broken by hand, on one line. */
function oneLine(text) {
  return text.replaceAll(/\s+/g, " ");
}
