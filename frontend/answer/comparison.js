/** Every corpus' own answer, then what they agree and differ about. */

import { confidenceNote } from "./confidence.js";
import { element } from "../dom.js";
import { withoutMarkers } from "./markers.js";
import { chips, paragraphs } from "./sentences.js";
import { reasonNodes } from "./verdict.js";

/** The blocks of a comparison, in place of one text. */
export function comparisonBlocks({ comparison, citations }, page) {
  const { answers, agreements, differences } = comparison;
  const blocks = answers.map((part) => corpusBlock(part, citations, page));
  const answered = answers.filter((part) => part.decision === "ANSWER");
  if (answered.length < 2) return blocks; // nothing to compare
  return [
    ...blocks,
    pointsBlock("Agreements", agreements, citations, page),
    pointsBlock("Differences", differences, citations, page),
  ];
}

function corpusBlock(part, citations, page) {
  const answered = part.decision === "ANSWER";
  return element(
    "section",
    { class: "compared", "data-corpus": part.corpus },
    element("h3", {}, page.label(part.corpus)),
    confidenceNote(part),
    ...(answered ? paragraphs(part, citations, page) : [whyNot(part)]),
  );
}

function whyNot(part) {
  const lead = element("strong", {}, "No answer");
  return element("div", { class: "notice" }, lead, ...reasonNodes(part));
}

function pointsBlock(title, points, citations, page) {
  const items = points.map(({ text, citations: indices }) =>
    element("li", {}, withoutMarkers(text), ...chips(indices, citations, page)),
  );
  const none = element("p", { class: "hint" }, "None were found.");
  return element(
    "section",
    { class: "compared" },
    element("h3", {}, title),
    items.length > 0 ? element("ul", {}, ...items) : none,
  );
}
