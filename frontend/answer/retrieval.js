/** The way to an answer: counts by corpus, candidates, signals with their weights, dates, trace. */

import { getJson, messageOf, sendJson } from "../api.js";
import { definitions, disclosure, element, externalLink, linkButton, row } from "../dom.js";
import { hasString, language, say, told } from "../language.js";
import { dateWords, duration, titleOf } from "../text.js";
import { howLine } from "./question.js";

const TALL = { scope: "col", rowspan: 2 };
const FUSED = new Set(["fused", "cross-encoder", "cohere"]);

const MEASURES = {
  likelihood: "needed",
  evidence: "needed",
  similarity: "similarity_needed",
  overlap: "overlap_needed",
};

let targets = null;

/** The legs that every collection has, and one that a collection may have. */
const legsOf = ({ legs }) => ["dense", "lexical", ...(legs.sparse ? ["sparse"] : [])];

/** The section; `candidates` stands below the counts. */
export function retrievalSummary(answer, page, candidates) {
  const warnings = notes([...answer.retrieval.notes, ...leftOut(answer)]);
  return disclosure(
    say("answer.how", { found: howLine(answer) }),
    { class: "retrieval" },
    countsTable(answer.retrieval, page),
    candidates,
    definitions(factsOf(answer)),
    element("div", { class: "more" }, ...traceLink(page.traceUrl(answer.trace_id)), warnings),
  );
}

/** The link, and room to say why the page it opens is empty: Phoenix may start after the server. */
function traceLink(address) {
  const link = externalLink(address, say("answer.trace"), { class: "trace" });
  if (link === null) return [];
  const away = element("p", { role: "status" });
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
    return messageOf(error);
  }
}

function countsTable({ per_corpus: perCorpus, legs }, page) {
  const stages = ["candidates", ...legs, "kept", "cited"];
  const rows = Object.entries(perCorpus).map(([corpus, counts]) =>
    row(page.label(corpus), stages.map((stage) => String(counts[stage]))),
  );
  // candidates are counted in all and by leg below, which keeps the table narrow
  const above = [
    element("th", TALL, say("ask.field_corpus")),
    element("th", { scope: "colgroup", colspan: 1 + legs.length }, say("answer.candidates")),
    ...["kept", "cited"].map((stage) => element("th", TALL, say(`answer.${stage}`))),
  ];
  const head = element("thead", {}, element("tr", {}, ...above), headRow(["allLegs", ...legs]));
  const named = { "aria-label": say("answer.stages") };
  return element(
    "div",
    // in a narrow column it scrolls, with the keyboard too
    { class: "counts", role: "group", tabindex: "0", ...named },
    element("table", named, head, element("tbody", {}, ...rows)),
  );
}

function headRow(names, ...more) {
  const heads = names.map((name) => element("th", { scope: "col" }, say(`answer.${name}`)));
  return element("tr", {}, ...heads, ...more);
}

function factsOf({ decision, reason, retrieval, timings_ms: timings, target, usage, ...answer }) {
  const [oldest, newest] = [retrieval.freshness.oldest, retrieval.freshness.newest].map(dateWords);
  const dated = oldest ? say("answer.fromTo", { from: oldest, to: newest }) : say("answer.undated");
  const why = [element("span", { lang: "en" }, reason.message), measured(reason.numbers)];
  const facts = [
    [say("answer.decision"), say(`answer.decision_${decision}`)],
    ...(decision === "ANSWER" ? [] : [[say("answer.reason"), element("span", {}, ...why)]]),
    [say("answer.supportShare"), retrieval.confidence.support.toFixed(2)],
    [say("answer.dated"), dated],
    [say("answer.time"), duration(timings.total)],
    [say("answer.target"), target],
  ];
  const parts = retrieval.sub_questions;
  if (parts.length > 0) facts.push([say("answer.alsoSearched"), parts.join(" · ")]);
  return [...facts, ...writingFacts(usage, decision), ...cacheFacts(answer)];
}

