/** What narrows the search, each with a button that lets go of it. */

import { element } from "../dom.js";
import { say } from "../language.js";
import { fieldName, isRange, rangeName, valueName, valuesOf } from "./fields.js";
import { changeScope, setFilter } from "./scope.js";

const MOST_OF_A_FIELD = 12; // values with a chip each; more have one together

/** The list, hidden while nothing narrows; `show` takes a scope. */
export function chipList() {
  const list = element("ul", { class: "chips", "aria-label": say("ask.narrowedBy"), hidden: "" });

  function show(scope) {
    const chips = [...filterChips(scope.filters ?? {}), ...phraseChips(scope)];
    if (chips.length > 1) chips.push(everything());
    const at = [...list.children].findIndex((item) => item.contains(document.activeElement));
    list.replaceChildren(...chips.map((chip) => element("li", {}, chip)));
    list.hidden = chips.length === 0;
    if (at >= 0) focusAt(Math.min(at, chips.length - 1));
  }

  function focusAt(index) {
    const beside = list.children[index]?.firstChild;
    (beside ?? list.parentElement.querySelector("summary")).focus();
  }

  return { node: list, show };
}

function filterChips(filters) {
  return Object.entries(filters).flatMap(([field, filter]) => {
    const named = (value) => say("ask.chip", { field: fieldName(field), value });
    if (isRange(filter)) return [chip(named(rangeName(filter)), () => setFilter(field, null))];
    const values = valuesOf(filter);
    if (values.length > MOST_OF_A_FIELD) {
      const count = say("ask.chipValues", { count: values.length });
      return [chip(named(count), () => setFilter(field, null))];
    }
    return values.map((value) => {
      const others = values.filter((other) => other !== value);
      const without = () => setFilter(field, others.length > 0 ? others : null);
      return chip(named(valueName(field, value)), without);
    });
  });
}

function phraseChips({ require = [], exclude = [] }) {
  const of = (name, phrases, key) =>
    phrases.map((phrase) => {
      const others = phrases.filter((other) => other !== phrase);
      return chip(say(key, { phrase }), () => changeScope({ [name]: others }));
    });
  return [...of("require", require, "ask.mustHold"), ...of("exclude", exclude, "ask.mayNotHold")];
}

function chip(label, onclick) {
  return element(
    "button",
    { type: "button", "aria-label": say("ask.letGo", { label }), onclick },
    element("span", {}, label),
    element("span", { "aria-hidden": "true" }, "×"),
  );
}

function everything() {
  const clear = () => changeScope({ filters: {}, require: [], exclude: [] });
  return element(
    "button",
    { type: "button", class: "link", onclick: clear },
    say("ask.clearFilters"),
  );
}
