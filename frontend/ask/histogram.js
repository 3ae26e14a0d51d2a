/** Documents by their date, and a range of years over them that can be dragged. */

import { element } from "../dom.js";
import { grouped, say } from "../language.js";

const SVG = "http://www.w3.org/2000/svg";
const WIDTHS = [1, 10, 100, 1000]; // years of a bar
const MOST_BARS = 60;
const HEIGHT = 40;
const SETTLED = 400; // ms without a key, after which the range is taken

/** A histogram whose range `take` gets, {from, to} without an open end, or null for all years.
 *
 * It is taken when the handle is let go: while it moves, only the page itself is drawn.
 */
export function newHistogram(take) {
  const bars = document.createElementNS(SVG, "svg");
  const span = element("span", {});
  const without = element("p", { class: "hint" });
  const [low, high] = [slider("ask.firstYear"), slider("ask.lastYear")];
  const plot = element("div", { class: "plot" }, bars, low, high);
  const node = element(
    "div",
    { class: "histogram", role: "group", "aria-label": say("ask.years"), hidden: "" },
    element("div", { class: "span" }, element("strong", {}, say("ask.years")), span),
    plot,
    without,
  );
  let settling = null;
  let ends = null;

  function slider(key) {
    const input = element("input", { type: "range", step: "1", "aria-label": say(key) });
    input.addEventListener("input", () => moved(input));
    input.addEventListener("change", settle);
    return input;
  }

  function moved(input) {
    // one handle stops at the other
    if (input === low) low.value = Math.min(low.valueAsNumber, high.valueAsNumber);
    else high.value = Math.max(low.valueAsNumber, high.valueAsNumber);
    draw();
  }

  function draw() {
    const [from, to] = [low.valueAsNumber, high.valueAsNumber];
    const years = ends.last - ends.first + 1;
    plot.style.setProperty("--from", (from - ends.first) / years);
    plot.style.setProperty("--to", (to - ends.first + 1) / years);
    span.textContent = from === to ? String(from) : say("ask.range", { from: `${from}`, to: `${to}` });
    // both can lie at the end: the one that can still move is on top
    low.style.zIndex = from > (ends.first + ends.last) / 2 ? 2 : 1;
  }

  function settle() {
    clearTimeout(settling);
    settling = setTimeout(() => {
      const from = low.valueAsNumber > ends.first ? { from: year(low) } : {};
      const to = high.valueAsNumber < ends.last ? { to: year(high) } : {};
      const range = { ...from, ...to };
      take(Object.keys(range).length > 0 ? range : null);
    }, SETTLED);
  }

  /** Draws the counts of POST /api/facets, with the present filter of the date. */
  function show({ years, several_years: several, undated }, filter) {
    node.hidden = years.length === 0;
    if (years.length === 0) return;
    const width = widthOf(years);
    const first = Math.floor(years[0].year / width) * width;
    const last = Math.floor(years.at(-1).year / width) * width + width - 1;
    ends = { first, last };
    drawBars(bars, years, ends, width);
    for (const input of [low, high]) Object.assign(input, { min: first, max: last });
    low.value = within(filter?.from, first);
    high.value = within(filter?.to, last);
    without.textContent = said(several, undated);
    without.hidden = several + undated === 0;
    draw();
  }

  return { node, show };
}

function year(input) {
  return String(input.valueAsNumber).padStart(4, "0");
}

function within(end, otherwise) {
  const found = Number.parseInt(end ?? "", 10);
  return Number.isNaN(found) ? otherwise : found;
}

function widthOf(years) {
  const span = years.at(-1).year - years[0].year + 1;
  return WIDTHS.find((width) => span / width <= MOST_BARS) ?? WIDTHS.at(-1);
}

function drawBars(svg, years, { first, last }, width) {
  const counts = new Map();
  for (const { year: at, documents } of years) {
    const bar = Math.floor((at - first) / width);
    counts.set(bar, (counts.get(bar) ?? 0) + documents);
  }
  const number = (last - first + 1) / width;
  const most = Math.max(...counts.values());
  const drawn = Array.from(counts, ([at, documents]) => {
    const bar = document.createElementNS(SVG, "rect");
    const height = Math.max((documents / most) * HEIGHT, 1.5);
    const place = { x: at + 0.08, y: HEIGHT - height, width: 0.84, height };
    for (const [name, value] of Object.entries(place)) bar.setAttribute(name, value);
    return bar;
  });
  svg.setAttribute("viewBox", `0 0 ${number} ${HEIGHT}`);
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("role", "img");
  const [top] = [...counts.entries()].sort((a, b) => b[1] - a[1] || a[0] - b[0]);
  const from = first + top[0] * width;
  const when = width === 1 ? `${from}` : say("ask.range", { from: `${from}`, to: `${from + width - 1}` });
  svg.setAttribute("aria-label", say("ask.plotted", {
    first: String(first),
    last: String(last),
    when,
    documents: say("page.documents", { count: top[1] }),
  }));
  svg.replaceChildren(...drawn);
}

/** Of documents that no bar shows. */
function said(several, undated) {
  const parts = [
    several > 0 ? say("ask.severalYears", { documents: grouped(several) }) : null,
    undated > 0 ? say("ask.undated", { documents: grouped(undated) }) : null,
  ];
  return parts.filter(Boolean).join(" ");
}
