/** Documents by year or decade, and the years that have none. */

import { chart } from "../charts/chart.js";
import { element } from "../dom.js";
import { say } from "../language.js";
import { sortable } from "../words/table.js";

const UNITS = { year: 1, decade: 10 };
const MOST_BARS = 120; // years; more are drawn by decade at first

/** The nodes; `narrow({from, to, label})` is called with the time of a bar that is chosen. */
export function documentsOverTime({ years, corpora }, narrow) {
  if (years.length === 0) return [element("p", { class: "hint" }, say("charts.none"))];
  const span = Number(years.at(-1).year) - Number(years[0].year);
  const unit = select("about-unit", Object.keys(UNITS).map((name) => [name, say(`words.${name}`)]));
  unit.value = span > MOST_BARS ? "decade" : "year";
  const every = [["", say("about.every")], ...corpora.map(({ id, label }) => [id, label])];
  const corpus = select("about-time-corpus", every);
  const drawing = element("div", {});

  function draw() {
    const own = years.filter((each) => corpus.value === "" || each.corpus === corpus.value);
    const label = corpus.selectedOptions[0].textContent;
    drawing.replaceChildren(...drawn(own, UNITS[unit.value], unit.value, label, narrow));
  }

  for (const control of [unit, corpus]) control.addEventListener("change", draw);
  draw();
  const chosen = element("div", { class: "words-bar" }, labelled("words.unit", unit), labelled("about.of", corpus));
  return [chosen, drawing, element("p", { class: "hint" }, say("about.manyYears"))];
}

function select(id, choices) {
  const options = choices.map(([value, text]) => element("option", { value }, text));
  return element("select", { id }, ...options);
}

function labelled(key, control) {
  const label = element("label", { for: control.id }, say(key));
  return element("div", { class: "chooser" }, label, control);
}

function drawn(years, size, unit, label, narrow) {
  if (years.length === 0) return [element("p", { class: "hint" }, say("charts.none"))];
  const counts = new Map();
  for (const { year, documents } of years) {
    const start = Math.floor(Number(year) / size) * size;
    counts.set(start, (counts.get(start) ?? 0) + documents);
  }
  const [first, last] = [Math.min(...counts.keys()), Math.max(...counts.keys())];
  const starts = Array.from({ length: (last - first) / size + 1 }, (_, at) => first + at * size);
  const values = starts.map((start) => counts.get(start) ?? null);
  const labels = starts.map((start) => `${String(start).padStart(4, "0")}${size > 1 ? "s" : ""}`);
  const figure = chart({
    title: say("about.chart", { unit: say(`words.${unit}`).toLowerCase() }),
    gap: say("about.noDocument"),
    labels,
    series: [{ name: label, values }],
    describe: (index) => described(label, labels[index], values[index]),
    pick: (index) =>
      narrow({ label: labels[index], from: yearOf(starts[index]), to: yearOf(starts[index] + size - 1) }),
  });
  return [figure, missing(years), tableOf(labels, values)];
}

function yearOf(number) {
  return String(number).padStart(4, "0");
}

function described(label, value, count) {
  if (count === null) return say("about.barNone", { label, value });
  return say("about.bar", { label, value, documents: say("page.documents", { count }) });
}

function tableOf(labels, values) {
  const rows = labels.map((label, index) => ({ label, documents: values[index] ?? 0 }));
  const columns = [
    { head: say("about.date"), cell: ({ label }) => label },
    { head: say("about.documents"), number: ({ documents }) => documents },
  ];
  const summary = element("summary", {}, say("charts.table"));
  return element("details", { class: "data" }, summary, sortable(columns, rows));
}

/** The years without a document between the first and the last, as runs. */
function missing(years) {
  const known = new Set(years.map(({ year }) => Number(year)));
  const [first, last] = [Math.min(...known), Math.max(...known)];
  const without = [];
  for (let year = first; year <= last; year += 1) if (!known.has(year)) without.push(year);
  const span = { first: yearOf(first), last: yearOf(last) };
  if (without.length === 0) return element("p", {}, say("about.noGaps", span));
  const runs = [];
  for (const year of without) {
    const run = runs.at(-1);
    if (run && run[1] === year - 1) run[1] = year;
    else runs.push([year, year]);
  }
  const written = runs.map(([from, to]) => (from === to ? yearOf(from) : `${yearOf(from)}–${yearOf(to)}`));
  return element("p", {}, say("about.gaps", { count: without.length, ...span, years: written.join(", ") }));
}