/** ` (likelihood 0.11, 0.22 needed)`, or null if nothing was too little. */
function measured(numbers) {
  const said = Object.entries(MEASURES)
    .filter(([name, needed]) => name in numbers && needed in numbers)
    .map(([name, needed]) => {
      const [value, least] = [name, needed].map((of) => numbers[of].toFixed(2));
      return say(`answer.measure_${name}`, { value, needed: least });
    });
  return said.length > 0 ? ` (${said.join("; ")})` : null;
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

/** Says what did not reach the language model. */
function leftOut({ context, standalone_note: note }) {
  const { turns_dropped: turns, passages_dropped: passages } = context;
  const found = note === null ? [] : [note];
  if (turns > 0) found.push(say("answer.turnsDropped", { count: turns }));
  if (passages > 0) found.push(say("answer.passagesDropped", { count: passages }));
  return found;
}

function notes(warnings) {
  if (warnings.length === 0) return null;
  const items = warnings.map((warning) => element("li", {}, told(warning)));
  const summary = say("answer.notes", { count: warnings.length });
  return disclosure(summary, { class: "notes" }, element("ul", {}, ...items));
}

/** A folded section, loaded when it is first opened. */
export function candidateColumns(answer, explanation, page) {
  const body = element("div", { class: "candidates" });
  const details = disclosure(say("answer.allCandidates"), { class: "all-candidates" }, body);
  details.addEventListener("toggle", () => load(body, answer, explanation, page), { once: true });
  return details;
}

async function load(body, answer, explanation, page) {
  body.replaceChildren(element("p", { class: "hint", role: "status" }, say("page.loading")));
  try {
    const found = await explanation.candidates();
    const kept = new Set(found.passages.map(({ passage_id: id }) => id));
    const cited = new Set(answer.citations.map(({ passage_id: id }) => id));
    const titles = new Map(found.passages.map(({ document_id: id, title }) => [id, title]));
    const columns = found.retrieval.corpora.map((corpus) => {
      const own = found.candidates.filter((candidate) => candidate.corpus === corpus);
      return column(corpus, own, { kept, cited, titles, page });
    });
    body.replaceChildren(
      element("p", { class: "hint" }, say("answer.candidatesHint", { count: found.retrieval.depth })),
      element("div", { class: "columns" }, ...columns),
    );
  } catch (error) {
    body.replaceChildren(element("p", { role: "alert" }, messageOf(error)));
  }
}

function column(corpus, candidates, known) {
  const id = `candidates-${corpus}-${crypto.getRandomValues(new Uint32Array(1))[0]}`;
  const items = candidates.map((candidate) => candidateItem(candidate, known));
  const kept = candidates.filter(({ passage_id: passage }) => known.kept.has(passage)).length;
  const counts = say("answer.candidatesOf", { count: candidates.length, kept });
  const title = element("h4", { id }, known.page.label(corpus));
  const list = element("ol", { tabindex: "0", "aria-labelledby": id }, ...items);
  return element("section", { "aria-labelledby": id }, title, element("p", { class: "hint" }, counts), list);
}

function candidateItem({ passage_id: passageId, rank, score, legs }, { kept, cited, titles, page }) {
  const state = cited.has(passageId) ? "cited" : kept.has(passageId) ? "kept" : null;
  const places = legsOf({ legs }).map((leg) =>
    say(`answer.short_${leg}`, { rank: legs[leg]?.rank ?? "–" }),
  );
  return element(
    "li",
    { value: rank, ...(state && { class: state }) },
    element("span", { class: "rank" }, String(rank)),
    linkButton(titleOf(passageId, titles), () => page.open({ passageId })),
    state && element("strong", { class: "state" }, say(`answer.${state}`)),
    element("span", { class: "place" }, [score.toFixed(3), ...places].join(" · ")),
  );
}

/** Gives `weights()` and `candidates()` of one answer, each loaded once. */
export function explain(answer) {
  let found = null;
  return {
    weights: () => weightsOf(answer.target, answer.retrieval.legs),
    candidates() {
      found ??= search(answer);
      found.catch(() => (found = null)); // worth another try
      return found;
    },
  };
}

/** {weights, total}: none where another rule than their mean orders. */
async function weightsOf(name, legs) {
  targets ??= getJson("api/targets");
  targets.catch(() => (targets = null));
  const target = (await targets).targets.find((each) => each.name === name);
  const settings = target?.settings ?? {};
  const weights = FUSED.has(settings.RERANKER) ? weightsIn(settings, legs) : {};
  const total = Object.values(weights).reduce((sum, weight) => sum + weight, 0);
  return { weights, total };
}

function weightsIn(settings, legs) {
  const isWeight = (key) => key.startsWith("WEIGHT_") && (key !== "WEIGHT_SPARSE" || legs.includes("sparse"));
  const named = Object.entries(settings).filter(([key]) => isWeight(key));
  return Object.fromEntries(named.map(([key, weight]) => [key.slice("WEIGHT_".length).toLowerCase(), weight]));
}

/** Searches again, with every candidate; it is not traced a second time. */
function search({ question, standalone_question: searched, target, scope, retrieval }) {
  const everything = scope.corpora.length === scope.all_corpora;
  return sendJson("POST", "api/search", {
    question: searched ?? question,
    corpus_filter: everything ? "all" : scope.corpora.map(({ id }) => id),
    filters: scope.filters,
    require: retrieval.required,
    exclude: retrieval.excluded,
    target,
    explain: true,
    telemetry: false,
  });
}

/** A folded note; what the server must be asked for is loaded when it is first opened. */
export function whyHere(passage) {
  const body = element("div", { class: "why" }, signalTable(passage, null));
  const details = disclosure(say("answer.whyHere"), {}, body);
  details.explainBy = (explanation) => {
    details.addEventListener("toggle", () => fill(body, passage, explanation), { once: true });
  };
  return details;
}

/** Tells the notes in `list` where to ask, once the answer is known. */
export function explainPassages(list, explanation) {
  for (const details of list.querySelectorAll("details")) details.explainBy?.(explanation);
}

async function fill(body, passage, explanation) {
  try {
    const [weights, found] = await Promise.all([explanation.weights(), explanation.candidates()]);
    const candidate = found.candidates.find(({ passage_id: id }) => id === passage.passage_id);
    body.replaceChildren(
      signalTable(passage, weights),
      definitions([...scores(passage), ...places(candidate)]),
    );
  } catch (error) {
    body.append(element("p", { role: "alert" }, messageOf(error)));
  }
}

function scores({ score, signals }) {
  const { relevance: second } = signals; // of the passages that a model read again alone
  if (second === undefined) return [[say("answer.scoreIs"), score.toFixed(3)]];
  return [
    [say("answer.firstScore"), score.toFixed(3)],
    [say("answer.secondScore"), second.toFixed(3)],
  ];
}

/** Where each leg had it among the candidates of its corpus. */
function places(candidate) {
  if (candidate === undefined) return [[say("answer.legs"), say("answer.noCandidate")]];
  const legs = legsOf(candidate).map((leg) => [say(`answer.leg_${leg}`), legPlace(candidate.legs[leg])]);
  return [...legs, [say("answer.rankOfAll"), String(candidate.rank)]];
}

/** `3rd of its corpus, 0.512` in words, or that the leg did not find it. */
function legPlace(leg) {
  if (leg === undefined) return say("answer.notByLeg");
  return say("answer.legPlace", { rank: leg.rank, score: leg.score.toFixed(3) });
}

/** Signals, by what they add to the score where that is known, else by size. */
function signalTable(passage, weights) {
  const total = weights?.total ?? 0;
  const weighted = total > 0;
  const rows = Object.entries(passage.signals).map(([name, value]) => {
    const weight = weights?.weights[name] ?? 0;
    return { name, value, weight, share: weighted ? (value * weight) / total : value };
  });
  rows.sort((a, b) => b.share - a.share || b.value - a.value || (a.name < b.name ? -1 : 1));
  const share = Math.round(passage.overlap * 100);
  const heads = ["signal", "value", ...(weighted ? ["weight", "adds"] : [])];
  return element(
    "table",
    { class: "signals" },
    element("caption", {}, say("answer.signalsCaption", { share })),
    element("thead", {}, headRow(heads, element("td", {}))),
    element("tbody", {}, ...rows.map((row) => signalRow(row, weighted, rows[0].share || 1))),
  );
}

function signalRow({ name, value, weight, share }, weighted, most) {
  const bar = element("span", { class: "bar", "aria-hidden": "true" });
  // set as a property: the page's policy forbids style attributes
  bar.style.inlineSize = `${weighted ? (share / most) * 100 : value * 100}%`;
  const counts = weight > 0 ? [weight.toFixed(2), share.toFixed(3)] : ["–", "–"];
  const key = `answer.signal_${name}`;
  const figures = [value.toFixed(3), ...(weighted ? counts : [])];
  return row(hasString(key) ? say(key) : name, [...figures, element("td", { class: "track" }, bar)]);
}
