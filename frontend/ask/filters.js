/** Filters beside the corpora: chosen values as chips, a range of years beside a histogram, and a
 * folded section to choose other values, with how many documents each would leave. */

import { messageOf, sendJson } from "../api.js";
import { at as place, disclosure, element, linkButton, svg, withLabel } from "../dom.js";
import { grouped, language, say } from "../language.js";
import { yearWords } from "../text.js";
import { fieldName, filterOf, isRange, rangeName, valueName, valuesOf } from "./fields.js";
import { changeScope, chosenScope, onScopeChange, setFilter } from "./scope.js";

const PAUSE = 250; // ms without a change, after which counts are asked for
const UNFOLDED = 8; // values of a field that are shown at once
const PLAIN = ["title", "url", "source", "identifier"]; // belong to one document alone
const DATE = "date";
const MOST_OF_A_FIELD = 12; // values with a chip each; more have one together
const WIDTHS = [1, 10, 100, 1000]; // years of a bar
const EARLIEST = "-9998"; // year; those before our era are below 1
const MOST_BARS = 60;
const HEIGHT = 40;

/** Puts all of it into the page; `catalogue` is what GET /api/corpora says. */
export function offerFilters({ filter_fields: fields }) {
  const chosen = chipList();
  const counts = element("p", { class: "hint", role: "status" });
  const groups = element("div", {});
  const years = newYears((range) => setFilter(DATE, range));
  const folded = disclosure(say("ask.filters"), { class: "filters" }, counts, groups, headingField());
  const offered = Object.keys(fields).filter((name) => isOffered(name, fields[name]));
  const opened = new Set();
  let waiting = null;
  let asked = 0;

  async function load() {
    const now = ++asked;
    const body = { ...chosenScope(), fields: folded.open ? offered : false };
    try {
      const found = await sendJson("POST", "api/facets", body);
      if (now === asked) show(found);
    } catch (error) {
      const message = messageOf(error);
      if (now === asked) counts.textContent = message;
    }
  }

  function show({ documents, passages, fields: found, dates }) {
    counts.textContent = say("ask.leaves", {
      documents: say("page.documents", { count: documents }),
      passages: say("page.passages", { count: passages }),
    });
    years.show(dates, chosenScope().filters?.[DATE]);
    if (!folded.open) return;
    const focused = document.activeElement?.id;
    groups.replaceChildren(...Object.entries(found).map(([name, values]) => group(name, values)));
    if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
  }

  function group(name, { values, left_out: more }) {
    const field = filterOf(name);
    const ticked = new Set(valuesOf(chosenScope().filters?.[field]));
    const listed = values.map(({ value, documents }, at) => {
      const tick = element("input", { type: "checkbox", id: `facet-${name}-${at}` });
      tick.checked = ticked.has(value);
      tick.addEventListener("change", () => toggle(field, value, tick.checked));
      const label = `${valueName(name, value)} `;
      const count = element("span", { class: "place" }, say("ask.count", { count: documents }));
      return element("label", { class: "choice" }, tick, element("span", {}, label, count));
    });
    const rest = listed.slice(UNFOLDED);
    const left = more > 0 ? element("p", { class: "hint" }, say("ask.rarer", { count: more })) : null;
    const words = say("ask.moreValues", { count: rest.length });
    const behind = rest.length > 0 ? part("more", `facet-${name}-more`, words, ...rest, left) : null;
    return part("facet", `facet-${name}`, fieldName(name), ...listed.slice(0, UNFOLDED), behind);
  }

  /** A part that stays unfolded though it is made anew. */
  function part(kind, id, words, ...nodes) {
    const box = element("details", { class: kind }, element("summary", { id }, words), ...nodes);
    box.open = opened.has(id);
    box.addEventListener("toggle", () => (box.open ? opened.add(id) : opened.delete(id)));
    return box;
  }

  function changed(scope) {
    chosen.show(scope);
    clearTimeout(waiting);
    waiting = setTimeout(load, PAUSE);
  }

  folded.addEventListener("toggle", () => folded.open && load());
  place("chips").append(chosen.node);
  place("filters").append(folded);
  onScopeChange(changed);
  chosen.show(chosenScope());
  load();
}

/** Tells if several documents can have a value of this field in common. */
function isOffered(name, { type, counts }) {
  if (PLAIN.includes(name) || type === "date") return false;
  return name === "speakers" || Math.max(0, ...Object.values(counts)) > 1;
}

function toggle(field, value, wanted) {
  const others = valuesOf(chosenScope().filters?.[field]).filter((each) => each !== value);
  const values = wanted ? [...others, value] : others;
  setFilter(field, values.length > 0 ? values : null);
}

/** A field for words of the headings that passages stand below. */
function headingField() {
  const input = element("input", { type: "text", id: "heading-filter", maxlength: "200" });
  input.lang = language;
  const take = () => {
    const wanted = input.value.trim();
    if (wanted !== "") toggle("section", wanted, true);
    input.value = "";
  };
  input.addEventListener("change", take);
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault(); // narrows, and asks nothing yet
    take();
  });
  return element("div", { class: "heading-filter" }, ...withLabel(say("ask.headingFilter"), input));
}

/** The list, hidden while nothing narrows; `show` takes a scope. */
function chipList() {
  const list = element("ul", { class: "chips", "aria-label": say("ask.narrowedBy"), hidden: "" });

  function show(scope) {
    const chips = [...filterChips(scope.filters ?? {}), ...phraseChips(scope)];
    const clear = () => changeScope({ filters: {}, require: [], exclude: [] });
    if (chips.length > 1) chips.push(linkButton(say("ask.clearFilters"), clear));
    const at = [...list.children].findIndex((item) => item.contains(document.activeElement));
    list.replaceChildren(...chips.map((chip) => element("li", {}, chip)));
    list.hidden = chips.length === 0;
    const beside = list.children[Math.min(at, chips.length - 1)]?.firstChild;
    if (at >= 0) (beside ?? place("settings-open")).focus();
  }

  return { node: list, show };
}

