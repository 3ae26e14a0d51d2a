/** The passages that were found: what they say, and why each one ranks where it does. */

import { element, placeLine } from "../dom.js";
import { contextLine, fullPlace } from "../places.js";
import { placeOf } from "./sentences.js";
import { counted, marked, unitSpans, warningStatus } from "../text.js";

const SHOWN = 3;

/** The list of passages, best first; all but the first few are behind a button. */
export function passageList(passages, page) {
  const items = passages.map((passage) => passageItem(passage, page));
  const rest = items.slice(SHOWN);
  rest.forEach((item) => (item.hidden = true));
  return element(
    "section",
    { class: "sources" },
    element("h3", {}, counted(passages.length, "source")),
    element("ol", {}, ...items),
    rest.length > 0 ? showAll(passages.length, rest) : null,
  );
}

function showAll(total, rest) {
  const button = element("button", { type: "button", class: "quiet" }, `Show all ${total}`);
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
    `score ${passage.score.toFixed(3)}`,
    passage.valid ? "" : "too weak to answer from",
  ];
  return element(
    "li",
    { "data-passage": passage.passage_id },
    element("h4", {}, passage.title, statusBadge(passage.metadata)),
    element("p", {}, placeLine(place, passage.url, passage.title)),
    contextLine(passage),
    element("div", { class: "passage-text" }, ...marked(passage.text, highlights)),
    sameText(passage.duplicates),
    element("div", { class: "more" }, openButton(passage, page), whyHere(passage)),
  );
}

/** Which passages were left out because they say nearly the same, or null. */
function sameText(duplicates) {
  if (duplicates.length === 0) return null;
  const documents = [...new Set(duplicates.map((id) => id.slice(0, id.lastIndexOf(":"))))];
  return element("p", { class: "hint" }, `Nearly the same text in ${documents.join(", ")}`);
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
      "aria-label": `Open in document: ${passage.title}`,
      onclick: () => page.open(place),
    },
    "Open in document",
  );
}

function whyHere(passage) {
  const signals = Object.entries(passage.signals).sort(([, a], [, b]) => b - a);
  const share = Math.round(passage.overlap * 100);
  return element(
    "details",
    {},
    element("summary", {}, "Why here"),
    element(
      "table",
      { class: "signals" },
      element("caption", {}, `Holds ${share} % of the question’s words. Signals, from 0 to 1:`),
      element("tbody", {}, ...signals.map(signalRow)),
    ),
  );
}

function signalRow([name, value]) {
  const bar = element("span", { class: "bar", "aria-hidden": "true" });
  // set as a property: the page's policy forbids style attributes
  bar.style.inlineSize = `${value * 100}%`;
  return element(
    "tr",
    {},
    element("th", { scope: "row" }, name),
    element("td", {}, value.toFixed(3)),
    element("td", { class: "track" }, bar),
  );
}
