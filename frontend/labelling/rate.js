/** The page of `atlas eval rate`: one answer at a time, without what tells who wrote it, on the
 * scales of the run. */

import { createDrafts, listenToKeys, moveFocus, say } from "./page.js";
import { getJson, messageOf, sendJson } from "../api.js";
import { alertIn, at, disclosure, element, onSubmit } from "../dom.js";
import { tab } from "../storage.js";

const RATER = "atlas-rater"; // of this tab: who rates
const NOTHING = { scores: {}, rationales: {}, comment: "" };

let scales = null;
let drafts = null;
let about = null; // what is rated, and by whom; without a `rater` whoever gives a name
let state = null; // {rater, items, ratings, at}
let saving = false;

async function attempt(step) {
  alertIn(at("page-alert"));
  try {
    await step();
  } catch (error) {
    alertIn(at("page-alert"), messageOf(error));
  }
}

function askForName() {
  at("rater-form").hidden = false;
  at("rater").focus();
}

/** Somebody else rates on, or somebody whose name is not known. */
function leave() {
  tab.forget(RATER);
  state = null;
  at("answer").replaceChildren();
  at("rating-form").hidden = true;
  at("another-rater").hidden = true;
  at("served").textContent = "";
  say("");
  askForName();
}

async function begin(name) {
  const found = await getJson(`api/ratings?${new URLSearchParams({ rater: name })}`);
  tab.keep(RATER, found.rater);
  at("another-rater").hidden = about.rater !== "";
  at("rater-form").hidden = true;
  at("rating-form").hidden = false;
  state = { ...found, at: 0 };
  at("served").textContent = `rated by ${found.rater}`;
  show(nextOpen(-1) ?? 0);
}

/** Tells if an answer has a number on a scale that is shown, or a comment in place of any. */
function isRated({ label_id: id }) {
  const { scores, comment } = state.ratings[id] ?? NOTHING;
  if (Object.keys(scores).length === 0) return comment !== "";
  return about.scales.some(({ name }) => scores[name] !== undefined);
}

/** The first answer after `from` that is not rated, around the end; null if all are. */
function nextOpen(from) {
  const { items } = state;
  const order = items.map((_, step) => (from + 1 + step) % items.length);
  return order.find((index) => !isRated(items[index])) ?? null;
}

function show(index) {
  state.at = index;
  const item = state.items[index];
  const given = state.ratings[item.label_id] ?? NOTHING;
  const known = drafts.find(draftId()) ?? given;
  at("answer").replaceChildren(...answerNodes(item, index + 1, state.items.length));
  scales.show(known);
  at("comment").value = known.comment;
  tellProgress();
  at("answer").focus({ preventScroll: true });
  scrollTo(0, 0);
}

function tellProgress(before = "") {
  const { items } = state;
  const done = items.filter(isRated).length;
  const all = done === items.length ? " That is all, thank you." : "";
  say(`${before}${done} of ${items.length} rated.${all}`);
}

function draftId() {
  return `${state.rater}:${state.items[state.at].label_id}`;
}

/** Keeps a draft of what is shown; false if the browser does not. */
function keepDraft() {
  const kept = drafts.keep(draftId(), ratedNow());
  if (!kept) say("This browser keeps no draft: save before you leave.");
  return kept;
}

async function save() {
  if (state === null || saving) return;
  saving = true;
  try {
    await attempt(send);
  } finally {
    saving = false;
  }
}

/** Saves what is shown. Who went to another answer meanwhile, or wrote more, loses nothing. */
async function send() {
  const sent = state;
  const shown = state.at;
  const draft = draftId();
  const isKept = keepDraft();
  const { label_id: id } = state.items[shown];
  const said = ratedNow();
  const body = { rater: state.rater, label_id: id, ...said };
  sent.ratings[id] = await sendJson("PUT", "api/rating", body);
  if (isKept) drafts.discardSaved(draft, said);
  else drafts.discard(draft); // an older one
  if (state !== sent) return;
  const untouched = state.at === shown && JSON.stringify(ratedNow()) === JSON.stringify(said);
  const next = nextOpen(shown);
  if (untouched && next !== null) show(next);
  tellProgress("Saved. ");
}

function ratedNow() {
  return { ...scales.read(), comment: at("comment").value };
}

function step(by) {
  if (state === null) return;
  const { items } = state;
  show((state.at + by + items.length) % items.length);
}

