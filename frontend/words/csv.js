/** Tables as CSV (RFC 4180), in which no spreadsheet computes a cell. */

import { element } from "../dom.js";
import { actionButton } from "./parts.js";

// as the server's own CSV: what spreadsheets run as a formula, in any width
const FORMULA = /^'*\s*[=+\-@\t\r\n＝＋－＠]/;

/** A header and a row for each of `rows`; what is null is empty. */
export function csvText(columns, rows) {
  const lines = rows.map((row) => columns.map((name) => cell(row[name])).join(","));
  return [columns.map(cell).join(","), ...lines].map((line) => `${line}\r\n`).join("");
}

function cell(value) {
  const text = inert(value ?? "");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Numbers stay what they are; a text that would be a formula has an apostrophe before it. */
function inert(value) {
  if (typeof value !== "string") return String(value);
  return FORMULA.test(value) ? `'${value}` : value;
}

/** A button that makes a file `name`.csv of the rows that `load` gives. */
export function csvButton(text, name, columns, load) {
  return actionButton(text, async () => save(`${name}.csv`, csvText(columns, await load())));
}

function save(name, text) {
  // spreadsheets take a file without this mark for one of another encoding
  const content = new Blob(["\ufeff", text], { type: "text/csv;charset=utf-8" });
  const href = URL.createObjectURL(content);
  element("a", { href, download: name }).click();
  URL.revokeObjectURL(href);
}
