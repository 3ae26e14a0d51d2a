/** What stands in the form, as something that can be kept, sent and put back. */

import { chosenScope, setScope } from "./scope.js";

const form = document.getElementById("ask-form");
const DEFAULTS = { question: "", target: null, k: null, mode: "answer" };

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
