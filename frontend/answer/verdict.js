/** The verdict on an answer: why there is none, how sure it is, who judged it, what is doubtful. */

import { element } from "../dom.js";
import { language, say } from "../language.js";

const FEW = 3; // warnings that are shown unfolded
const JUDGES = { model: "answer.byModel", nli: "answer.byEntailment" };
const VERDICTS = new Set(["unsupported", "contradicted", "not_judged"]);

/** Why there is no answer, under a heading. */
export function noAnswer(refused) {
  const title = refused.reason.code === "collection" ? "answer.collection" : "answer.noAnswer";
  const heading = element("h3", {}, say(title));
  return element("div", { class: "notice" }, heading, ...reasonNodes(refused));
}

/** The reason for a refusal and the numbers behind it. */
export function reasonNodes({ decision, reason: { code, message, numbers } }) {
  const measures = [decision, code, measured(numbers)].filter(Boolean).join(" · ");
  return [...reasonWords(code, message), element("p", { class: "code" }, measures)];
}

/** Why, in the page's language; the server's own sentence, which is English, where it says more. */
function reasonWords(code, message) {
  const own = element("p", { lang: "en" }, message);
  if (language === "en" || !REASONS.has(code)) return [own];
  own.className = "hint";
  const inWords = element("p", {}, say(`answer.reason_${code}`));
  return SAYS_ALL.has(code) ? [inWords] : [inWords, own];
}

const SAYS_ALL = new Set(["no_subject", "no_passages", "no_evidence", "no_answer", "no_corpus_answers"]);
const REASONS = new Set([
  ...SAYS_ALL,
  "weak_evidence",
  "repeats_question",
  "unknown_name",
  "stale_evidence",
  "not_held",
  "model_refused",
  "unsupported",
  "clarify",
  "unclear",
  "conflicting_sources",
  "invalid_citations",
]);

/** `evidence 0.21, needed 0.33` */
function measured(numbers) {
  return Object.entries(numbers)
    .map(([name, value]) => `${name.replaceAll("_", " ")} ${rounded(value)}`)
    .join(", ");
}

function rounded(value) {
  return Number.isInteger(value) ? String(value) : value.toFixed(2);
}

/** Who should have written, and why the sources' own sentences stand there instead, or null. */
export function fallbackNotice({ decision, fallback, target, usage }, page) {
  if (fallback === null) return null;
  // of a comparison a model may have written some answers before it failed
  const how = usage.provider === "extractive" ? "answer.insteadOf" : "answer.inPartInsteadOf";
  const lead = say(decision === "ANSWER" ? how : "answer.neither", { model: page.writer(target) });
  return element("p", { class: "notice" }, element("strong", {}, lead), ` ${fallback.message}`);
}

/** Says above quotes what they leave open, or null: read alone they would seem to say all. */
export function warningNotice(answer) {
  const { warnings } = answer.validation;
  if (!hasQuotes(answer) || warnings.length === 0) return null;
  const lines = warnings.map((warning) => element("p", {}, warning));
  return element("div", { class: "notice open-points" }, ...lines);
}

/** Lists what the verification of a model's text doubts without rejecting it, or null. */
export function warningList(answer) {
  const { warnings } = answer.validation;
  if (hasQuotes(answer) || warnings.length === 0) return null;
  return element(
    "details",
    { class: "notes", ...(warnings.length <= FEW ? { open: "" } : {}) },
    element("summary", {}, say("answer.warnings", { count: warnings.length })),
    element("ul", {}, ...warnings.map((warning) => element("li", {}, warning))),
  );
}

/** Tells if the sources' own sentences answer, in a comparison for one corpus at least. */
function hasQuotes({ confidence, comparison }) {
  const parts = comparison?.answers ?? [];
  return confidence !== null || parts.some((part) => part.confidence !== null);
}

/** The word, which unfolds its meaning; null for a model's text and where nothing answers. */
export function confidenceNote({ confidence }) {
  if (confidence === null) return null;
  return element(
    "details",
    { class: "confidence" },
    element("summary", {}, say(`answer.${confidence.word}`)),
    element("p", { class: "hint" }, say(`answer.${confidence.word}Means`)),
  );
}

/** Who judged what is left, or null if nothing but the citations was checked. */
export function judgeNote({ decision, sentences, validation: { verified_by: by } }) {
  if (decision !== "ANSWER" || !(by in JUDGES)) return null;
  const all = sentences.every(({ support }) => support !== "not_judged");
  const note = say(all ? "answer.allChecked" : "answer.someChecked", { by: say(JUDGES[by]) });
  return element("p", { class: "hint judge" }, note);
}

/** The sentences that were taken out, or null. */
export function struckList({ validation: { struck } }) {
  if (struck.length === 0) return null;
  const lead = say("answer.struck", { count: struck.length });
  return element(
    "details",
    { class: "notes struck", open: "" },
    element("summary", {}, lead),
    element("ul", {}, ...struck.map(struckItem)),
  );
}

function struckItem({ sentence, verdict, reason }) {
  const word = VERDICTS.has(verdict) ? say(`answer.verdict_${verdict}`) : verdict;
  const why = `${word}: ${reason}`;
  return element("li", {}, element("del", {}, sentence), element("p", { class: "hint" }, why));
}
