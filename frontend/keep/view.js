/** The view of what is kept: notes that can be searched, and the reading list. */

import { placeOf } from "../answer/sentences.js";
import { exportedCitations, getJson, messageOf, sendJson } from "../api.js";
import { citedQuotation, citedReferences, copy, styleChooser } from "./citing.js";
import { alertIn, at, element, linkButton, placeLine, withLabel } from "../dom.js";
import { menu } from "./exports.js";
import { asCsv, asJson, asMarkdown, placeWords, readJson } from "./files.js";
import { bringBack, keepNote, notes, onKept, readings, removeNote, removeReading } from "./kept.js";
import { language, say } from "../language.js";
import { writeNote } from "./note_dialog.js";
import { newOutcome } from "../parts.js";
import { dateWords, plainLetters } from "../text.js";

/** The view, filled anew whenever something is kept. */
export function openKept(page) {
  const root = at("kept");
  const problem = element("p", { role: "alert", hidden: "" });
  const noted = noteSection(page);
  const listed = readingSection(page);
  root.replaceChildren(problem, noted.node, listed.node);

  async function fill() {
    try {
      const [all, list] = await Promise.all([notes(), readings()]);
      alertIn(problem);
      noted.fill(all, list);
      listed.fill(list);
    } catch (error) {
      alertIn(problem, messageOf(error));
    }
  }

  onKept(() => root.hidden || fill());
  return {
    shown: fill,
    submit: (asked) => page.ask(asked),
  };
}

function noteSection(page) {
  const field = element("input", { id: "note-search", type: "search", oninput: () => show() });
  const count = element("p", { class: "hint", role: "status" });
  const list = element("ul", { class: "kept-list" });
  const outcome = newOutcome();
  let all = [];
  let listed = [];

  function show() {
    const found = all.filter((note) => holds(note, field.value));
    count.textContent = all.length === 0 ? say("keep.noNotes") : say("keep.notesFound", { count: found.length });
    list.replaceChildren(...found.map((note) => noteItem(note, page, outcome)));
  }

  const bring = element("input", { type: "file", accept: ".json,application/json", class: "spoken", tabindex: "-1", "aria-hidden": "true" });
  bring.addEventListener("change", () =>
    outcome.attempt(async () => {
      const [file] = bring.files;
      bring.value = "";
      const count = await bringBack(await readJson(file));
      return say("keep.brought", { count });
    }),
  );
  const ask = linkButton(say("keep.import"), () => bring.click());
  const files = [
    ["Markdown", async () => asMarkdown(all)],
    ["CSV", async () => asCsv(all)],
    ["JSON", async () => asJson(all, listed)],
    ["Web Annotation", () => exportedCitations("web-annotation", all.map((note) => note.citation), all.map((note) => note.text))],
  ];
  const node = element(
    "section",
    { class: "kept-part", "aria-labelledby": "notes-title" },
    element("h2", { id: "notes-title" }, say("keep.notes")),
    ...withLabel(say("keep.search"), field),
    count,
    list,
    element("div", { class: "kept-files" }, menu(say("keep.exportNotes"), files), ask, bring, outcome.node),
  );
  return {
    node,
    fill(found, readings) {
      [all, listed] = [found, readings];
      show();
    },
  };
}

/** Tells if a note holds all words that are looked for, whatever their case and accents. */
function holds({ text, tags, citation }, words) {
  const said = plainLetters([text, ...tags, citation.quote, citation.title, placeWords(citation)].join(" "));
  return plainLetters(words).split(/\s+/).every((word) => said.includes(word));
}

function noteItem(note, page, outcome) {
  const { text, tags, created, citation } = note;
  const kept = say("keep.keptOn", { when: dated(created) });
  const buttons = [
    linkButton(say("ask.edit"), () => writeNote(note), named("edit", citation)),
    linkButton(say("keep.copyQuotation"), () => outcome.attempt(() => copy(citedQuotation(citation)))),
    linkButton(say("keep.delete"), () => takeOut(note), named("delete", citation)),
  ];

  async function takeOut() {
    await outcome.attempt(async () => {
      await removeNote(note.id);
      const back = linkButton(say("page.undo"), () => outcome.attempt(() => keepNote(note).then(() => "")));
      outcome.node.after(back);
      back.addEventListener("click", () => back.remove());
      back.focus();
      return say("keep.deleted");
    });
  }

  return element(
    "li",
    {},
    ...sourceNodes(citation, page, kept),
    element("blockquote", {}, citation.quote),
    text ? element("p", { class: "note-text" }, text) : null,
    tags.length > 0 ? element("p", { class: "hint" }, ...tags.map((tag) => element("span", { class: "tag" }, tag))) : null,
    element("div", { class: "more" }, ...buttons),
  );
}

function sourceNodes(citation, page, more) {
  const place = [page.label(citation.corpus), placeWords({ ...citation, date: dateWords(citation.date) }), more];
  return [
    linkButton(citation.title, () => page.open(placeOf(citation))),
    element("p", {}, placeLine(place, citation.url, citation.title)),
  ];
}

function named(name, { title }) {
  return { "aria-label": say(`keep.${name}Named`, { title }) };
}

function dated(moment) {
  const when = new Date(moment);
  return Number.isNaN(when.getTime()) ? moment : when.toLocaleDateString(language, { dateStyle: "medium" });
}

function readingSection(page) {
  const list = element("ul", { class: "kept-list" });
  const none = element("p", { class: "hint" }, say("keep.noReadings"));
  const outcome = newOutcome();
  const zotero = linkButton(say("keep.toZotero"), () => outcome.attempt(send), { hidden: "" });
  let all = [];
  const cited = () => all.map(({ citation }) => citation);

  async function send() {
    const { saved } = await sendJson("POST", "api/zotero", { citations: cited() });
    return say("keep.sent", { count: saved });
  }

  const files = ["bibtex", "ris", "csl-json", "web-annotation"].map((format) => [
    say(`keep.format_${format}`),
    () => exportedCitations(format, cited()),
  ]);
  const tools = element(
    "div",
    { class: "kept-files" },
    menu(say("keep.exportList"), files),
    linkButton(say("keep.copyReferences"), () => outcome.attempt(() => copy(citedReferences(cited())))),
    styleChooser(),
    zotero,
  );
  const node = element(
    "section",
    { class: "kept-part", "aria-labelledby": "readings-title" },
    element("h2", { id: "readings-title" }, say("keep.readings")),
    none,
    list,
    tools,
    outcome.node,
  );
  offerZotero(zotero);
  return {
    node,
    fill(found) {
      all = found;
      none.hidden = all.length > 0;
      tools.hidden = all.length === 0;
      list.replaceChildren(...all.map((reading) => readingItem(reading, page, outcome)));
    },
  };
}

/** Shows the button where the server can reach the reader's Zotero. */
async function offerZotero(button) {
  try {
    const { state } = await getJson("api/zotero");
    button.hidden = state === "elsewhere";
  } catch (error) {
    messageOf(error); // without it everything else works
  }
}

function readingItem({ id, citation, created }, page, outcome) {
  const takeOut = () => outcome.attempt(() => removeReading(id).then(() => say("keep.takenOut")));
  const source = sourceNodes(citation, page, say("keep.keptOn", { when: dated(created) }));
  const remove = linkButton(say("keep.remove"), takeOut, named("remove", citation));
  return element("li", {}, ...source, element("div", { class: "more" }, remove));
}
