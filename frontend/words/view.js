/** The view of words: the words of the search box are counted, and looked at in one of several ways.
 *
 * The address of the page has the state, so that a copied link shows the same.
 */

import { getJson, messageOf } from "../api.js";
import { fieldName } from "../ask/fields.js";
import { chosenScope, onScopeChange, setScope } from "../ask/scope.js";
import { at, choice, disclosure, element, styled, withLabel } from "../dom.js";
import { say } from "../language.js";
import { unitSpans } from "../text.js";
import { newCounting, queriesOf } from "./counting.js";
import { distribution, trends } from "./counts.js";
import { lines } from "./lines.js";
import { collocates, frequencies, keywords } from "./word_lists.js";

const TABS = {
  lines,
  time: trends,
  fields: distribution,
  near: collocates,
  apart: keywords,
  list: frequencies,
};
const WITHOUT_QUERY = ["apart", "list"];
const NOTHING = { corpora: [], filter_fields: {} };
const WIDE = "(min-width: 60rem)"; // as in words.css
const SETTLED = 250; // ms after the last of several changes of the scope

const form = at("ask-form");
const question = at("question");
const rowsOfOthers = question.rows;
const DEFAULTS = {
  tab: "lines",
  form: "surface",
  case: false,
  sort: "document",
  context: 15,
  sample: 0,
  seed: 0,
  unit: "auto",
  byCorpus: false,
  per: "million",
  field: "corpus",
  left: 5,
  right: 5,
  least: 2,
  function: false,
  focus: "",
  against: "all",
  direction: "more",
  frequent: 5,
  documents: 1,
  pattern: "",
  minimum: 1,
};
const EVERYTHING = JSON.stringify({ corpus_filter: "all" });

/** The names in an address that are of this view alone. */
const OWN = ["q", "point", "scope", ...Object.keys(DEFAULTS)];
const problemPlace = at("words-problem");
const EXAMPLES = [
  ["strike", "helpWord"],
  ['"general strike"', "helpPhrase"],
  ["strike*  *ship  wom?n", "helpLetters"],
  ['"the * of"', "helpAny"],
  ["strike* NEAR/5 wage*", "helpNear"],
  ["strike* NEAR/0,5 wage*", "helpAfter"],
  ['strike OR "lock out"', "helpEither"],
  ["(strike* OR lockout*) NEAR/5 pay", "helpBrackets"],
  ["strike, lockout", "helpSeveral"],
];
const EVERY = Object.keys(TABS);

/** The view, {submit(query), shown(), left()}; `page` is that of app.js.
 *
 * `look` shows it with some of its state changed, such as {query, tab}.
 */
