/** What the text of an answer does not say itself: why there is none, who wrote, what is doubtful. */

import { element } from "./dom.js";
import { placeOf } from "./sentences.js";
import { counted, heading } from "./text.js";

const FEW = 3; // warnings that are shown unfolded

/** Why there is no answer, with the numbers behind it. */
export function noAnswer({ decision, reason: { code, message, numbers } }) {
  return element(
    "div",
    { class: "notice" },
    element("h3", {}, "No answer"),
    element("p", {}, message),
    element("p", { class: "code" }, [decision, code, measured(numbers)].filter(Boolean).join(" · ")),
  );
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

/** What a follow-up was read as, or null. */
export function understoodAs({ standalone_question: question }) {
  if (question === null) return null;
  return element("p", { class: "hint" }, `Understood as: ${question}`);
}

/** Who should have written, and why the sources' own sentences stand there instead, or null. */
export function fallbackNotice({ fallback, target }, page) {
  if (fallback === null) return null;
  const lead = `In the sources’ own sentences, in place of an answer by ${page.writer(target)}.`;
  return element("p", { class: "notice" }, element("strong", {}, lead), ` ${fallback.message}`);
}

/** What the verification doubts without rejecting it, or null. */
export function warningList({ validation: { warnings } }) {
  if (warnings.length === 0) return null;
  return element(
    "details",
    { class: "notes", ...(warnings.length <= FEW ? { open: "" } : {}) },
    element("summary", {}, counted(warnings.length, "warning")),
    element("ul", {}, ...warnings.map((warning) => element("li", {}, warning))),
  );
}

/** The contradictions between the sources, or null. */
export function conflictList({ conflicts, decision }, page) {
  if (conflicts.length === 0) return null;
  const items = conflicts.map((conflict) => conflictItem(conflict, decision, page));
  return element(
    "section",
    { class: "conflicts" },
    element("h3", {}, "The sources disagree"),
    element("ul", {}, ...items),
  );
}

function conflictItem({ detail, stated, first, second }, decision, page) {
  const both = stated ? "The answer states both." : "The answer states one side only.";
  return element(
    "li",
    {},
    element("p", {}, element("strong", {}, heading(detail))),
    side(first, page),
    side(second, page),
    decision === "ANSWER" ? element("p", { class: "hint" }, both) : null,
  );
}

function side(said, page) {
  const open = { type: "button", class: "link", onclick: () => page.open(placeOf(said)) };
  const place = [page.label(said.corpus), said.date].filter(Boolean).join(" · ");
  return element(
    "div",
    {},
    element("blockquote", {}, said.quote),
    element("button", open, said.title),
    element("span", { class: "place" }, ` ${place}`),
  );
}
