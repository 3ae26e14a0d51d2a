/** Figures over time as a drawing: columns of one series, lines of several. A table goes with it. */

import { element, svg } from "../dom.js";
import { grouped, language, say } from "../language.js";

/** As many as can be told apart; `charts.css` has a colour and a pattern of dashes for each. */
export const MOST_SERIES = 8;

const HEIGHT = 240;
const MARGIN = { top: 12, right: 12, bottom: 28, left: 52 };
const LABEL = { letter: 7, room: 21 }; // widths
const FEWEST_TICKS = 4;
const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]; // years between labels
const GAP = 7; // height of what marks one
const GAP_LOOK = { class: "chart-gap", fill: "url(#chart-hatch)" };
const MARKER = 4; // half the height of one

/** A chart of `series`, each {name, values}, over `labels`; a value of null is a gap.
 *
 * `describe(index, series)` says a point in words, `pick(index, series)` is called for one that is
 * chosen with the mouse or the keyboard; `gap` says what a gap is.
 */
export function chart({ title, labels, series, describe, pick, gap = say("charts.gap") }) {
  const hasGaps = labels.some((_, index) => series.every(({ values }) => values[index] === null));
  const legend = series.length > 1 || hasGaps ? legendOf(series, hasGaps ? gap : null) : null;
  const said = element("output", { class: "chart-said" }, say("charts.keys"));
  const board = element("div", { class: "chart-board", role: "group", tabindex: "0" });
  board.setAttribute("aria-label", `${title}. ${say("charts.keys")}`);
  const figure = element("figure", { class: "chart" }, board, legend, said);
  let plot = null;
  let at = null; // {index, which}

  function draw() {
    const width = Math.max(Math.floor(board.clientWidth), 200);
    plot = plotOf(width, labels, series);
    board.replaceChildren(plot.drawing);
    if (at !== null) plot.show(at);
  }

  function go(point) {
    at = point;
    plot.show(point);
    said.textContent = describe(point.index, point.which);
  }

  function key(event) {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (event.key === "Enter" && at !== null) return pick(at.index, at.which);
    const ends = { Home: 0, End: labels.length - 1 };
    if (!Object.hasOwn(step, event.key) && !Object.hasOwn(ends, event.key)) return;
    event.preventDefault();
    const { index, which } = at ?? { index: -1, which: 0 }; // the first arrow goes to the first
    const [across, along] = step[event.key] ?? [0, 0];
    const to = clamp(ends[event.key] ?? index + across, labels.length);
    go({ index: to, which: clamp(which + along, series.length) });
  }

  board.addEventListener("keydown", key);
  board.addEventListener("pointermove", (event) => go(plot.nearest(event)));
  board.addEventListener("click", (event) => {
    go(plot.nearest(event));
    pick(at.index, at.which);
  });
  new ResizeObserver(draw).observe(board);
  return figure;
}

function clamp(index, length) {
  return Math.min(Math.max(index, 0), length - 1);
}

/** The drawing at a width, what shows a point in it, and what finds the one under the pointer. */
function plotOf(width, labels, series) {
  const inner = { width: width - MARGIN.left - MARGIN.right };
  inner.height = HEIGHT - MARGIN.top - MARGIN.bottom;
  const highest = Math.max(0, ...series.flatMap(({ values }) => values.map((value) => value ?? 0)));
  const ticks = ticksTo(highest);
  const top = ticks.at(-1);
  const slot = inner.width / labels.length;
  const x = (index) => MARGIN.left + slot * (index + 0.5);
  const y = (value) => MARGIN.top + inner.height * (1 - value / top);
  const scale = { x, y, slot, floor: y(0) };
  const drawn = series.length === 1 ? columns(series[0], scale) : series.flatMap(lineOf(scale));
  const here = svg("g", { class: "chart-here" });
  const drawing = svg(
    "svg",
    { width, height: HEIGHT, viewBox: `0 0 ${width} ${HEIGHT}`, "aria-hidden": "true" },
    ...ticks.map((tick) => gridLine(tick, y(tick), width)),
    hatching(),
    ...gaps(series, scale),
    ...labelsBelow(labels, scale, inner.width),
    ...drawn,
    here,
  );

  function show({ index, which }) {
    const value = series[which].values[index];
    const line = { x1: x(index), x2: x(index), y1: MARGIN.top, y2: scale.floor };
    const mark = value === null ? [] : [svg("circle", { cx: x(index), cy: y(value), r: 7 })];
    here.replaceChildren(svg("line", line), ...mark);
  }

  function nearest({ clientX, clientY }) {
    const { left, top: above } = drawing.getBoundingClientRect();
    const index = clamp(Math.floor((clientX - left - MARGIN.left) / slot), labels.length);
    const distance = ({ values }) =>
      values[index] === null ? Infinity : Math.abs(y(values[index]) - (clientY - above));
    const distances = series.map(distance);
    return { index, which: Math.max(distances.indexOf(Math.min(...distances)), 0) };
  }

  return { drawing, show, nearest };
}

/** Round numbers from 0 to at least `highest`. */
function ticksTo(highest) {
  if (highest <= 0) return [0, 1];
  const rough = highest / FEWEST_TICKS;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough);
  const count = Math.ceil(highest / step);
  return Array.from({ length: count + 1 }, (_, number) => Number((number * step).toPrecision(12)));
}

