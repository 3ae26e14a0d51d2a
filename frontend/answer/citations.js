/** Quotes with their sources: title, place, date, corpus, and a button that opens them. */

import { element, placeLine } from "../dom.js";
import { say } from "../language.js";
import { statusBadge } from "./passages.js";
import { fullPlace, sectionBelow } from "../places.js";
import { placeOf } from "./sentences.js";

/** What an answer cites, numbered. */
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