onSubmit(at("rater-form"), () => attempt(() => begin(at("rater").value)));
onSubmit(at("rating-form"), save);
at("rating-form").addEventListener("input", keepDraft);
at("save").addEventListener("click", (event) => {
  if (event.detail > 1) event.preventDefault(); // the second of a double click is of the next answer
});
at("another-rater").addEventListener("click", leave);
at("previous").addEventListener("click", () => step(-1));
at("next").addEventListener("click", () => step(1));

await attempt(async () => {
  about = await getJson("api/rating");
  drafts = createDrafts(`atlas-rating:${about.run}`);
  scales = createScales(at("scales"), about.scales, keepDraft);
  const choose = (number) => () => state && scales.choose(number);
  const numbers = Array.from({ length: 10 }, (_, number) => [number, choose(number)]);
  const j = () => moveFocus(scales.nodes, 1);
  const k = () => moveFocus(scales.nodes, -1);
  const steps = { n: () => step(1), p: () => step(-1) };
  listenToKeys({ j, k, s: save, ...steps, ...Object.fromEntries(numbers) }, save);
  const rater = about.rater || tab.find(RATER);
  if (rater === null) return askForName();
  return begin(rater);
});

/** The nodes of an answer, the `number`th of `total`. */
function answerNodes(item, number, total) {
  const declined = item.decision !== "ANSWER";
  return [
    element("p", { class: "hint" }, `Answer ${number} of ${total}`),
    element("h2", {}, item.question),
    declined
      ? element("p", { class: "answer-text" }, `No answer was given. ${item.reason}`)
      : element("div", { class: "answer-text rated-text" }, item.answer),
    quotes(item.quotes),
    references(item.references),
  ].filter((node) => node !== null);
}

function quotes(found) {
  if (found.length === 0) return null;
  const items = found.map(({ number, title, place, quote }) =>
    element("li", {}, `[${number}] ${[title, place].filter(Boolean).join(", ")}: `, element("q", {}, quote)),
  );
  return element("ul", { class: "quotes" }, ...items);
}

function references(answers) {
  if (answers.length === 0) return null;
  const items = answers.map((answer) => element("li", {}, answer));
  return disclosure("Reference answer", {}, element("ul", {}, ...items));
}

/** `changed` is called when a number is chosen by a key. */
function createScales(place, scales, changed) {
  const groups = scales.map((scale, index) => ({ name: scale.name, node: group(scale, index) }));
  place.replaceChildren(...groups.map(({ node }) => node));

  function chosen(node) {
    return node.querySelector("input:checked");
  }

  return {
    nodes: groups.map(({ node }) => node),
    show({ scores, rationales = {} }) {
      for (const { name, node } of groups) {
        for (const input of node.querySelectorAll("input")) {
          input.checked = input.value === String(scores[name]);
        }
        node.querySelector("textarea").value = rationales[name] ?? "";
      }
    },
    read() {
      const given = groups.filter(({ node }) => chosen(node) !== null);
      const reason = ({ name, node }) => [name, node.querySelector("textarea").value];
      return {
        scores: Object.fromEntries(given.map(({ name, node }) => [name, Number(chosen(node).value)])),
        rationales: Object.fromEntries(groups.map(reason)),
      };
    },
    /** Chooses on the scale that has the focus; 0 is 10 where there is no 0. */
    choose(number) {
      const found = groups.find(({ node }) => node.contains(document.activeElement));
      const at = (value) => found?.node.querySelector(`input[value="${value}"]`);
      const input = at(number) ?? (number === 0 ? at(10) : null);
      if (!input) return;
      input.checked = true;
      changed();
    },
  };
}

function group({ name, low, high, description, meanings }, index) {
  const numbers = Array.from({ length: high - low + 1 }, (_, step) => low + step);
  const id = `scale-${index}`; // names may differ in signs alone
  const choices = numbers.map((number, step) => {
    const input = element("input", { type: "radio", name: id, value: String(number) });
    const meaning = meanings[step] && element("span", { class: "hint" }, meanings[step]);
    return element("label", {}, input, String(number), ...(meaning ? [meaning] : []));
  });
  return element(
    "fieldset",
    { class: "rated-scale", tabindex: "-1", "aria-describedby": id },
    element("legend", {}, name),
    element("p", { class: "hint", id, ...(description === "" && { hidden: "" }) }, description),
    element("div", { class: meanings.length > 0 ? "points rubric" : "points" }, ...choices),
    element("label", { class: "hint", for: `${id}-why` }, `Why (${name})`),
    element("textarea", { id: `${id}-why`, rows: "1", maxlength: "10000" }),
  );
}
