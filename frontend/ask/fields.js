/** Fields of metadata and their values in the reader's words. */

import { hasString, language, say } from "../language.js";
import { heading } from "../text.js";

const languages = new Intl.DisplayNames(language, { type: "language" });

export function fieldName(name) {
  const key = `ask.field_${name}`;
  return hasString(key) ? say(key) : heading(name);
}

export function valueName(field, value) {
  if (field !== "language") return value;
  try {
    return languages.of(value);
  } catch {
    return value; // not a tag of a language
  }
}

/** The filter that a value of this field sets: of a speaker the passages, not whole documents. */
export function filterOf(name) {
  return name === "speakers" ? "speaker" : name;
}

/** The values of a filter as strings; none of a range. */
export function valuesOf(filter) {
  if (filter === undefined || isRange(filter)) return [];
  return [filter].flat().map(String);
}

export function isRange(filter) {
  return typeof filter === "object" && !Array.isArray(filter);
}

/** `1960 – 1969`, `from 1960`, `to 1969` */
export function rangeName({ from, to }) {
  if (from == null) return say("ask.rangeTo", { to: String(to) });
  if (to == null) return say("ask.rangeFrom", { from: String(from) });
  return say("ask.range", { from: String(from), to: String(to) });
}
