/** How an answer came about: counts by corpus, confidence, dates, time, trace. */

import { getJson, Problem } from "../api.js";
import { definitions, element, externalLink } from "../dom.js";
import { language, say } from "../language.js";
import { duration } from "../text.js";

const TALL = { scope: "col", rowspan: 2 };

/** The section; `candidates` stands below the counts. */
export function retrievalSummary(answer, page, candidates) {
  return element(
    "section",
    { class: "retrieval" },
    element("h3", {}, say("answer.how")),
    countsTable(answer.retrieval, page),
    candidates,
    definitions(factsOf(answer)),
    element(
      "div",
      { class: "more" },
      ...traceLink(page.traceUrl(answer.trace_id)),
      notes([...answer.retrieval.notes, ...leftOut(answer)]),
    ),
  );
}

/** The link, and room to say why the page it opens is empty: Phoenix may start after the server. */
function traceLink(address) {
  const link = externalLink(address, say("answer.trace"), { class: "trace" });
  if (link === null) return [];
  const away = element("p", { role: "status", class: "away" });
  link.addEventListener("click", async () => {
    away.textContent = await whyAway();
  });
  return [link, away];
}

async function whyAway() {
  try {
    const { tracing } = (await getJson("api/health")).parts;
    return tracing.status === "ok" ? "" : say("answer.noTrace", { reason: tracing.detail });
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return error.message;
  }
}

function countsTable({ per_corpus: perCorpus, legs }, page) {
  const stages = ["candidates", ...legs, "kept", "cited"];
  const rows = Object.entries(perCorpus).map(([corpus, counts]) =>
    countsRow(page.label(corpus), stages.map((stage) => counts[stage])),
  );
  return element(
    "div",
    // in a narrow column it scrolls, with the keyboard too
    { class: "counts", role: "group", tabindex: "0", "aria-label": say("answer.stages") },
    element(
      "table",
      { "aria-label": say("answer.stages") },
      countsHead(legs),
      element("tbody", {}, ...rows),
    ),
  );
}

/** Two rows: candidates are counted in all and by leg, which keeps the table narrow. */
function countsHead(legs) {
  return element(
    "thead",
    {},
    element(
      "tr",
      {},
      element("th", TALL, say("answer.corpus")),
      element("th", { scope: "colgroup", colspan: 1 + legs.length }, say("answer.candidates")),
      element("th", TALL, say("answer.kept")),
      element("th", TALL, say("answer.cited")),
    ),
    element(
      "tr",
      {},
      ...["allLegs", ...legs].map((leg) =>
        element("th", { scope: "col" }, say(`answer.${leg}`)),
      ),
    ),
  );
}

function countsRow(label, counts) {
  const cells = counts.map((count) => element("td", {}, String(count)));
  return element("tr", {}, element("th", { scope: "row" }, label), ...cells);
}

function factsOf({ decision, retrieval, timings_ms: timings, target, usage, ...answer }) {
  const { oldest, newest } = retrieval.freshness;
  const facts = [
    [say("answer.decision"), decision],
    [say("answer.supportShare"), retrieval.confidence.support.toFixed(2)],
    [
      say("answer.dated"),
      oldest ? say("answer.fromTo", { from: oldest, to: newest }) : say("answer.undated"),
    ],
    [say("answer.time"), duration(timings.total)],
    [say("answer.target"), target],
  ];
  const parts = retrieval.sub_questions;
  if (parts.length > 0) facts.push([say("answer.alsoSearched"), parts.join(" · ")]);
  return [...facts, ...writingFacts(usage, decision), ...cacheFacts(answer)];
}

function writingFacts({ provider, model, attempts, cost, ...tokens }, decision) {
  const { prompt_tokens: read, completion_tokens: written } = tokens;
  const facts = [];
  if (decision !== "ABSTAIN") facts.push([say("answer.writtenBy"), `${provider} (${model})`]);
  if (attempts > 1) facts.push([say("answer.attempts"), String(attempts)]);
  const both = say("answer.tokensOf", { read, written });
  if (read + written > 0) facts.push([say("answer.tokens"), both]);
  if (cost !== null) facts.push([say("answer.cost"), cost.toPrecision(3)]);
  return facts;
}

function cacheFacts({ cache_hit: hit, created }) {
  const when = new Date(created).toLocaleString(language);
  return hit ? [[say("answer.fromCache"), say("answer.answeredOn", { when })]] : [];
}

/** What did not reach the language model, in words. */
function leftOut({ context, standalone_note: note }) {
  const { turns_dropped: turns, passages_dropped: passages } = context;
  const found = note === null ? [] : [note];
  if (turns > 0) found.push(say("answer.turnsDropped", { count: turns }));
  if (passages > 0) found.push(say("answer.passagesDropped", { count: passages }));
  return found;
}

function notes(warnings) {
  if (warnings.length === 0) return null;
  return element(
    "details",
    { class: "notes" },
    element("summary", {}, say("answer.notes", { count: warnings.length })),
    element("ul", {}, ...warnings.map((warning) => element("li", {}, warning))),
  );
}
