/** Notes and the reading list as files, and such a file read again. */

import { Problem } from "../api.js";
import { say } from "../language.js";
import { fullPlace } from "../text.js";
import { textFile } from "../parts.js";
import { csvText } from "../words/table.js";

const VERSION = 1;
const COLUMNS = ["date", "title", "place", "quote", "note", "tags", "url"];
const CITED = {
  ...{ passage_id: "string", document_id: "string", corpus: "string", title: "string" },
  ...{ page: "number", start: "number", end: "number", quote: "string" },
};

/** All of it, to be brought back. */
export function asJson(notes, readings) {
  const content = { atlas_kept: VERSION, notes, readings };
  return textFile("atlas-notes.json", "application/json", `${JSON.stringify(content, null, 2)}\n`);
}

export function asMarkdown(notes) {
  const parts = notes.map(({ text, tags, created, citation }) => {
    const lines = [
      `## ${escaped(citation.title)}`,
      "",
      `${escaped(placeWords(citation))} · ${created.slice(0, 10)}`,
      "",
      ...citation.quote.split("\n").map((line) => `> ${escaped(line)}`),
      "",
    ];
    if (text) lines.push(escaped(text), "");
    if (tags.length > 0) lines.push(`*${tags.map(escaped).join(", ")}*`, "");
    return lines.join("\n");
  });
  return textFile("atlas-notes.md", "text/markdown", `${parts.join("\n")}`);
}

export function asCsv(notes) {
  const rows = notes.map(({ text, tags, created, citation }) => ({
    ...citation,
    date: created.slice(0, 10),
    place: placeWords(citation),
    note: text,
    tags: tags.join("; "),
  }));
  return textFile("atlas-notes.csv", "text/csv", csvText(COLUMNS, rows));
}

/** `p. 3 · 1954-05-17` */
export function placeWords(citation) {
  return [fullPlace(citation), citation.section, citation.speaker, citation.date]
    .filter(Boolean)
    .join(" · ");
}

/** Reads a file of `asJson`. Raises Problem for any other. */
export async function readJson(file) {
  let content;
  try {
    content = JSON.parse(await file.text());
  } catch (error) {
    throw new Problem(say("keep.noFile"), { cause: error });
  }
  const { atlas_kept: version, notes, readings } = content ?? {};
  const whole = version === VERSION && Array.isArray(notes) && Array.isArray(readings);
  if (!whole || !notes.every(isNote) || !readings.every(isReading)) {
    throw new Problem(say("keep.noFile"));
  }
  // the known fields alone: whoever wrote the file chooses the others
  const note = ({ id, text, tags, citation, created, changed }) =>
    ({ id, text, tags, citation, created, changed });
  const reading = ({ id, citation, created }) => ({ id, citation, created });
  return { notes: notes.map(note), readings: readings.map(reading) };
}

function isNote(note) {
  const { text, tags, changed } = note ?? {};
  const written = typeof text === "string" && typeof changed === "string" && Array.isArray(tags);
  return isReading(note) && written && tags.every((tag) => typeof tag === "string");
}

function isReading(record) {
  const { id, created, citation } = record ?? {};
  const named = typeof id === "string" && id !== "" && typeof created === "string";
  return named && isCitation(citation);
}

function isCitation(citation) {
  if (typeof citation !== "object" || citation === null) return false;
  const fields = Object.entries(CITED);
  const metadata = citation.metadata ?? {};
  return fields.every(([name, type]) => typeof citation[name] === type) && typeof metadata === "object";
}

function escaped(text) {
  return text.replaceAll(/[\\`*_{}[\]<>#+!|~-]/g, "\\$&");
}
