/** The view of words: what the search box asks is counted, and looked at in one of several ways. */

import { getJson, Problem } from "../api.js";
import { chosenScope, onScopeChange, setScope } from "../ask/scope.js";
import { element, styled } from "../dom.js";
import { say } from "../language.js";
import { addressOf, OWN, stateOf } from "./address.js";
import { byField } from "./by_field.js";
import { newCounting } from "./counting.js";
import { lines } from "./lines.js";
import { newOptions } from "./options.js";
import { overTime } from "./over_time.js";
import { clearProblem, showProblem } from "./problem.js";
import { newTabs } from "./tabs.js";
import { near, settingApart } from "./word_lists.js";

const TABS = { lines, time: overTime, fields: byField, near, apart: settingApart };
const NOTHING = { corpora: [], filter_fields: {} };
const SETTLED = 250; // ms after the last of several changes of the scope

const at = (id) => document.getElementById(id);
const form = at("ask-form");
const question = at("question");
const rowsOfOthers = question.rows;

function ignoreProblem(error) {
  if (!(error instanceof Problem)) throw error;
}

/** The view, {submit(query), shown(), left()}; `page` is that of app.js.
 *
 * `look` shows it with some of its state changed, such as {query, tab}.
 */
export async function openWords(page) {
  const sheets = ["words/words.css", "charts/charts.css"].map(styled);
  // what is amiss is said beside the box already, or with the first count
  const ready = page.loaded.catch(ignoreProblem);
  const corpora = getJson("api/corpora").catch(ignoreProblem);
  const [catalogue = NOTHING] = await Promise.all([corpora, ready, ...sheets]);
  let state = stateOf(new URLSearchParams());
  let active = false;
  let typed = null; // what stood in the box for another view
  let timer = 0;
  let looked = ""; // what the panel shows

  const tabs = newTabs(Object.keys(TABS), (tab) => go({ tab }));
  const said = element("p", { class: "words-said", role: "status" });
  at("words").replaceChildren(tabs.list, said, tabs.panel);
  const options = newOptions(at("words-options"), catalogue, (changes) => go(changes));
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
    options.show(state);
    question.required = state.tab !== "apart";
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

  async function run() {
    clearProblem();
    looked = "";
    const mine = counting.begin();
    if (state.query === "" && state.tab !== "apart") {
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
      tabs.panel.replaceChildren(...nodes);
      looked = addressed();
      return true;
    } catch (error) {
      if (mine.signal.aborted) return;
      said.textContent = "";
      tabs.panel.replaceChildren();
      if (!(error instanceof Problem)) throw error;
      showProblem(error, state.query);
    } finally {
      if (!mine.signal.aborted) tabs.panel.removeAttribute("aria-busy");
    }
  }

  async function submit(text) {
    const query = text.trim();
    // a point is one of the words that were counted before
    const counted = await go(query === state.query ? {} : { query, point: null });
    const beside = matchMedia("(min-width: 60rem)").matches;
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
      if (!active || looked === addressed() || (state.query === "" && state.tab !== "apart")) return;
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
