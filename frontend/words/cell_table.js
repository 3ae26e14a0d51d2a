/** The cells of a trend, or of counts by a field, as a table. */

import { element } from "../dom.js";
import { say } from "../language.js";
import { csvButton } from "./csv.js";
import { rateOf } from "./parts.js";
import { pointName, pointOf, valueName } from "./points.js";
import { sortable } from "./table.js";

const COLUMNS = [
  ...["value", "corpus", "hits", "per_million", "words", "documents", "of_documents"],
  ...["passages", "of_passages"],
];

/** The table with its file; the value of a row opens its lines. */
export function cellTable({ by, cells, cells_left_out: leftOut }, { open, label, name, asking }) {
  const split = by !== "corpus" && cells.some(({ corpus }) => corpus !== null);
  const columns = [
    { head: say("words.value"), cell: (cell) => opener(cell), sort: ({ value }) => value ?? "" },
    ...(split ? [{ head: say("words.corpus"), cell: ({ corpus }) => label(corpus) }] : []),
    { head: say("words.hitsHead"), number: ({ hits }) => hits },
    { head: say("words.rateHead"), number: (cell) => cell.per_million, written: rateOf },
    { head: say("words.documentsHead"), number: ({ documents }) => documents },
    { head: say("words.ofHead"), number: (cell) => cell.of_documents },
    { head: say("words.passagesHead"), number: ({ passages }) => passages },
    { head: say("words.wordsHead"), number: ({ words }) => words },
  ];

  function opener(cell) {
    const text = valueName(by, cell.value, label);
    if (!cell.hits) return text;
    const named = say("words.openLines", { label: pointName(pointOf(by, cell), label) });
    const button = { type: "button", class: "link", "aria-label": named };
    return element("button", { ...button, onclick: () => open(cell) }, text);
  }

  const text = say("words.leftOut", { count: leftOut });
  const more = leftOut > 0 ? element("p", { class: "hint" }, text) : null;
  const file = csvButton(say("words.csv"), name, COLUMNS, async () => cells);
  const bar = element("div", { class: "words-bar" }, file, asking);
  return element("div", { class: "cells" }, sortable(columns, cells), more, bar);
}
