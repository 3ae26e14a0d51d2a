/** How words are counted: the controls below the search box, each with the tabs it is for. */

import { fieldName } from "../ask/fields.js";
import { element } from "../dom.js";
import { say } from "../language.js";

const EXAMPLES = [
  ["strike", "helpWord"],
  ['"general strike"', "helpPhrase"],
  ["strike*  *ship  wom?n", "helpLetters"],
  ['"the * of"', "helpAny"],
  ["strike* NEAR/5 wage*", "helpNear"],
  ["strike* NEAR/0,5 wage*", "helpAfter"],
  ['strike OR "lock out"', "helpEither"],
  ["(strike* OR lockout*) NEAR/5 pay", "helpBrackets"],
];
const EVERY = ["lines", "time", "fields", "near", "apart"];

/** Fills `place` with the controls; `changed` is called with {name: value} of one that changed. */
export function newOptions(place, catalogue, changed) {
  const against = [
    ["all", say("words.everythingElse")],
    ...catalogue.corpora.map(({ id, label }) => [id, label]),
  ];
  const fields = Object.keys(catalogue.filter_fields).map((name) => [name, fieldName(name)]);
  const controls = [
    select("form", EVERY, said("surface", "stem")),
    check("case", EVERY),
    number("context", ["lines"], 1, 50),
    number("sample", ["lines"], 0, 10_000, say("words.sampleHint")),
    select("unit", ["time"], said("year", "decade")),
    select("per", ["time"], [["hits", say("words.perHits")], ["million", say("words.perMillion")]]),
    check("byCorpus", ["time"]),
    select("field", ["fields"], [["corpus", say("words.corpus")], ...fields]),
    number("left", ["near"], 0, 10),
    number("right", ["near"], 0, 10),
    number("least", ["near"], 1, 1_000_000),
    select("against", ["apart"], against),
    select("direction", ["apart"], said("more", "less", "both")),
    number("frequent", ["apart"], 1, 1_000_000),
    number("documents", ["apart"], 1, 1_000_000),
    check("function", ["near", "apart"]),
  ];
  const box = element("details", { class: "words-options" });
  box.open = matchMedia("(min-width: 60rem)").matches;
  const nodes = controls.map(({ node }) => node);
  box.append(element("summary", {}, say("words.options")), element("div", {}, ...nodes));
  place.replaceChildren(box, help());

  for (const { name, control, value } of controls) {
    control.addEventListener("change", () => {
      if (control.reportValidity()) changed({ [name]: value() });
    });
  }

  function show(state) {
    for (const { name, node, tabs, set } of controls) {
      node.hidden = !tabs.includes(state.tab);
      set(state[name]);
    }
    const exactly = controls.find(({ name }) => name === "case").control;
    exactly.disabled = state.form === "stem";
  }

  return { show };
}

/** The query language by examples; `EXAMPLES` are in it as they are typed. */
function help() {
  const rows = EXAMPLES.map(([typed, name]) => {
    const code = element("code", {}, typed);
    return element("div", {}, element("dt", {}, code), element("dd", {}, say(`words.${name}`)));
  });
  const summary = element("summary", {}, say("words.help"));
  return element("details", { class: "words-help" }, summary, element("dl", {}, ...rows));
}

function said(...names) {
  return names.map((name) => [name, say(`words.${name}`)]);
}

function select(name, tabs, choices) {
  const options = choices.map(([value, text]) => element("option", { value }, text));
  const control = element("select", { id: `words-${name}` }, ...options);
  const label = element("label", { for: control.id }, say(optionKey(name)));
  const node = element("div", {}, label, control);
  return { name, tabs, control, node, value: () => control.value, set: (to) => (control.value = to) };
}

function check(name, tabs) {
  const control = element("input", { id: `words-${name}`, type: "checkbox" });
  const node = element("label", { class: "choice" }, control, element("span", {}, say(optionKey(name))));
  const set = (to) => (control.checked = to);
  return { name, tabs, control, node, value: () => control.checked, set };
}

/** A number; one of at least 0 may be left empty, which is 0. */
function number(name, tabs, min, max, hint = "") {
  const given = { id: `words-${name}`, type: "number", min, max, inputmode: "numeric" };
  const control = element("input", given);
  control.required = min > 0;
  const label = element("label", { for: control.id }, say(optionKey(name)));
  const below = hint ? element("p", { class: "hint", id: `${control.id}-hint` }, hint) : null;
  if (below) control.setAttribute("aria-describedby", below.id);
  const node = element("div", { class: "number" }, label, control, below);
  const empty = name === "sample" ? "" : 0;
  const set = (to) => (control.value = to || empty);
  return { name, tabs, control, node, value: () => control.valueAsNumber || 0, set };
}

function optionKey(name) {
  return `words.${name}`;
}
