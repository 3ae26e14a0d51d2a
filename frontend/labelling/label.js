/** The page of `atlas eval label`: one label at a time, those that were saved, and drafts that are
 * in this browser alone. */

import { createDrafts, listenToKeys, moveFocus, say } from "./page.js";
import { getJson, messageOf, newId, sendJson } from "../api.js";
import { at, element, linkButton, onSubmit, plainButton } from "../dom.js";
import { tab } from "../storage.js";
import { counted } from "../text.js";
import { holds, judgedPassage, spanItem } from "./judging.js";

const DEPTH = 20; // passages of one search
const OPEN_AS = "atlas-label-open"; // of this tab: which label is in it
const CONFLICT = 409;
const FORMS = ["search-form", "label-form"];

const form = createForm(() => changed());
let drafts = null;
let corpora = {};
let labels = [];
let label = empty(); // what is saved of it, and marks and spans as they are now
let judged = []; // passages in the order in which they were found
let saving = false;
let again = null; // the label whose saving was asked for while it was saved

const page = {
  get marks() {
    return label.marks;
  },
  get spans() {
    return label.spans;
  },
  label: (corpus) => corpora[corpus] ?? corpus,
  changed: () => {
    changed();
    showJudged();
  },
  say,
};

function empty() {
  return { id: `label-${newId().slice(0, 12)}`, revision: "", question: "", answers: [], marks: {},
    spans: [], documents: [], should_answer: null, category: "", split: "test", searched: [] };
}

function warn(...nodes) {
  at("page-alert").replaceChildren(...nodes);
  at("page-alert").hidden = nodes.length === 0;
}

/** Runs what talks to the server; what goes wrong is told and changes nothing. */
async function attempt(step) {
  warn();
  try {
    return await step();
  } catch (error) {
    const message = messageOf(error);
    say("");
    warn(message);
    return undefined;
  }
}

/** Keeps a draft of the label; false if the browser does not. */
function changed() {
  Object.assign(label, form.read());
  const kept = drafts.keep(label.id, label);
  if (!kept) say("This browser keeps no draft: save before you leave.");
  tab.keep(OPEN_AS, label.id);
  return kept;
}

/** Shows a label, new, saved or a draft, with the passages that are known of it. */
function open(next, passages = []) {
  label = { ...empty(), ...next };
  judged = [];
  tab.keep(OPEN_AS, label.id);
  warn();
  form.show(label);
  add(passages);
  list();
}

function add(passages) {
  const known = new Set(judged.map(({ passage }) => passage.passage_id));
  const fresh = passages.filter((passage) => !known.has(passage.passage_id));
  const made = fresh.map((passage) => judgedPassage(passage, page));
  judged.push(...made);
  if (known.size === 0) at("found").replaceChildren();
  at("found").append(...made.map(({ node }) => node));
  showJudged();
  return fresh.length;
}

function showJudged() {
  judged.forEach((each) => each.show());
  at("none-yet").hidden = judged.length > 0;
  at("more-form").hidden = judged.length === 0;
  showElsewhere();
}

/** Shows what the label knows besides the passages that are shown. */
function showElsewhere() {
  const spans = label.spans.filter((span) => !judged.some(({ passage }) => holds(passage, span)));
  const words = spans.map((span) => spanItem(span, page, at("passages")));
  const items = element("ul", {}, ...words, ...label.documents.map(documentItem));
  const place = at("elsewhere");
  place.replaceChildren(element("p", { class: "hint" }, "Known besides:"), items);
  place.hidden = items.children.length === 0;
}

function documentItem(id) {
  const remove = () => {
    label.documents = label.documents.filter((other) => other !== id);
    page.changed();
    at("passages").focus();
  };
  const button = linkButton("Remove", remove, { "aria-label": `Remove: ${id}` });
  return element("li", {}, `the document ${id} `, button);
}

async function search(question) {
  if (question.trim() === "") return;
  say("Searching …");
  const asked = label;
  const found = await getPassages(question);
  if (label !== asked) return; // another label was opened meanwhile
  const fresh = add(found);
  if (!label.searched.includes(question)) label.searched.push(question);
  changed();
  say(`${counted(fresh, judged.length > fresh ? "more passage" : "passage")}.`);
}

async function getPassages(question) {
  return (await sendJson("POST", "api/search", { question, k: DEPTH })).passages;
}