const short = new Intl.NumberFormat(language, { notation: "compact", maximumFractionDigits: 1 });

function gridLine(tick, height, width) {
  const line = { x1: MARGIN.left, x2: width - MARGIN.right, y1: height, y2: height };
  const text = { x: MARGIN.left - 8, y: height + 4, "text-anchor": "end" };
  const written = tick >= 10_000 ? short.format(tick) : grouped(tick);
  return svg("g", { class: "chart-grid" }, svg("line", line), svg("text", text, written));
}

/** As many labels as there is room for: round years, or every so many. */
function labelsBelow(labels, { x, floor }, width) {
  const longest = Math.max(...labels.map(({ length }) => length));
  const room = Math.max(Math.floor(width / (longest * LABEL.letter + LABEL.room)), 1);
  const years = labels.map((label) => Number.parseInt(/\d+/.exec(label), 10));
  const span = Math.abs(years[1] - years[0]) * labels.length;
  const step = STEPS.find((size) => span / size <= room) ?? STEPS.at(-1);
  return labels.flatMap((label, index) => {
    if (years[index] % step !== 0 && labels.length > room) return [];
    const attributes = { x: x(index), y: floor + 18, "text-anchor": "middle", class: "chart-label" };
    return [svg("text", attributes, label)];
  });
}

/** Hatches what has no figure in any series, runs of it together, so that it is no zero. */
function gaps(series, { x, slot, floor }) {
  const [{ values }] = series;
  const empty = values.map((_, index) => series.every((each) => each.values[index] === null));
  const starts = empty.flatMap((is, index) => (is && !empty[index - 1] ? [index] : []));
  return starts.map((start) => {
    const end = empty.findIndex((is, index) => index > start && !is);
    const width = slot * ((end < 0 ? empty.length : end) - start);
    const left = x(start) - slot / 2;
    return svg("rect", { ...GAP_LOOK, x: left, y: floor - GAP, width, height: GAP });
  });
}

/** The pattern that gaps are filled with. */
function hatching() {
  const line = svg("path", { d: "M0 4L4 0M-1 1L1 -1M3 5L5 3" });
  const size = { width: 4, height: 4, patternUnits: "userSpaceOnUse" };
  return svg("defs", {}, svg("pattern", { id: "chart-hatch", ...size }, line));
}

function columns({ values }, { x, y, slot, floor }) {
  const width = Math.max(Math.min(slot * 0.8, 40), 1);
  return values.flatMap((value, index) => {
    if (value === null) return [];
    const height = Math.max(floor - y(value), value > 0 ? 1 : 0);
    const box = { x: x(index) - width / 2, y: floor - height, width, height };
    return [svg("rect", { class: "chart-column", ...box })];
  });
}

/** A line that stops where there is no figure, with a marker at each that there is. */
function lineOf({ x, y }) {
  return ({ values }, which) => {
    const points = values.map((value, index) => (value === null ? null : [x(index), y(value)]));
    const path = points.map((point, index) => {
      if (point === null) return "";
      return `${index > 0 && points[index - 1] !== null ? "L" : "M"}${point.join(" ")}`;
    });
    const kind = `chart-series series-${which % MOST_SERIES}`;
    const markers = points.filter((point) => point !== null).map((point) => marker(which, ...point));
    return [svg("g", { class: kind }, svg("path", { d: path.join("") || "M0 0" }), ...markers)];
  };
}

function marker(which, x, y) {
  const r = MARKER;
  const shapes = {
    circle: `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z`,
    square: `M${x - r} ${y - r}h${2 * r}v${2 * r}h${-2 * r}Z`,
    triangle: `M${x} ${y - r}L${x + r} ${y + r}H${x - r}Z`,
    diamond: `M${x} ${y - r - 1}L${x + r + 1} ${y}L${x} ${y + r + 1}L${x - r - 1} ${y}Z`,
    cross: `M${x - r} ${y - r}L${x + r} ${y + r}M${x + r} ${y - r}L${x - r} ${y + r}`,
    plus: `M${x} ${y - r}V${y + r}M${x - r} ${y}H${x + r}`,
    down: `M${x} ${y + r}L${x + r} ${y - r}H${x - r}Z`,
    bar: `M${x - r} ${y}H${x + r}`,
  };
  return svg("path", { class: "chart-marker", d: Object.values(shapes)[which % MOST_SERIES] });
}

function legendOf(series, gap) {
  const named = series.length > 1 ? series : [];
  const items = named.map(({ name }, which) => {
    const line = svg("line", { x1: 0, x2: 32, y1: 8, y2: 8 });
    const kind = `chart-series series-${which % MOST_SERIES}`;
    const key = svg("svg", { class: kind, width: 32, height: 16, "aria-hidden": "true" });
    key.append(line, marker(which, 16, 8));
    return element("li", {}, key, name);
  });
  if (gap !== null) {
    const key = svg("svg", { width: 32, height: GAP, "aria-hidden": "true" });
    key.append(svg("rect", { ...GAP_LOOK, x: 0, y: 0, width: 32, height: GAP }));
    items.push(element("li", {}, key, gap));
  }
  return element("ul", { class: "chart-legend" }, ...items);
}
