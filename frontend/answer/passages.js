/** The passages that were found: what they say, and why each one ranks where it does. */

import { element, placeLine } from "../dom.js";
import { say } from "../language.js";
import { contextLine, fullPlace } from "../places.js";
import { duplicateList } from "./duplicates.js";
import { placeOf } from "./sentences.js";
import { whyHere } from "./why.js";
import { marked, unitSpans, warningStatus } from "../text.js";

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
export function statusBadge(metadata) {
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