function filterChips(filters) {
  return Object.entries(filters).flatMap(([field, filter]) => {
    const named = (value) => say("ask.chip", { field: fieldName(field), value });
    if (isRange(filter)) return [chip(named(rangeName(filter)), () => setFilter(field, null))];
    const values = valuesOf(filter);
    if (values.length > MOST_OF_A_FIELD) {
      const count = say("ask.chipValues", { count: values.length });
      return [chip(named(count), () => setFilter(field, null))];
    }
    return values.map((value) => {
      const others = values.filter((other) => other !== value);
      const without = () => setFilter(field, others.length > 0 ? others : null);
      return chip(named(valueName(field, value)), without);
    });
  });
}

function phraseChips({ require = [], exclude = [] }) {
  const of = (name, phrases, key) =>
    phrases.map((phrase) => {
      const others = phrases.filter((other) => other !== phrase);
      return chip(say(key, { phrase }), () => changeScope({ [name]: others }));
    });
  return [...of("require", require, "ask.mustHold"), ...of("exclude", exclude, "ask.mayNotHold")];
}

function chip(label, onclick) {
  return element(
    "button",
    { type: "button", "aria-label": say("ask.letGo", { label }), onclick },
    element("span", {}, label),
    element("span", { "aria-hidden": "true" }, "×"),
  );
}

/** Two fields for the range that `take` gets, {from, to} without an open end, or null for all
 * years, beside a histogram. */
function newYears(take) {
  const bars = svg("svg", { class: "histogram", preserveAspectRatio: "none", role: "img" });
  const note = element("p", { class: "hint" });
  const [from, to] = [field("year-from"), field("year-to")];
  place("years").append(
    bars,
    element("div", {}, ...withLabel(say("ask.yearFrom"), from)),
    element("div", {}, ...withLabel(say("ask.yearTo"), to)),
  );
  place("years").parentElement.append(note);

  function field(id) {
    const input = element("input", { type: "number", id, min: EARLIEST, max: "9999", step: "1" });
    input.addEventListener("change", chosen);
    return input;
  }

  function chosen() {
    to.min = from.value || EARLIEST; // the form says so, and waits
    if (!from.validity.valid || !to.validity.valid) return;
    const ends = Object.entries({ from, to }).filter(([, input]) => input.value !== "");
    const range = ends.map(([end, input]) => [end, input.value]);
    take(range.length > 0 ? Object.fromEntries(range) : null);
  }

  /** Draws the counts of POST /api/facets, with the present filter of the date. */
  function show({ years, several_years: several, undated }, filter) {
    place("years").hidden = years.length === 0;
    if (years.length === 0) return;
    from.value = yearOf(filter?.from);
    to.value = yearOf(filter?.to);
    to.min = from.value || EARLIEST;
    const width = widthOf(years);
    const first = Math.floor(years[0].year / width) * width;
    const last = Math.floor(years.at(-1).year / width) * width + width - 1;
    from.placeholder = years[0].year;
    to.placeholder = years.at(-1).year;
    drawBars(bars, years, { first, last, from: from.value, to: to.value }, width);
    const [{ year }] = years;
    const typed = year < 1 ? say("ask.yearsBC", { year, words: yearWords(year) }) : "";
    // documents that no bar shows
    const spread = filter && several > 0 ? say("ask.severalYears", { documents: grouped(several) }) : "";
    const left = filter && undated > 0 ? say("ask.undated", { documents: grouped(undated) }) : "";
    note.textContent = [typed, spread, left].filter(Boolean).join(" ");
    note.hidden = note.textContent === "";
  }

  return { show };
}

/** The year of an end of a range as a field shows it; empty if it is open. */
function yearOf(end) {
  const found = Number.parseInt(end ?? "", 10);
  return Number.isNaN(found) ? "" : found;
}

function widthOf(years) {
  const span = years.at(-1).year - years[0].year + 1;
  return WIDTHS.find((width) => span / width <= MOST_BARS) ?? WIDTHS.at(-1);
}

function drawBars(node, years, { first, last, from, to }, width) {
  const counts = new Map();
  for (const { year: at, documents } of years) {
    const bar = Math.floor((at - first) / width);
    counts.set(bar, (counts.get(bar) ?? 0) + documents);
  }
  const number = (last - first + 1) / width;
  const most = Math.max(...counts.values());
  const drawn = Array.from(counts, ([at, documents]) => {
    const height = Math.max((documents / most) * HEIGHT, 1.5);
    const year = first + at * width;
    const isOut = (from && year + width <= from) || (to && year > to);
    const box = { x: at + 0.08, y: HEIGHT - height, width: 0.84, height };
    return svg("rect", { ...box, ...(isOut && { class: "out" }) });
  });
  node.setAttribute("viewBox", `0 0 ${number} ${HEIGHT}`);
  const [tallest] = [...counts.entries()].sort((a, b) => b[1] - a[1] || a[0] - b[0]);
  const start = first + tallest[0] * width;
  const end = start + width - 1;
  const when = width === 1 ? yearWords(start) : say("ask.range", { from: yearWords(start), to: yearWords(end) });
  node.setAttribute("aria-label", say("ask.plotted", {
    first: yearWords(first),
    last: yearWords(last),
    when,
    documents: say("page.documents", { count: tallest[1] }),
  }));
  node.replaceChildren(...drawn);
}
