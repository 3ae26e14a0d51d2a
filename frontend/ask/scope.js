/** The scope, which is the same for questions, words and counts, and the form around it. */

import { at } from "../dom.js";

const EVERYTHING = { corpus_filter: "all", filters: {}, require: [], exclude: [] };
const listeners = new Set();

let scope = EVERYTHING;

const form = at("ask-form");
const DEFAULTS = { question: "", target: null, k: null, mode: "answer" };

/** The fields of a request: `corpus_filter`, and what else narrows it, if anything does.
 *
 * They are `filters` by field, as the API takes them, and lists of phrases `require` and `exclude`.
 */
export function chosenScope() {
  const narrowing = Object.entries(scope).filter(
    ([name, value]) => name === "corpus_filter" || Object.keys(value).length > 0,
  );
  return Object.fromEntries(narrowing);
}

/** Looks through this from now on, a request's fields; those left out narrow nothing. */
export function setScope(fields) {
  const known = Object.keys(EVERYTHING).filter((name) => fields[name] != null);
  const chosen = Object.fromEntries(known.map((name) => [name, fields[name]]));
  scope = { ...EVERYTHING, ...chosen };
  if (Array.isArray(scope.corpus_filter) && scope.corpus_filter.length === 1) {
    [scope.corpus_filter] = scope.corpus_filter;
  }
  const now = chosenScope();
  for (const listener of listeners) listener(now);
}

/** Changes some fields and keeps the others. */
export function changeScope(fields) {
  setScope({ ...scope, ...fields });
}

/** Has one filter hold this value, or none if it is null. */
export function setFilter(field, value) {
  const { [field]: _, ...others } = scope.filters;
  changeScope({ filters: value === null ? others : { ...others, [field]: value } });
}

/** Calls `listener` with the scope after every change; gives what ends this. */
export function onScopeChange(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** {question, target, k, mode} as a request has them, and the scope; null is the target's or the
 * server's own. */
export function formState() {
  const { question, target, k, mode } = form.elements;
  return {
    question: question.value.trim(),
    target: target.value || null,
    k: k.value === "" ? null : k.valueAsNumber,
    mode: mode.checked && !mode.disabled ? "compare" : "answer",
    ...chosenScope(),
  };
}

/** Puts such a state into the form; what it leaves out is as at first. Wait for `page.loaded`. */
export function restoreForm(state) {
  const { question, target, k, mode, ...scope } = { ...DEFAULTS, ...state };
  const { elements } = form;
  elements.question.value = question;
  const offered = [...elements.target.options].some((option) => option.value === target);
  elements.target.value = offered ? target : elements.target.dataset.default;
  elements.target.dispatchEvent(new Event("change"));
  elements.k.value = k ?? "";
  setScope(scope);
  elements.mode.checked = mode === "compare";
}
