/** Tables whose columns can be sorted, and tables as CSV (RFC 4180), in which no spreadsheet
 * computes a cell. */

import { element, plainButton } from "../dom.js";
import { grouped, language, say } from "../language.js";
import { actionButton, download, textFile } from "../parts.js";

const order = new Intl.Collator(language, { numeric: true });
// as the server's own CSV: what spreadsheets run as a formula, in any width
const FORMULA = /^'*\s*[=+\-@\t\r\n＝＋－＠]/;

/** The table of `rows`; a column is {head, cell or number, written, sort, hint, order}.
 *
 * `cell` gives a node or a text, `number` a figure that is written with `written`; what is null is
 * said to be no text. A click on a head sorts by it, the highest figure first, another turns it;
 * `order` is that of the rows as they are given. A line above the table has the `hint` of the head
 * that is pointed at or has the focus, else of the one that is sorted by.
 */
export function sortable(columns, rows) {
  const body = element("tbody", {});
  const heads = columns.map((column) => headOf(column, () => sort(column)));
  const hint = element("p", { class: "hint table-hint", "aria-hidden": "true" });
  let sorted = null;

  function show(column, down) {
    sorted = { column, down };
    for (const [index, head] of heads.entries()) {
      if (columns[index] === column) head.setAttribute("aria-sort", down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    }
  }

  function explain(column) {
    hint.textContent = column?.hint ? `${column.head}: ${column.hint}` : "";
  }

  function sort(column) {
    const again = sorted?.column === column;
    const down = again ? !sorted.down : column.number !== undefined;
    show(column, down);
    const value = column.number ?? column.sort ?? column.cell;
    const turn = down ? -1 : 1;
    fill(rows.toSorted((a, b) => turn * compare(value(a), value(b))));
  }

  function fill(ordered) {
    body.replaceChildren(...ordered.map((row) => rowOf(columns, row)));
  }

  const given = columns.find(({ order }) => order);
  if (given) show(given, given.order === "descending");
  explain(given);
  for (const [index, head] of heads.entries()) {
    for (const event of ["pointerenter", "focusin"]) head.addEventListener(event, () => explain(columns[index]));
    for (const event of ["pointerleave", "focusout"]) head.addEventListener(event, () => explain(sorted?.column));
  }
  fill(rows);
  const head = element("thead", {}, element("tr", {}, ...heads));
  // it scrolls sideways on its own, and so must be reached by keyboard
  const scroller = { class: "table", tabindex: "0", role: "group", "aria-label": columns[0].head };
  const table = element("div", scroller, element("table", {}, head, body));
  return columns.some((column) => column.hint) ? element("div", {}, hint, table) : table;
}

function headOf({ head, number, hint }, sort) {
  const kind = number === undefined ? {} : { class: "number" };
  const means = hint ? { "aria-description": hint } : {};
  return element("th", { scope: "col", ...kind }, plainButton(head, sort, means));
}

function rowOf(columns, row) {
  const cells = columns.map(({ cell, number, written = grouped }, index) => {
    if (index === 0) return element("th", { scope: "row" }, cell(row));
    if (number === undefined) return element("td", {}, cell(row));
    const value = number(row);
    return element("td", { class: "number" }, value === null ? say("charts.gap") : written(value));
  });
  return element("tr", {}, ...cells);
}

/** Compares values; null comes last of all where the highest is first. */
function compare(a, b) {
  if (typeof a === "string") return order.compare(a, b);
  return (a ?? -Infinity) - (b ?? -Infinity);
}

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
  return actionButton(text, async () => {
    // spreadsheets take a file without this mark for one of another encoding
    download(textFile(`${name}.csv`, "text/csv", `\ufeff${csvText(columns, await load())}`));
  });
}
