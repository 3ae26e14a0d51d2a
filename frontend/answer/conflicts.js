/** Contradictions between the sources, and what took the place of what: both places, and whether
 * the answer cites them. */

import { element } from "../dom.js";
import { say } from "../language.js";
import { placeOf } from "./sentences.js";
import { heading } from "../text.js";

/** The list of contradictions, or null; folded if they concern nothing that the answer cites. */
export function conflictList(answer, page) {
  return listOf("answer.disagree", ({ kind }) => kind !== "repealed", answer, page);
}

/** The list of sources that another has taken the place of, or null. */
export function supersededList(answer, page) {
  return listOf("answer.superseded", ({ kind }) => kind === "repealed", answer, page);
}

function listOf(title, listed, { conflicts: all, citations, decision }, page) {
  const conflicts = all.filter(listed);
  if (conflicts.length === 0) return null;
  const cited = new Set(citations.map((citation) => citation.document_id));
  const concerned = decision !== "ANSWER" || conflicts.some((conflict) => touches(conflict, cited));
  return element(
    "details",
    { class: "conflicts", ...(concerned ? { open: "" } : {}) },
    element("summary", {}, say(title)),
    element("ul", {}, ...conflicts.map((conflict) => conflictItem(conflict, cited, page))),
  );
}

function touches({ first, second }, cited) {
  return [first, second].some((side) => cited.has(side.document_id));
}

function conflictItem(conflict, cited, page) {
  return element(
    "li",
    {},
    element("p", {}, element("strong", {}, heading(conflict.detail))),
    element("div", { class: "sides" }, sideNode(conflict.first, page), sideNode(conflict.second, page)),
    statement(conflict, cited),
  );
}

/** Whether the answer cites both sides; null if it cites neither. */
function statement(conflict, cited) {
  if (!touches(conflict, cited)) return null;
  const which = conflict.stated ? "answer.citesBoth" : "answer.citesOne";
  return element("p", { class: "hint" }, say(which));
}

function sideNode(side, page) {
  const open = { type: "button", class: "link", onclick: () => page.open(placeOf(side)) };
  const place = [page.label(side.corpus), side.date, side.locator].filter(Boolean).join(" · ");
  return element(
    "div",
    {},
    element("blockquote", {}, side.quote),
    element("button", open, side.title),
    element("span", { class: "place" }, ` ${place}`),
  );
}
