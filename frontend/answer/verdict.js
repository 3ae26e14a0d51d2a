/** The verdict on an answer: what stands in its place, how sure it is, who checked it, what is
 * doubtful. */

import { disclosure, element } from "../dom.js";
import { hasString, say, told } from "../language.js";
import { unknownWords } from "./question.js";
import { openSource } from "./sentences.js";

const JUDGES = { model: "answer.byModel", nli: "answer.byEntailment" };
// as the server words them; of the second the head says more
const OF_SENTENCE = /^Sentence (\d+) ([^]+)$/;
const CITATIONS_ONLY = /\(VERIFY\)\.$/;

/** What stands in the place of an answer: the reason, what comes closest, and what that lacks. */
export function noAnswer({ reason, closest = [], scope = null }, page) {
  const { code, message, missing = [] } = reason;
  const why = hasString(`answer.reason_${code}`)
    ? element("span", {}, say(`answer.reason_${code}`))
    : element("span", { lang: "en" }, message);
  const nearest = closest.slice(0, 1).flatMap((citation) => {
    const quote = citation.quote.replaceAll(/\s+/g, " ");
    return [` ${say("answer.nearest", { quote })} `, openSource(citation, page)];
  });
  const lines = [element("p", {}, why, ...nearest)];
  const lacks =
    missing.length > 0
      ? element("span", {}, ...missing.flatMap((sentence) => [told(sentence), " "]))
      : scope && unknownWords(scope);
  const mark = closest.length > 0 ? element("strong", {}, say("answer.notVerified")) : null;
  if (mark || lacks) lines.push(element("p", { class: "hint unverified" }, mark, mark && " ", lacks));
  return lines;
}

/** Who should have written, and why the sources' own sentences stand there instead, or null. */
export function fallbackNotice({ decision, fallback, target, usage }, page) {
  if (fallback === null) return null;
  // of a comparison a model may have written some answers before it failed
  const how = usage.provider === "extractive" ? "answer.insteadOf" : "answer.inPartInsteadOf";
  const lead = say(decision === "ANSWER" ? how : "answer.neither", { model: page.writer(target) });
  return element("p", { class: "notice" }, element("strong", {}, lead), ` ${fallback.message}`);
}

/** Says above the text what it leaves open as a whole, or null; `corpus` is that of a column. */
export function warningNotice({ validation, comparison, decision }, corpus) {
  if (decision !== "ANSWER") return null;
  const corpora = comparison?.answers.map((part) => `${part.corpus}: `) ?? [];
  const lines = validation.warnings
    .filter((warning) => !OF_SENTENCE.test(warning) && !CITATIONS_ONLY.test(warning))
    .map((warning) => [corpora.find((prefix) => warning.startsWith(prefix)) ?? "", warning])
    .filter(([prefix]) => prefix === (corpus ? `${corpus}: ` : ""))
    .map(([prefix, warning]) => element("p", {}, told(warning.slice(prefix.length))));
  return lines.length > 0 ? element("div", { class: "notice open-points" }, ...lines) : null;
}

/** What is doubtful about single sentences, by their texts. */
export function sentenceWarnings({ sentences, validation }) {
  const found = new Map();
  for (const warning of validation.warnings) {
    const [, number, what] = OF_SENTENCE.exec(warning) ?? [];
    const text = sentences[number - 1]?.text;
    found.set(text, [...(found.get(text) ?? []), what]);
  }
  return found;
}

/** The word, which unfolds its meaning; null for a model's text and where nothing answers. */
export function confidenceNote({ confidence }) {
  if (confidence === null) return null;
  const meaning = element("p", { class: "hint" }, say(`answer.${confidence.word}Means`));
  return disclosure(say(`answer.${confidence.word}`), { class: "confidence" }, meaning);
}

/** Says of a model's text what was checked, or null: quotes need no judge. */
export function judgeNote({ decision, sentences, usage, validation: { verified_by: by } }) {
  if (decision !== "ANSWER" || by === null || usage.provider === "extractive") return null;
  const all = sentences.every(({ support }) => support !== "not_judged");
  const note =
    by in JUDGES
      ? say(all ? "answer.allChecked" : "answer.someChecked", { by: say(JUDGES[by]) })
      : say("answer.citationsChecked");
  return element("p", { class: "hint judge" }, note);
}

/** The sentences that were taken out, or null. */
export function struckList({ validation: { struck } }) {
  if (struck.length === 0) return null;
  const lead = say("answer.struck", { count: struck.length });
  const list = element("ul", {}, ...struck.map(struckItem));
  return disclosure(lead, { class: "notes struck", open: "" }, list);
}

function struckItem({ sentence, verdict, reason }) {
  const key = `answer.verdict_${verdict}`;
  const word = hasString(key) ? say(key) : verdict;
  const why = `${word}: ${reason}`;
  return element("li", {}, element("del", {}, sentence), element("p", { class: "hint" }, why));
}