export async function openWords(page) {
  const sheets = ["words/words.css", "charts/charts.css"].map(styled);
  // what is amiss is said beside the box already, or with the first count
  const ready = page.loaded.catch(messageOf);
  const corpora = getJson("api/corpora").catch((error) => void messageOf(error));
  const [catalogue = NOTHING] = await Promise.all([corpora, ready, ...sheets]);
  let state = stateOf(new URLSearchParams());
  let active = false;
  let typed = null; // what stood in the box for another view
  let timer = 0;
  let looked = ""; // what the panel shows

  const tabs = newTabs(Object.keys(TABS), (tab) => go({ tab }));
  const about = element("p", { class: "hint" });
  const said = element("p", { class: "words-said", role: "status" });
  const options = newOptions(catalogue, (changes) => go(changes));
  const head = element("div", { class: "words-about" }, about, help());
  at("words").replaceChildren(tabs.list, head, options.node, said, tabs.panel);
  const counting = newCounting();
  const tools = { page, catalogue, go, count: counting.count, label: page.label };

  /** Looks at the words with some of the state changed, as a new entry of the history. */
  function go(changes) {
    state = { ...state, ...changes };
    if (changes.query !== undefined) question.value = state.query;
    show();
    remember();
    return run();
  }

  function show() {
    tabs.show(state.tab);
    about.textContent = say(`words.${state.tab}About`);
    options.show(state);
    question.required = !WITHOUT_QUERY.includes(state.tab);
    question.rows = 2;
  }

  function remember() {
    const address = addressOf(state);
    // the document beside the lines stays that of the entry
    if (address !== location.pathname + location.search) history.pushState(history.state, "", address);
  }

  function addressed() {
    return JSON.stringify([state, chosenScope()]);
  }

  function needsQuery() {
    return queriesOf(state.query).length === 0 && !WITHOUT_QUERY.includes(state.tab);
  }

  async function run() {
    clearProblem();
    looked = "";
    const mine = counting.begin();
    if (needsQuery()) {
      said.textContent = "";
      tabs.panel.removeAttribute("aria-busy");
      return tabs.panel.replaceChildren(element("p", { class: "hint" }, say("words.start")));
    }
    said.textContent = say("words.counting");
    tabs.panel.setAttribute("aria-busy", "true");
    try {
      const { summary, nodes } = await TABS[state.tab](state, tools);
      if (mine.signal.aborted) return;
      said.replaceChildren(...summary);
      tabs.panel.replaceChildren(...nodes.filter((node) => node !== null));
      looked = addressed();
      return true;
    } catch (error) {
      if (mine.signal.aborted) return;
      said.textContent = "";
      tabs.panel.replaceChildren();
      showProblem(messageOf(error), error.character, state);
    } finally {
      if (!mine.signal.aborted) tabs.panel.removeAttribute("aria-busy");
    }
  }

  async function submit(text) {
    const query = text.trim();
    // a point is one of the words that were counted before
    const counted = await go(query === state.query ? {} : { query, point: null });
    const beside = matchMedia(WIDE).matches;
    if (counted && !beside) tabs.list.scrollIntoView({ block: "start" });
  }

  function shown() {
    active = true;
    const named = new URLSearchParams(location.search);
    if (named.has("q") || named.has("tab")) {
      const { scope, ...wanted } = stateOf(named);
      state = wanted;
      if (JSON.stringify(scope) !== JSON.stringify(chosenScope())) setScope(scope);
    }
    if (state.query !== "") {
      typed = question.value === state.query ? null : question.value;
      question.value = state.query;
      history.replaceState(history.state, "", addressOf(state));
    }
    show();
    // a document was closed, or another view: the lines stay where they were scrolled to
    if (looked !== addressed()) run();
  }

  function left() {
    active = false;
    counting.begin();
    clearProblem();
    question.required = true;
    question.rows = rowsOfOthers;
    if (typed !== null && question.value === state.query) question.value = typed;
    typed = null;
  }

  function scopeChanged() {
    clearTimeout(timer);
    timer = setTimeout(() => {
      if (!active || looked === addressed() || needsQuery()) return;
      remember();
      run();
    }, SETTLED);
  }

  question.addEventListener("keydown", (event) => {
    const plain = event.key === "Enter" && !event.shiftKey && !event.isComposing;
    if (!active || !plain || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    form.requestSubmit();
  });
  onScopeChange(scopeChanged);
  return { submit, shown, left, look: go, own: OWN };
}

/** {list, panel, show(name)}; `choose` is called with the name of a tab that is picked. */
function newTabs(names, choose) {
  const buttons = names.map((name) =>
    element(
      "button",
      { type: "button", role: "tab", id: `words-tab-${name}`, "aria-controls": "words-panel" },
      say(`words.${name}`),
    ),
  );
  const label = { class: "tabs", role: "tablist", "aria-label": say("words.tabs") };
  const list = element("div", label, ...buttons);
  const panel = element("div", { id: "words-panel", role: "tabpanel", tabindex: "-1" });

  function show(chosen) {
    for (const [index, button] of buttons.entries()) {
      const is = names[index] === chosen;
      button.setAttribute("aria-selected", String(is));
      button.tabIndex = is ? 0 : -1;
      if (is) panel.setAttribute("aria-labelledby", button.id);
    }
  }

  list.addEventListener("click", ({ target }) => {
    const index = buttons.indexOf(target.closest("[role=tab]"));
    if (index >= 0) choose(names[index]);
  });
  list.addEventListener("keydown", (event) => {
    const present = buttons.indexOf(document.activeElement);
    const to = { ArrowLeft: present - 1, ArrowRight: present + 1, Home: 0, End: names.length - 1 };
    if (present < 0 || !Object.hasOwn(to, event.key)) return;
    event.preventDefault();
    const index = (to[event.key] + names.length) % names.length;
    buttons[index].focus();
    choose(names[index]);
  });
  return { list, panel, show };
}

/** The state that an address names, with its `scope`; what it leaves out is as at first. */
function stateOf(query) {
  const found = Object.entries(DEFAULTS).map(([name, usual]) => [name, read(query, name, usual)]);
  const state = { ...Object.fromEntries(found), query: query.get("q") ?? "" };
  if (!Object.hasOwn(TABS, state.tab)) state.tab = DEFAULTS.tab;
  const scope = parsed(query.get("scope")) ?? JSON.parse(EVERYTHING);
  return { ...state, point: parsed(query.get("point")), scope };
}

/** The address of a state, of the page as it stands and of what is looked through. */
function addressOf({ query: words, point, ...options }) {
  const query = new URLSearchParams(location.search);
  for (const name of OWN) query.delete(name);
  query.set("view", "words");
  if (words !== "") query.set("q", words);
  query.set("tab", options.tab);
  for (const [name, usual] of Object.entries(DEFAULTS)) {
    if (name !== "tab" && options[name] !== usual) query.set(name, options[name]);
  }
  if (point !== null) query.set("point", JSON.stringify(point));
  const scope = JSON.stringify(chosenScope());
  if (scope !== EVERYTHING) query.set("scope", scope);
  return `${location.pathname}?${query}`;
}

function read(query, name, usual) {
  const given = query.get(name);
  if (given === null) return usual;
  if (typeof usual === "boolean") return given === "true";
  if (typeof usual === "string") return given;
  return /^\d{1,9}$/.test(given) ? Number(given) : usual;
}

/** An object that was written as JSON, or null; an address can hold anything. */
function parsed(text) {
  try {
    const found = JSON.parse(text);
    return typeof found === "object" ? found : null;
  } catch {
    return null;
  }
}

/** Says why the words were not counted; of a query that cannot be read also where. */
function showProblem(problem, character, { query, tab }) {
  const text = element("p", {}, say("words.stale", { problem }));
  problemPlace.replaceChildren(element("div", { role: "alert", class: "notice" }, text));
  // queries that are counted together have no places of their own
  const together = tab !== "time" && queriesOf(query).length > 1;
  if (character === undefined || together || question.value.trim() !== query) return;
  const [{ start, end }] = unitSpans(query, [{ start: character - 1, end: character }]);
  problemPlace.firstChild.append(
    element(
      "p",
      { class: "query-place" },
      query.slice(0, start),
      element("mark", {}, query.slice(start, end) || "‸"),
      query.slice(end),
    ),
  );
  question.setAttribute("aria-invalid", "true");
  const lead = question.value.indexOf(query);
  question.focus();
  question.setSelectionRange(lead + start, lead + end);
}

function clearProblem() {
  problemPlace.replaceChildren();
  question.removeAttribute("aria-invalid");
}

/** {node, show(state)} of the controls; `changed` is called with {name: value} of one that changed. */
function newOptions(catalogue, changed) {
  const against = [
    ["all", say("words.everythingElse")],
    ...catalogue.corpora.map(({ id, label }) => [id, label]),
  ];
  const names = ["corpus", ...Object.keys(catalogue.filter_fields)];
  const fields = names.map((name) => [name, fieldName(name)]);
  const controls = [
    select("form", EVERY, said("surface", "stem")),
    check("case", EVERY),
    number("context", ["lines"], 1, 50),
    number("sample", ["lines"], 0, 10_000, say("words.sampleAll")),
    select("unit", ["time"], said("auto", "year", "decade")),
    select("per", ["time"], [["hits", say("words.perHits")], ["million", say("words.perMillion")]]),
    check("byCorpus", ["time"]),
    select("field", ["fields"], fields),
    number("left", ["near"], 0, 10),
    number("right", ["near"], 0, 10),
    number("least", ["near"], 1, 1_000_000),
    select("against", ["apart"], against),
    select("direction", ["apart"], said("more", "less", "both")),
    number("frequent", ["apart"], 1, 1_000_000),
    number("documents", ["apart"], 1, 1_000_000),
    text("pattern", ["list"], say("words.patternLike")),
    number("minimum", ["list"], 1, 1_000_000),
    check("function", ["near", "apart", "list"]),
  ];
  const nodes = controls.map((control) => control.node);
  const node = disclosure(say("words.options"), { class: "words-options" }, element("div", {}, ...nodes));
  const wide = matchMedia(WIDE); // there they are always open, and the summary is not shown
  const unfold = () => (node.open = wide.matches);
  wide.addEventListener("change", unfold);
  unfold();

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

  return { node, show };
}

/** The query language by examples; `EXAMPLES` are in it as they are typed. */
function help() {
  const rows = EXAMPLES.map(([typed, name]) => {
    const code = element("code", {}, typed);
    return element("div", {}, element("dt", {}, code), element("dd", {}, say(`words.${name}`)));
  });
  return disclosure(say("words.help"), { class: "words-help" }, element("dl", {}, ...rows));
}

function said(...names) {
  return names.map((name) => [name, say(`words.${name}`)]);
}

function select(name, tabs, choices) {
  return option(name, tabs, choice({ id: `words-${name}` }, choices));
}

function check(name, tabs) {
  const control = element("input", { id: `words-${name}`, type: "checkbox" });
  const node = element("label", { class: "choice" }, control, element("span", {}, say(`words.${name}`)));
  const set = (to) => (control.checked = to);
  return { name, tabs, control, node, value: () => control.checked, set };
}

function text(name, tabs, placeholder) {
  const attributes = { id: `words-${name}`, type: "text", maxlength: 1000, placeholder };
  return option(name, tabs, element("input", attributes));
}

/** A number; one of at least 0 may be left empty, which is 0. */
function number(name, tabs, min, max, placeholder = "") {
  const attributes = { id: `words-${name}`, type: "number", min, max, inputmode: "numeric", placeholder };
  const control = element("input", attributes);
  control.required = min > 0;
  const empty = name === "sample" ? "" : 0;
  const set = (to) => (control.value = to || empty);
  return { ...option(name, tabs, control), value: () => control.valueAsNumber || 0, set };
}

function option(name, tabs, control) {
  const node = element("div", {}, ...withLabel(say(`words.${name}`), control));
  return { name, tabs, control, node, value: () => control.value.trim(), set: (to) => (control.value = to) };
}
