/** Verified sentences with their citations as numbered chips. */

import { element } from "../dom.js";

/** The paragraphs of a text whose sentences cite from `citations` by index. */
export function paragraphs({ answer, sentences }, citations, page) {
  return lines(answer, sentences).map((line) =>
    element("p", {}, ...line.flatMap((sentence) => sentenceNodes(sentence, citations, page))),
  );
}

/** Buttons that open the citations at these indices. */
export function chips(indices, citations, page) {
  return indices.map((index) => chip(citations[index], index + 1, page));
}

/** The place of a citation, or of one side of a conflict, for the reader. */
export function placeOf({ passage_id: passageId, document_id: documentId, ...said }) {
  const { start, end, quote, locator } = said;
  return { passageId, documentId, start, end, quote, locator };
}

/** The sentences, by the lines on which they stand in the written answer. */
function lines(answer, sentences) {
  const grouped = [];
  let at = 0;
  for (const sentence of sentences) {
    const found = answer.indexOf(sentence.text, at);
    const start = found < 0 ? at : found;
    if (grouped.length === 0 || answer.slice(at, start).includes("\n")) grouped.push([]);
    grouped.at(-1).push(sentence);
    at = found < 0 ? at : start + sentence.text.length;
  }
  return grouped;
}

function sentenceNodes(sentence, citations, page) {
  const gap = sentence.caveat ? [" ", element("small", {}, "(no source needed)")] : [];
  return [sentence.text, ...chips(sentence.citations, citations, page), ...gap, " "];
}

function chip(citation, number, page) {
  return element(
    "button",
    {
      type: "button",
      class: "citation",
      "aria-label": `Source ${number}: ${named(citation)}`,
      onclick: () => page.open(placeOf(citation)),
    },
    String(number),
  );
}

/** `Roe v. Wade, 1973`; the year is left out where the title says it. */
function named({ title, date }) {
  const year = date?.slice(0, 4);
  return year && !title.includes(year) ? `${title}, ${year}` : title;
}
