/** What a judge said of an answer: who judged, and which sentences were struck, and why. */

import { element } from "../dom.js";
import { counted } from "../text.js";

const JUDGES = { model: "the language model", nli: "an entailment model" };

/** Who judged what is left, or null if nothing but the citations was checked. */
export function judgeNote({ decision, sentences, validation: { verified_by: by } }) {
  if (decision !== "ANSWER" || !(by in JUDGES)) return null;
  const all = sentences.every(({ support }) => support !== "not_judged");
  const which = all ? "Each cited sentence was" : "Some cited sentences were";
  const note = `${which} checked against the cited passages by ${JUDGES[by]}.`;
  return element("p", { class: "hint judge" }, note);
}

/** The sentences that were taken out, or null. */
export function struckList({ validation: { struck } }) {
  if (struck.length === 0) return null;
  const lead = `Struck: ${counted(struck.length, "sentence")} that the sources do not support`;
  return element(
    "details",
    { class: "notes struck", open: "" },
    element("summary", {}, lead),
    element("ul", {}, ...struck.map(struckItem)),
  );
}

function struckItem({ sentence, verdict, reason }) {
  const why = `${verdict.replaceAll("_", " ")}: ${reason}`;
  return element("li", {}, element("del", {}, sentence), element("p", { class: "hint" }, why));
}