/** Saves the label; pressed meanwhile, once more and after it, for it has another revision then. */
async function save() {
  again = label;
  if (saving) return;
  saving = true;
  try {
    while (again === label) {
      again = null;
      await attempt(saveOnce);
    }
  } finally {
    saving = false;
  }
}

async function saveOnce() {
  try {
    await put(label.revision);
  } catch (error) {
    if (error.status !== CONFLICT) throw error;
    again = null; // until somebody has decided between the two
    say("");
    offerConflict(error.message);
  }
}

async function put(revision) {
  const isKept = changed();
  const sent = label;
  const { searched, missing, kept, ...body } = structuredClone(sent);
  const saved = await sendJson("PUT", "api/label", { ...body, revision });
  if (isKept) drafts.discardSaved(sent.id, body);
  else drafts.discard(sent.id); // an older one
  sent.revision = saved.revision;
  await refresh();
  say(`Saved. ${counted(labels.length, "label")} in the file.`);
}

/** Somebody saved the label in another tab: neither version goes without a word. */
function offerConflict(message) {
  const saveOver = async () => {
    await refresh();
    await put(labels.find(({ id }) => id === label.id)?.revision ?? "");
  };
  const mine = plainButton("Save mine instead", () => attempt(saveOver));
  const other = plainButton("Take the other", () => attempt(() => openSaved(label.id)));
  warn(`${message} `, element("div", { class: "buttons" }, mine, other));
}

/** Goes on with what is not saved of the label, if there is such. */
async function edit(id) {
  const draft = drafts.find(id);
  if (draft !== null) await resume(draft);
  else await attempt(() => openSaved(id));
}

async function openSaved(id) {
  const { passages, ...saved } = await getJson(`api/label?${new URLSearchParams({ id })}`);
  drafts.discard(id);
  open(saved, passages);
  const gone = saved.missing.length;
  if (gone > 0) warn(`${counted(gone, "marked passage")} cannot be shown: not in this collection.`);
  say("");
  await addFound(saved.question);
  at("passages").focus();
}

/** Adds what a search finds to the label that is open, unless another one is by then. */
async function addFound(question) {
  const asked = label;
  const found = await getPassages(question);
  if (label === asked) add(found);
}

async function resume(draft) {
  open(draft);
  await attempt(async () => {
    if (draft.revision !== "") await addMarked(draft.id);
    for (const question of draft.searched) await addFound(question);
    say("What was not saved is back.");
  });
}

/** Passages that a label in the file marks, though no search of the draft may have found them. */
async function addMarked(id) {
  if (!labels.some((known) => known.id === id)) return;
  const { passages } = await getJson(`api/label?${new URLSearchParams({ id })}`);
  if (label.id === id) add(passages);
}

async function remove({ id, revision }) {
  await attempt(async () => {
    await sendJson("DELETE", `api/label?${new URLSearchParams({ id, revision })}`, undefined);
    drafts.discard(id);
    if (label.id === id) open(empty());
    say("Deleted.");
  });
  await attempt(refresh);
}

function discard(draft) {
  drafts.discard(draft.id);
  if (draft.id === label.id) open(empty());
  list();
}

function list() {
  const other = drafts.all().filter((draft) => draft.id !== label.id);
  showSaved(labels, other, { edit, remove, resume, discard });
}

async function refresh() {
  const known = await getJson("api/labels");
  ({ corpora, labels } = known);
  at("served").textContent = `${known.file} · ${known.collection}`;
  drafts ??= createDrafts(`atlas-label:${known.collection}:${known.drafts}`);
  offerCategories(labels);
  list();
}

function begin() {
  open(empty());
  say("");
  at("question").focus();
}

function focused() {
  return judged.find(({ node }) => node.contains(document.activeElement));
}

onSubmit(at("search-form"), () => attempt(() => search(at("question").value)));
at("question").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) at("search-form").requestSubmit();
});
onSubmit(at("more-form"), () => attempt(() => search(at("more").value)));
onSubmit(at("label-form"), save);
at("new-label").addEventListener("click", begin);
document.addEventListener("selectionchange", () => judged.forEach((each) => each.noteSelection()));
const nodes = () => judged.map(({ node }) => node);

/** Nothing can be written before the labels are there: its draft would have no name. */
async function start() {
  await attempt(async () => {
    try {
      await refresh();
    } catch (error) {
      warn(`${messageOf(error)} `, element("div", { class: "buttons" }, plainButton("Try again", start)));
      return;
    }
    for (const id of FORMS) at(id).inert = false;
    listen();
    const draft = drafts.find(tab.find(OPEN_AS));
    if (draft === null) open(empty());
    else await resume(draft);
  });
}

