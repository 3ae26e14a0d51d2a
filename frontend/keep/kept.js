/** Notes and the reading list, as the browser keeps them; whoever watches hears of changes. */

import { newId } from "../api.js";
import { all, put, remove } from "./database.js";

const changes = new EventTarget();

/** Calls `listener` after every change. */
export function onKept(listener) {
  changes.addEventListener("change", listener);
}

async function changed(step) {
  const result = await step;
  changes.dispatchEvent(new Event("change"));
  return result;
}

/** Notes {id, text, tags, citation, created, changed}, newest first. */
export async function notes() {
  return newestFirst(await all("notes"));
}

/** Keeps a note under its id, or as a new one. */
export function keepNote({ id = newId(), created = now(), ...note }) {
  return changed(put("notes", { id, created, changed: now(), ...note }));
}

export function removeNote(id) {
  return changed(remove("notes", id));
}

/** The reading list: {id, citation, created}, one for each place, newest first. */
export async function readings() {
  return newestFirst(await all("readings"));
}

/** Puts a citation onto the reading list, where it stands once. */
export function keepReading(citation) {
  const { document_id: document, start, end } = citation;
  return changed(put("readings", { id: `${document}:${start}-${end}`, citation, created: now() }));
}

export function removeReading(id) {
  return changed(remove("readings", id));
}

/** Puts back what was taken out, or what a file brings: newer versions of a note stay. */
export async function bringBack({ notes: brought, readings: listed }) {
  const own = new Map((await all("notes")).map((note) => [note.id, note]));
  const newer = brought.filter((note) => !(own.get(note.id)?.changed >= note.changed));
  for (const note of newer) await put("notes", note);
  for (const reading of listed) await put("readings", reading);
  changes.dispatchEvent(new Event("change"));
  return newer.length + listed.length;
}

function newestFirst(records) {
  const order = (a, b) => (a.created < b.created ? 1 : a.created > b.created ? -1 : 0);
  return records.sort((a, b) => order(a, b) || (a.id < b.id ? -1 : 1));
}

function now() {
  return new Date().toISOString();
}
