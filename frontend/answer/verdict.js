/** What an answer does not say itself: why there is none, who wrote, what is doubtful. */

import { element } from "../dom.js";
import { counted } from "../text.js";

const FEW = 3; // warnings that are shown unfolded

/** Why there is no answer, under a heading. */
export function noAnswer(refused) {
  const heading = element("h3", {}, "No answer");
  return element("div", { class: "notice" }, heading, ...reasonNodes(refused));
}

/** The reason for a refusal and the numbers behind it. */
export function reasonNodes({ decision, reason: { code, message, numbers } }) {
  const measures = [decision, code, measured(numbers)].filter(Boolean).join(" · ");
  return [element("p", {}, message), element("p", { class: "code" }, measures)];
}

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
  const how = usage.provider === "extractive" ? "In" : "In part in";
  const model = page.writer(target);
  const lead =
    decision === "ANSWER"
      ? `${how} the sources’ own sentences, in place of an answer by ${model}.`
      : `Neither ${model} nor the sources’ own sentences answer.`;
  return element("p", { class: "notice" }, element("strong", {}, lead), ` ${fallback.message}`);
}

/** What quotes leave open, for above them, or null: read alone they would seem to say all. */
export function warningNotice(answer) {
  const { warnings } = answer.validation;
  if (!hasQuotes(answer) || warnings.length === 0) return null;
  const lines = warnings.map((warning) => element("p", {}, warning));
  return element("div", { class: "notice open-points" }, ...lines);
}

/** What the verification of a model's text doubts without rejecting it, or null. */
export function warningList(answer) {
  const { warnings } = answer.validation;
  if (hasQuotes(answer) || warnings.length === 0) return null;
  return element(
    "details",
    { class: "notes", ...(warnings.length <= FEW ? { open: "" } : {}) },
    element("summary", {}, counted(warnings.length, "warning")),
    element("ul", {}, ...warnings.map((warning) => element("li", {}, warning))),
  );
}

/** Whether the sources' own sentences answer, in a comparison for one corpus at least. */
function hasQuotes({ confidence, comparison }) {
  const parts = comparison?.answers ?? [];
  return confidence !== null || parts.some((part) => part.confidence !== null);
}
