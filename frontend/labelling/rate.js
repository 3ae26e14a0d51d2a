/** The page of `atlas eval rate`: one answer at a time, on the scales of the run. */

import "./own_key.js";
import { getJson, Problem, sendJson } from "../api.js";
import { element } from "../dom.js";
import { createDrafts } from "./drafts.js";
import { listenToKeys, moveFocus } from "./keys.js";
import { answerNodes } from "./rated_answer.js";
import { createScales } from "./scales.js";

const RATER = "atlas-rater"; // of this tab: who rates

const at = (id) => document.getElementById(id);
let scales = null;
let drafts = null;
let state = null; // {rater, items, ratings, at}

function say(text) {
  at("status").textContent = text;
}

async function attempt(step) {
  at("page-alert").hidden = true;
  try {
    await step();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    at("page-alert").textContent = error.message;
    at("page-alert").hidden = false;
  }
}

function offerNames({ raters }) {
  const field =
    raters.length > 0
      ? element("select", { id: "rater" }, ...raters.map((name) => element("option", {}, name)))
      : element("input", { id: "rater", type: "text", required: "", maxlength: "60", autocomplete: "off" });
  at("rater-field").replaceChildren(element("label", { for: "rater" }, "Your name"), field);
  at("rater-form").hidden = false;
  field.focus();
}

async function begin(name) {
  const found = await getJson(`api/ratings?${new URLSearchParams({ rater: name })}`);
  sessionStorage.setItem(RATER, found.rater);
  at("rater-form").hidden = true;
  at("rating-form").hidden = false;
  state = { ...found, at: 0 };
  at("served").textContent = `rated by ${found.rater}`;
  show(nextOpen(-1) ?? 0);
}

/** The first answer after `from` that has no rating, around the end; null if all have one. */
function nextOpen(from) {
  const { items, ratings } = state;
  const order = items.map((_, step) => (from + 1 + step) % items.length);
  return order.find((index) => ratings[items[index].label_id] === undefined) ?? null;
}

function show(index) {
  state.at = index;
  const item = state.items[index];
  const known = drafts.find(draftId()) ?? state.ratings[item.label_id] ?? { scores: {}, comment: "" };
  at("answer").replaceChildren(...answerNodes(item, index + 1, state.items.length));
  scales.show(known.scores);
  at("comment").value = known.comment;
  tellProgress();
  at("answer").focus({ preventScroll: true });
  scrollTo(0, 0);
}

function tellProgress(before = "") {
  const { items, ratings } = state;
  const done = Object.keys(ratings).length;
  const all = done === items.length ? " That is all, thank you." : "";
  say(`${before}${done} of ${items.length} rated.${all}`);
}

function draftId() {
  return `${state.rater}:${state.items[state.at].label_id}`;
}

function keepDraft() {
  const draft = { scores: scales.read(), comment: at("comment").value };
  if (!drafts.keep(draftId(), draft)) say("This browser keeps no draft: save before you leave.");
}

async function save() {
  if (state === null) return;
  const { label_id: id } = state.items[state.at];
  await attempt(async () => {
    const body = { rater: state.rater, label_id: id, scores: scales.read(), comment: at("comment").value };
    state.ratings[id] = await sendJson("PUT", "api/rating", body);
    drafts.discard(draftId());
    const next = nextOpen(state.at);
    if (next !== null) show(next);
    tellProgress("Saved. ");
  });
}

function step(by) {
  if (state === null) return;
  const { items } = state;
  show((state.at + by + items.length) % items.length);
}

at("rater-form").addEventListener("submit", (event) => {
  event.preventDefault();
  attempt(() => begin(at("rater").value));
});
at("rating-form").addEventListener("submit", (event) => {
  event.preventDefault();
  save();
});
at("rating-form").addEventListener("input", keepDraft);
at("previous").addEventListener("click", () => step(-1));
at("next").addEventListener("click", () => step(1));

await attempt(async () => {
  const about = await getJson("api/rating");
  drafts = createDrafts(`atlas-rating:${about.run}`);
  scales = createScales(at("scales"), about.scales, keepDraft);
  const choose = (number) => () => state && scales.choose(number);
  listenToKeys(
    {
      j: () => moveFocus(scales.nodes, 1),
      k: () => moveFocus(scales.nodes, -1),
      s: save,
      n: () => step(1),
      p: () => step(-1),
      ...Object.fromEntries(Array.from({ length: 10 }, (_, number) => [number, choose(number)])),
    },
    save,
  );
  const rater = sessionStorage.getItem(RATER);
  if (rater === null) offerNames(about);
  else await begin(rater);
});
