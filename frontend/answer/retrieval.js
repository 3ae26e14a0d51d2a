/** How an answer came about: counts by corpus, confidence, dates, time, trace. */

import { definitions, element, externalLink } from "../dom.js";
import { counted, duration } from "../text.js";

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
      notes([...answer.retrieval.notes, ...leftOut(answer)]),
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

function factsOf({ decision, retrieval, timings_ms: timings, target, usage, ...answer }) {
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
  return [...facts, ...writingFacts(usage, decision), ...cacheFacts(answer)];
}

function writingFacts({ provider, model, attempts, cost, ...tokens }, decision) {
  const { prompt_tokens: read, completion_tokens: written } = tokens;
  const facts = [];
  if (decision !== "ABSTAIN") facts.push(["Written by", `${provider} (${model})`]);
  if (attempts > 1) facts.push(["Attempts", String(attempts)]);
  const both = `${grouped(read)} read, ${grouped(written)} written`;
  if (read + written > 0) facts.push(["Tokens", both]);
  if (cost !== null) facts.push(["Cost", cost.toPrecision(3)]);
  return facts;
}

function cacheFacts({ cache_hit: hit, created }) {
  return hit ? [["From the cache", `answered on ${new Date(created).toLocaleString()}`]] : [];
}

function grouped(number) {
  return number.toLocaleString("en");
}

/** What did not reach the language model, in words. */
function leftOut({ context, standalone_note: note }) {
  const { turns_dropped: turns, passages_dropped: passages } = context;
  const found = note === null ? [] : [note];
  if (turns > 0) found.push(`${counted(turns, "earlier message")} did not fit and was left out.`);
  if (passages > 0) found.push(`${counted(passages, "passage")} did not fit and was not read.`);
  return found;
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
