/** Tables as CSV (RFC 4180), in which no spreadsheet computes a cell. */

import { Problem } from "../api.js";
import { element } from "../dom.js";

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
  const alert = element("span", { role: "alert" });
  const button = element("button", { type: "button" }, text);
  button.addEventListener("click", async () => {
    button.disabled = true;
    alert.textContent = "";
    try {
      save(`${name}.csv`, csvText(columns, await load()));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      alert.textContent = error.message;
    } finally {
      button.disabled = false;
    }
  });
  return element("span", { class: "csv" }, button, alert);
}

function save(name, text) {
  // spreadsheets take a file without this mark for one of another encoding
  const content = new Blob(["\ufeff", text], { type: "text/csv;charset=utf-8" });
  const href = URL.createObjectURL(content);
  element("a", { href, download: name }).click();
  URL.revokeObjectURL(href);
}
