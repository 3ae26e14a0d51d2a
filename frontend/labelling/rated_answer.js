/** An answer as it is rated: without what tells who wrote it. */

import { element } from "../dom.js";

/** The nodes of an answer, the `number`th of `total`. */
export function answerNodes(item, number, total) {
  const declined = item.decision !== "ANSWER";
  return [
    element("p", { class: "hint" }, `Answer ${number} of ${total}`),
    element("h2", {}, item.question),
    declined
      ? element("p", { class: "answer-text" }, `No answer was given. ${item.reason}`)
      : element("div", { class: "answer-text rated-text" }, item.answer),
    quotes(item.quotes),
    references(item.references),
  ].filter((node) => node !== null);
}

function quotes(found) {
  if (found.length === 0) return null;
  const items = found.map(({ number, title, place, quote }) =>
    element("li", {}, `[${number}] ${title}, ${place}: `, element("q", {}, quote)),
  );
  return element("ul", { class: "quotes" }, ...items);
}

function references(answers) {
  if (answers.length === 0) return null;
  const items = answers.map((answer) => element("li", {}, answer));
  const summary = element("summary", {}, "Reference answer");
  return element("details", {}, summary, element("ul", {}, ...items));
}
