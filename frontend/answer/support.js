/** What a judge said of an answer: who judged, and which sentences were struck, and why. */

import { element } from "../dom.js";
import { say } from "../language.js";

const JUDGES = { model: "answer.byModel", nli: "answer.byEntailment" };
const VERDICTS = new Set(["unsupported", "contradicted", "not_judged"]);

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
