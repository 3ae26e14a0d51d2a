/** A question that the sources read in several ways: what each says, and the question again. */

import { element } from "../dom.js";
import { say } from "../language.js";
import { placeOf } from "./sentences.js";

/** The readings to choose from, or null. `page` asks again and opens what is cited. */
export function choiceList({ choices, decision }, page) {
  if (choices.length === 0) return null;
  const lead =
    decision === "ANSWER" ? say("ask.oneReading") : say("ask.whichReading");
  return element(
    "div",
    { class: "notice choices" },
    element("p", {}, element("strong", {}, lead)),
    element("ul", {}, ...choices.map((choice) => choiceItem(choice, page))),
  );
}

function choiceItem({ label, question, corpus_filter, filters, citation }, page) {
  const again = () => page.ask(question, { corpus_filter, filters });
  const open = { type: "button", class: "link", onclick: () => page.open(placeOf(citation)) };
  const place = [citation.date, citation.locator].filter(Boolean).join(" · ");
  return element(
    "li",
    {},
    element("button", { type: "button", class: "choice", onclick: again }, label),
    element("blockquote", {}, citation.quote),
    element("button", open, citation.title),
    element("span", { class: "place" }, ` ${place}`),
  );
}
