/** Hits by year or decade, by corpus or by a metadata field: drawn, and as a table. */

import { chart, MOST_SERIES } from "../charts/chart.js";
import { element } from "../dom.js";
import { say } from "../language.js";
import { askButton, pointName, pointOf, valueName } from "./ask_about.js";
import { wordsOf } from "./counting.js";
import { rateOf } from "./parts.js";
import { csvButton, sortable } from "./table.js";

const COLUMNS = [
  ...["value", "corpus", "hits", "per_million", "words", "documents", "of_documents"],
  ...["passages", "of_passages"],
];

/** {summary, nodes} of the trend. */
export async function overTime(state, tools) {
  const { unit, byCorpus, per } = state;
  const found = await tools.count("trends", { ...wordsOf(state), by: unit, by_corpus: byCorpus });
  const open = (cell) => tools.go({ tab: "lines", point: pointOf(unit, cell) });
  const dated = found.cells.filter((cell) => cell.value !== null);
  const undated = found.cells.filter((cell) => cell.value === null && cell.hits > 0);
  const nodes = [
    ...drawing(dated, found, per, state, { ...tools, open }),
    ...undated.map((cell) => undatedNote(cell, { ...tools, open })),
    element(
      "details",
      { class: "data" },
      element("summary", {}, say("charts.table")),
      cellTable(found, { ...tools, open, name: "trend", asking: askButton(state, tools) }),
    ),
  ];
  return { summary: countSummary(found), nodes };
}

function drawing(cells, { query }, per, state, { open, label }) {
  if (cells.length === 0) return [element("p", { class: "notice" }, say("charts.none"))];
  const labels = [...new Set(cells.map(({ value }) => value))];
  const all = seriesOf(cells, labels, per, label);
  const highest = (series) => Math.max(...series.values.map((value) => value ?? 0));
  const drawn = all.toSorted((a, b) => highest(b) - highest(a)).slice(0, MOST_SERIES);
  const series = all.filter((each) => drawn.includes(each));
  const title = per === "million" ? "words.chartMillion" : "words.chart";
  const figure = chart({
    title: say(title, { query }),
    labels,
    series,
    describe: (index, which) => describe(series[which], labels[index], index),
    pick: (index, which) => open(series[which].cells[index]),
  });
  const some = { drawn: series.length, all: all.length };
  return [
    hint(say(title, { query })),
    figure,
    ...(drawn.length < all.length ? [hint(say("charts.someDrawn", some))] : []),
  ];
}

/** A series for each corpus, or one; `cells` are those of its values in the order of `labels`. */
function seriesOf(cells, labels, per, label) {
  const corpora = [...new Set(cells.map(({ corpus }) => corpus))];
  return corpora.map((corpus) => {
    const own = new Map(cells.filter((cell) => cell.corpus === corpus).map((c) => [c.value, c]));
    const ordered = labels.map((value) => own.get(value) ?? emptyCell(value, corpus));
    return {
      name: corpus === null ? say("ask.all") : label(corpus),
      cells: ordered,
      values: ordered.map((cell) => (per === "million" ? cell.per_million : cell.hits)),
    };
  });
}

function emptyCell(value, corpus) {
  const nothing = { hits: null, per_million: null, documents: 0, of_documents: 0, filters: null };
  return { value, corpus, ...nothing };
}

function describe({ name, cells }, value, index) {
  const cell = cells[index];
  if (cell.hits === null) return say("words.pointGap", { label: name, value });
  return say("words.point", {
    label: name,
    value,
    hits: say("words.hits", { count: cell.hits }),
    documents: say("page.documents", { count: cell.documents }),
    all: cell.of_documents,
    rate: rateOf(cell.per_million),
  });
}

function undatedNote(cell, { open, label }) {
  const said = say("words.undatedHits", {
    hits: say("words.hits", { count: cell.hits }),
    documents: say("page.documents", { count: cell.documents }),
  });
  const text = [...(cell.corpus ? [`${label(cell.corpus)}: `] : []), said, " "].join("");
  const name = valueName("year", null, label);
  const button = { type: "button", class: "link", onclick: () => open(cell) };
  return hint(text, element("button", button, say("words.openLines", { label: name })));
}

function hint(...nodes) {
  return element("p", { class: "hint" }, ...nodes);
}

/** {summary, nodes} of the counts. */
export async function byField(state, tools) {
  const { field } = state;
  const found = await tools.count("counts", { ...wordsOf(state), by: field });
  const open = (cell) => tools.go({ tab: "lines", point: pointOf(field, cell) });
  return {
    summary: countSummary(found),
    nodes: [cellTable(found, { ...tools, open, name: "counts", asking: askButton(state, tools) })],
  };
}

/** The table with its file; the value of a row opens its lines. */
function cellTable({ by, cells, cells_left_out: leftOut }, { open, label, name, asking }) {
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

/** The total of a trend, or of counts by a field, as nodes. */
function countSummary({ total }) {
  const said = say("words.summary", {
    hits: say("words.hits", { count: total.hits ?? 0 }),
    documents: say("page.documents", { count: total.documents }),
    passages: say("page.passages", { count: total.passages }),
    words: say("words.wordCount", { count: total.words }),
  });
  const rate = total.hits ? ` ${say("words.rate", { rate: rateOf(total.per_million) })}.` : "";
  return [`${said}.${rate}`];
}
