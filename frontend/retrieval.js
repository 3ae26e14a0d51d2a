/** How an answer came about: counts by corpus, confidence, dates, time, trace. */

import { definitions, element, externalLink } from "./dom.js";
import { counted, duration } from "./text.js";

const STAGES = ["candidates", "dense", "lexical", "kept", "cited"];
const TALL = { scope: "col", rowspan: 2 };

export function retrievalSummary(answer, page) {
  return element(
    "section",
    { class: "retrieval" },
    element("h3", {}, "How it was found"),
    countsTable(answer.retrieval.per_corpus, page),
    definitions(factsOf(answer)),
    element(
      "div",
      { class: "more" },
      externalLink(page.traceUrl(answer.trace_id), "Open trace", { class: "trace" }),
      notes([...answer.retrieval.warnings, ...answer.validation.warnings]),
    ),
  );
}

function countsTable(perCorpus, page) {
  const rows = Object.entries(perCorpus).map(([corpus, counts]) =>
    countsRow(page.label(corpus), counts),
  );
  return element(
    "div",
    { class: "counts" },
    element(
      "table",
      { "aria-label": "Passages of each corpus at each stage" },
      countsHead(),
      element("tbody", {}, ...rows),
    ),
  );
}

/** Two rows: candidates are counted in all and by leg, which keeps the table narrow. */
function countsHead() {
  return element(
    "thead",
    {},
    element(
      "tr",
      {},
      element("th", TALL, "Corpus"),
      element("th", { scope: "colgroup", colspan: 3 }, "Candidates"),
      element("th", TALL, "Kept"),
      element("th", TALL, "Cited"),
    ),
    element(
      "tr",
      {},
      ...["all", "dense", "lexical"].map((leg) => element("th", { scope: "col" }, leg)),
    ),
  );
}

function countsRow(label, counts) {
  const cells = STAGES.map((stage) => element("td", {}, String(counts[stage])));
  return element("tr", {}, element("th", { scope: "row" }, label), ...cells);
}

function factsOf({ decision, retrieval, timings_ms: timings, target, usage }) {
  const { oldest, newest } = retrieval.freshness;
  const facts = [
    ["Decision", decision],
    ["Confidence support", retrieval.confidence.support.toFixed(2)],
    ["Sources dated", oldest ? `${oldest} to ${newest}` : "undated"],
    ["Time", duration(timings.total)],
    ["Target", target],
  ];
  const parts = retrieval.sub_questions;
  if (parts.length > 0) facts.push(["Also searched for", parts.join(" · ")]);
  if (decision !== "ABSTAIN") facts.push(["Written by", `${usage.provider} (${usage.model})`]);
  return facts;
}

function notes(warnings) {
  if (warnings.length === 0) return null;
  return element(
    "details",
    { class: "notes" },
    element("summary", {}, counted(warnings.length, "note")),
    element("ul", {}, ...warnings.map((warning) => element("li", {}, warning))),
  );
}
