/** What the corpora agree and differ about, then every corpus' own answer, side by side. */

import { confidenceNote } from "./confidence.js";
import { element } from "../dom.js";
import { say } from "../language.js";
import { withoutMarkers } from "./markers.js";
import { chips, legend, paragraphs } from "./sentences.js";
import { reasonNodes } from "./verdict.js";

/** The blocks of a comparison, in place of one text. */
export function comparisonBlocks({ comparison, citations, usage }, page) {
  const { answers, agreements, differences } = comparison;
  const blocks = answers.map((part) => corpusBlock(part, citations, page));
  const columns = element("div", { class: "columns" }, ...blocks);
  const answered = answers.filter((part) => part.decision === "ANSWER");
  if (answered.length < 2) return [columns]; // nothing to compare
  return [
    pointsBlock("answer.agreements", agreements, citations, usage, page),
    pointsBlock("answer.differences", differences, citations, usage, page),
    columns,
  ];
}

function corpusBlock(part, citations, page) {
  const answered = part.decision === "ANSWER";
  const nodes = [
    element("h3", {}, page.label(part.corpus)),
    confidenceNote(part),
    ...(answered ? paragraphs(part, citations, page) : [whyNot(part)]),
    answered ? legend(part) : null,
  ];
  return element("section", { class: "compared", "data-corpus": part.corpus }, ...nodes);
}

function whyNot(part) {
  const lead = element("strong", {}, say("answer.noAnswer"));
  return element("div", { class: "notice" }, lead, ...reasonNodes(part));
}

function pointsBlock(title, points, citations, { provider }, page) {
  const items = points.map(({ text, citations: indices }) =>
    element("li", {}, byLabels(text, citations, page), ...chips(indices, citations, page)),
  );
  const none = say(provider === "extractive" ? `${title}NotFound` : "answer.noneStated");
  return element(
    "section",
    { class: "compared" },
    element("h3", {}, say(title)),
    items.length > 0 ? element("ul", {}, ...items) : element("p", { class: "hint" }, none),
  );
}

/** A point without tokens, in which a corpus that is quoted goes by its label. */
function byLabels(text, citations, page) {
  const corpora = new Set(citations.map(({ corpus }) => corpus));
  return [...corpora].reduce(
    (written, corpus) => written.replaceAll(`${corpus}: “`, () => `${page.label(corpus)}: “`),
    withoutMarkers(text),
  );
}
