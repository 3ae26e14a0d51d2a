/** Spans and places of texts as the server counts them, and how the page marks and words them. */

import { element } from "./dom.js";
import { language, say } from "./language.js";

// of the reader's country where the browser says it
const locale = navigator.languages.find((tag) => tag.split("-")[0] === language) ?? language;
const days = new Intl.DateTimeFormat(locale, { dateStyle: "long", timeZone: "UTC" });
const fields = { year: "numeric", month: "long", day: "numeric", era: "short", timeZone: "UTC" };
const early = new Intl.DateTimeFormat(locale, fields); // before our era
const months = new Intl.DateTimeFormat(locale, { year: "numeric", month: "long", timeZone: "UTC" });

/** Spans counted in code points (Python) as spans in UTF-16 units (JavaScript), in order. */
export function unitSpans(text, spans) {
  return spans
    .map(({ start, end }) => ({ start: unitIndex(text, start), end: unitIndex(text, end) }))
    .sort((a, b) => a.start - b.start || a.end - b.end);
}

function unitIndex(text, codePoints) {
  let index = 0;
  for (let seen = 0; seen < codePoints && index < text.length; seen += 1) {
    index += text.codePointAt(index) > 0xffff ? 2 : 1;
  }
  return index;
}

/** The text from `start` to `end` as nodes, with whatever lies in `spans` marked. */
export function marked(text, spans, start = 0, end = text.length) {
  const nodes = [];
  let at = start;
  for (const span of spans) {
    const from = Math.max(span.start, at);
    const to = Math.min(span.end, end);
    if (from >= to) continue;
    nodes.push(text.slice(at, from), element("mark", {}, text.slice(from, to)));
    at = to;
  }
  return [...nodes, text.slice(at, end)];
}

/** `superseded_by` as `Superseded by`. */
export function heading(name) {
  const words = name.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** The title of the document of a passage, or its id in words if it is not among `titles`. */
export function titleOf(passageId, titles) {
  const id = passageId.slice(0, passageId.lastIndexOf(":"));
  return titles.get(id) ?? id.slice(id.indexOf(".") + 1).replaceAll("-", " ");
}

/** The status of a source that must not be read as good law, or an empty string. */
export function warningStatus(metadata) {
  const status = String(metadata?.status ?? "");
  return status.toLowerCase() === "current" ? "" : status;
}

/** A date as the reader's language writes it: a day or a month; what else it is stays as it is. */
export function dateWords(date) {
  if (/^-\d{4}-\d{2}-\d{2}$/.test(date ?? "")) return early.format(new Date(`-00${date.slice(1)}T00:00Z`));
  if (!/^\d{4}-\d{2}(-\d{2})?$/.test(date ?? "")) return date;
  const moment = new Date(`${date.padEnd(10, "-01")}T00:00Z`);
  if (Number.isNaN(moment.getTime())) return date;
  return (date.length === 10 ? days : months).format(moment);
}

/** The year in a date as its source writes it; without four digits all of it. */
export function yearIn(date) {
  return /\d{4}/.exec(date ?? "")?.[0] ?? date ?? "";
}

/** A year by its number, as ISO 8601 counts: 0 is 1 BC. */
export function yearWords(number) {
  if (number > 0) return number < 1000 ? say("page.yearAD", { year: String(number) }) : String(number);
  return say("page.yearBC", { year: String(1 - number) });
}

export function duration(milliseconds) {
  return milliseconds < 1000
    ? `${Math.round(milliseconds)} ms`
    : `${(milliseconds / 1000).toFixed(1)} s`;
}

/** `1 document`, `2 documents`. */
export function counted(number, noun, plural = `${noun}s`) {
  return `${number.toLocaleString("en")} ${number === 1 ? noun : plural}`;
}

// kinds of files that have pages; the text of others is one, unless marks divide it
const PAGED = new Set(["docx", "epub", "iiif", "odt", "pdf", "pptx", "rtf", "scan"]);

/** `s 10(1)` of a source that has such, else `p. xii`, or `col. 345` of one cited by columns; an
 * empty string of a passage whose text has no pages. */
export function shortPlace(place) {
  const { locator, page, printed_page: printed, metadata, passage_id: passage } = place;
  if (locator) return locator;
  const kind = metadata?.content_type;
  if (passage && page === 1 && !printed && kind && !PAGED.has(kind)) return "";
  const inColumns = String(metadata?.pages_are ?? "").startsWith("columns");
  return `${inColumns ? "col." : "p."} ${printed || page}`;
}

/** Adds to `shortPlace` the page of the file where another number is printed on it. */
export function fullPlace(passage) {
  const { locator, page, printed_page: printed } = passage;
  const differs = !locator && printed && printed !== String(page);
  return shortPlace(passage) + (differs ? ` (page ${page} of the file)` : "");
}

/** A line for above a text: the headings it stands under, and who speaks; null without either. The
 * title, which the first heading often repeats, stands above it already. */
export function contextLine({ title, section, speaker }) {
  const all = section ? section.split(" > ") : [];
  const headings = all.slice(all[0] === title ? 1 : 0).join(" › ");
  if (!headings && !speaker) return null;
  return element(
    "p",
    { class: "context" },
    headings ? element("span", { class: "headings" }, headings) : null,
    speaker ? element("span", { class: "speaker" }, speaker) : null,
  );
}

/** {toUnits, toPoints} for places in `text`; each is a search in the few characters of two units. */
export function offsetsOf(text) {
  const pairs = []; // where characters of two units begin
  for (const { index } of text.matchAll(/[\ud800-\udbff][\udc00-\udfff]/g)) pairs.push(index);
  const points = pairs.map((index, before) => index - before);
  return {
    toUnits: (point) => Math.min(text.length, point + countBefore(points, (each) => each < point)),
    toPoints: (unit) => unit - countBefore(pairs, (each) => each < unit),
  };
}

/** Counts the first of `items` for which `isBefore` holds; none behind them does. */
export function countBefore(items, isBefore) {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isBefore(items[middle])) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The last of `items`, ascending by `start`, that begins at `at` or before; undefined if none. */
export function lastBefore(items, at) {
  return items[countBefore(items, ({ start }) => start <= at) - 1];
}

/** A text without capitals and accents, to look words up in. */
export function plainLetters(text) {
  return text.normalize("NFD").replaceAll(/\p{M}/gu, "").toLowerCase();
}