function listen() {
  const grades = [0, 1, 2, 3].map((grade) => [grade, () => focused()?.judge(grade)]);
  const j = () => moveFocus(nodes(), 1);
  const k = () => moveFocus(nodes(), -1);
  const w = () => focused()?.selectByKeys();
  listenToKeys({ j, k, s: save, n: begin, w, ...Object.fromEntries(grades) }, save);
}

await start();

/** Reads and shows the fields of a label; `changed` is called when somebody writes. */
function createForm(changed) {
  const references = at("references");

  function add(text = "") {
    const number = references.children.length + 1;
    const id = `reference-${number}`;
    const field = element("textarea", { id, rows: "2", class: "reference" });
    field.value = text;
    const label = element("label", { for: id }, number === 1 ? "Answer" : `Answer ${number}`);
    references.append(element("div", {}, label, field));
    return field;
  }

  function choose(value) {
    const said = value === null ? "" : value ? "yes" : "no";
    document.querySelector(`input[name=should-answer][value="${said}"]`).checked = true;
  }

  function chooseSplit(split) {
    const select = at("split");
    if (![...select.options].some((option) => option.value === split)) {
      select.append(element("option", { value: split }, split));
    }
    select.value = split;
  }

  at("add-reference").addEventListener("click", () => add().focus());
  for (const id of ["search-form", "label-form"]) at(id).addEventListener("input", changed);

  return {
    show({ question, answers, should_answer: answered, category, split }) {
      at("question").value = question;
      references.replaceChildren();
      (answers.length > 0 ? answers : [""]).forEach(add);
      choose(answered);
      at("category").value = category;
      chooseSplit(split);
    },
    read() {
      const said = document.querySelector("input[name=should-answer]:checked").value;
      return {
        question: at("question").value,
        answers: [...references.querySelectorAll("textarea")]
          .map((field) => field.value)
          .filter((text) => text.trim() !== ""),
        should_answer: said === "" ? null : said === "yes",
        category: at("category").value,
        split: at("split").value,
      };
    },
  };
}

/** Offers the categories that labels have already. */
function offerCategories(labels) {
  const known = [...new Set(labels.map((label) => label.category))].sort();
  at("categories").replaceChildren(...known.map((value) => element("option", { value })));
}

/** `on` has: edit(id), remove(label), resume(draft), discard(draft). */
function showSaved(labels, drafts, on) {
  at("labels").replaceChildren(...labels.map((label) => labelItem(label, on)));
  const place = at("drafts");
  place.hidden = drafts.length === 0;
  place.replaceChildren(
    element("h3", {}, "Not saved yet"),
    element("ul", { class: "labels" }, ...drafts.map((draft) => draftItem(draft, on))),
  );
}

function labelItem(label, on) {
  const { question, category, split, relevant, answerable } = label;
  const answers = answerable ? "answerable" : "not answerable";
  const known = relevant > 0 ? counted(relevant, "relevant passage") : answers;
  const edit = button("Edit", question, () => on.edit(label.id));
  return element(
    "li",
    { "data-label": label.id },
    element("p", { class: "asked" }, question),
    element("p", { class: "hint" }, [category, split, known].filter(Boolean).join(" · ")),
    element("div", { class: "buttons" }, edit, deleteButton(label, on)),
  );
}

/** Two presses: a label may be an hour's work. */
function deleteButton(label, on) {
  const made = button("Delete", label.question, () => {
    if (made.dataset.sure === "yes") {
      made.dataset.sure = "pressed"; // once more would be of a label that is gone
      return on.remove(label).finally(() => (made.dataset.sure = "yes"));
    }
    if (made.dataset.sure) return undefined;
    made.dataset.sure = "yes";
    made.textContent = "Delete for good";
    made.setAttribute("aria-label", `Delete for good: ${label.question}`);
    return undefined;
  });
  return made;
}

function draftItem(draft, on) {
  const question = draft.question || "No question yet";
  const goOn = button("Go on", question, () => on.resume(draft));
  const discard = button("Discard", question, () => on.discard(draft));
  const buttons = element("div", { class: "buttons" }, goOn, discard);
  return element("li", {}, element("p", { class: "asked" }, question), buttons);
}

function button(text, question, onclick) {
  return plainButton(text, onclick, { class: "quiet", "aria-label": `${text}: ${question}` });
}
