/** Small parts that several ways to look at words share. */

import { element } from "../dom.js";
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

/** A choice above the results, of the state's `name`. */
export function chooser(name, values, state, go) {
  const options = values.map((value) =>
    element("option", { value }, say(`words.${name}_${value}`)),
  );
  const select = element("select", { id: `words-choose-${name}` }, ...options);
  select.value = state[name];
  select.addEventListener("change", () => go({ [name]: select.value }));
  const label = element("label", { for: select.id }, say(`words.${name}`));
  return element("div", { class: "chooser" }, label, select);
}

/** What figures mean, folded. */
export function explained(names) {
  const rows = names.map((name) => element("p", {}, say(`words.${name}`)));
  const summary = element("summary", {}, say("words.figures"));
  return element("details", { class: "figures" }, summary, ...rows);
}
