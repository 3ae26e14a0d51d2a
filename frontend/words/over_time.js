/** Hits by year or decade, drawn and as a table; a point opens the lines behind it. */

import { chart, MOST_SERIES } from "../charts/chart.js";
import { element } from "../dom.js";
import { say } from "../language.js";
import { askButton } from "./ask_about.js";
import { cellTable } from "./cell_table.js";
import { wordsOf } from "./counting.js";
import { rateOf } from "./parts.js";
import { pointOf, valueName } from "./points.js";
import { countSummary } from "./summary.js";

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
