/** Small parts that several ways to look at words share. */

import { Problem } from "../api.js";
import { choice, element, labelled } from "../dom.js";
import { language, say } from "../language.js";

const figures = new Intl.NumberFormat(language, { maximumFractionDigits: 2 });
const rates = new Intl.NumberFormat(language, { maximumFractionDigits: 1 });

/** A figure that is no count. */
export function figure(value) {
  return figures.format(value);
}

/** Hits per million words. */
export function rateOf(value) {
  return rates.format(value);
}

/** A button that does what may take a while, or fail: then it says why. */
export function actionButton(text, act) {
  const alert = element("p", { role: "alert", hidden: "" });
  const button = element("button", { type: "button" }, text);
  button.addEventListener("click", async () => {
    if (button.hasAttribute("aria-disabled")) return;
    button.setAttribute("aria-disabled", "true"); // `disabled` would drop the focus
    alert.hidden = true;
    try {
      await act();
    } catch (error) {
      if (error.name === "AbortError") return; // something else is looked at by now
      if (!(error instanceof Problem)) throw error;
      alert.hidden = false;
      alert.textContent = error.message;
    } finally {
      button.removeAttribute("aria-disabled");
    }
  });
  return element("div", { class: "action" }, button, alert);
}

/** A choice above the results, of the state's `name`; `choices` are pairs of a value and a text. */
export function chooser(name, choices, chosen, go) {
  const select = choice({ id: `words-choose-${name}` }, choices);
  select.value = chosen;
  select.addEventListener("change", () => go({ [name]: select.value }));
  return labelled(say(`words.${name}`), select);
}
