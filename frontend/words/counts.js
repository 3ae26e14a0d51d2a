/** Hits by year or decade, by corpus or by a metadata field: drawn, and as a table. */

import { fieldName } from "../ask/fields.js";
import { chart, MOST_SERIES } from "../charts/chart.js";
import { disclosure, element, linkButton } from "../dom.js";
import { say } from "../language.js";
import { askButton, isTime, pointName, pointOf, valueName } from "./ask_about.js";
import { formOf, queriesOf, wordsOf } from "./counting.js";
import { rateOf, totals } from "../parts.js";
import { csvButton, sortable } from "./table.js";

const COLUMNS = [
  ...["value", "corpus", "hits", "per_million", "words", "documents", "of_documents"],
  ...["passages", "of_passages"],
];

const MANY_YEARS = 60; // that are drawn as decades, unless the reader chooses years

/** {summary, nodes} of the trend of every query. */
export async function trends(state, tools) {
  let found = await trendsBy(state.unit === "auto" ? "year" : state.unit, state, tools);
  const years = new Set(found[0].cells.map(({ value }) => value));
  if (state.unit === "auto" && years.size > MANY_YEARS) found = await trendsBy("decade", state, tools);
  const [{ by }] = found;
  const cells = found.flatMap(({ query, ...each }) => each.cells.map((cell) => ({ ...cell, query })));
  const open = (cell) => tools.go({ tab: "lines", query: cell.query, point: pointOf(by, cell) });
  const dated = cells.filter((cell) => cell.value !== null);
  const undated = cells.filter((cell) => cell.value === null && cell.hits > 0);
  const left = found.reduce((sum, each) => sum + each.cells_left_out, 0);
  const table = { by, cells, cells_left_out: left };
  const nodes = [
    ...drawing(dated, state.per, { ...tools, open }),
    ...undated.map((cell) => undatedNote(cell, found.length > 1, { ...tools, open })),
    disclosure(
      say("charts.table"),
      { class: "data" },
      cellTable(table, { ...tools, open, name: "trend", asking: askButton(state, tools) }),
    ),
  ];
  return { summary: found.length > 1 ? querySummary(found) : countSummary(found[0]), nodes };
}

/** The counts of every query; a problem of one has its place in the whole text. */
function trendsBy(by, state, { count }) {
  const asked = queriesOf(state.query).map(async ({ text, start }) => {
    try {
      return await count("trends", { ...formOf(state), query: text, by, by_corpus: state.byCorpus });
    } catch (error) {
      if (error.character) error.character += start;
      throw error;
    }
  });
  return Promise.all(asked);
}

function drawing(cells, per, { open, label }) {
  if (cells.length === 0) return [element("p", { class: "notice" }, say("charts.none"))];
  const labels = [...new Set(cells.map(({ value }) => value))];
  const query = [...new Set(cells.map((cell) => cell.query))].join(", ");
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

/** A series for each query and corpus; its `cells` are in the order of `labels`. */
function seriesOf(cells, labels, per, label) {
  const queries = [...new Set(cells.map(({ query }) => query))];
  const corpora = [...new Set(cells.map(({ corpus }) => corpus))];
  const pairs = queries.flatMap((query) => corpora.map((corpus) => ({ query, corpus })));
  return pairs.map(({ query, corpus }) => {
    const all = cells.filter((cell) => cell.query === query && cell.corpus === corpus);
    const own = new Map(all.map((cell) => [cell.value, cell]));
    const ordered = labels.map((value) => own.get(value) ?? { ...emptyCell(value, corpus), query });
    return {
      name: nameOf({ query, corpus }, queries.length > 1, label) || say("ask.all"),
      cells: ordered,
      values: ordered.map((cell) => (per === "million" ? cell.per_million : cell.hits)),
    };
  });
}

/** Tells a series from the others; empty if there is but one. */
function nameOf({ query, corpus }, several, label) {
  return [...(several ? [query] : []), ...(corpus === null ? [] : [label(corpus)])].join(" · ");
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

function undatedNote(cell, several, { open, label }) {
  const said = say("words.undatedHits", {
    hits: say("words.hits", { count: cell.hits }),
    documents: say("page.documents", { count: cell.documents }),
  });
  const of = nameOf(cell, several, label);
  const name = valueName("year", null, label);
  const button = linkButton(say("words.openLines", { label: name }), () => open(cell));
  return hint(of === "" ? "" : `${of}: `, `${said} `, button);
}

function hint(...nodes) {
  return element("p", { class: "hint" }, ...nodes);
}

/** {summary, nodes} of the counts by a field. */
export async function distribution(state, tools) {
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
  const several = new Set(cells.map(({ query }) => query)).size > 1;
  const head = isTime(by) ? say(`words.${by}`) : fieldName(by);
  const [ofTime, ofHits] = isTime(by) ? ["ascending"] : [undefined, "descending"];
  const hits = { head: say("words.hitsHead"), hint: say("words.hitsMeans") };
  const rate = { head: say("words.rateHead"), hint: say("words.rateMeans") };
  const columns = [
    { head, cell: opener, sort: ({ value }) => value ?? "", order: ofTime },
    ...(several ? [{ head: say("words.queryHead"), cell: ({ query }) => query }] : []),
    ...(split ? [{ head: say("ask.field_corpus"), cell: ({ corpus }) => label(corpus) }] : []),
    { ...hits, number: (cell) => cell.hits, order: ofHits },
    { ...rate, number: (cell) => cell.per_million, written: rateOf },
    { head: say("words.documentsHead"), number: ({ documents }) => documents },
    { head: say("words.ofHead"), number: (cell) => cell.of_documents },
    { head: say("words.passagesHead"), number: ({ passages }) => passages },
    { head: say("words.wordsHead"), number: ({ words }) => words },
  ];

  function opener(cell) {
    const text = valueName(by, cell.value, label);
    if (!cell.hits) return text;
    const named = say("words.openLines", { label: pointName(pointOf(by, cell), label) });
    return linkButton(text, () => open(cell), { "aria-label": named });
  }

  const text = say("words.leftOut", { count: leftOut });
  const more = leftOut > 0 ? element("p", { class: "hint" }, text) : null;
  const named = several ? ["query", ...COLUMNS] : COLUMNS;
  const file = csvButton(say("words.csv"), name, named, async () => cells);
  const bar = element("div", { class: "words-bar" }, file, asking);
  return element("div", { class: "cells" }, sortable(columns, cells), more, bar);
}

/** The totals of several trends, as nodes. */
function querySummary(found) {
  const each = found.map(({ query, total }) => {
    const hits = say("words.hits", { count: total.hits ?? 0 });
    return say("words.queryTotal", { query, hits, rate: rateOf(total.per_million ?? 0) });
  });
  return [each.join(" · ")];
}

/** The total of a trend, or of counts by a field, as nodes. */
function countSummary({ total }) {
  return [`${totals(total).join(". ")}.`];
}
