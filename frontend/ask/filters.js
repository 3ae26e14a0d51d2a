/** What narrows the search beside its corpora: chosen values as chips, and a folded section to
 * choose others, with how many documents each would leave. */

import { Problem, sendJson } from "../api.js";
import { element } from "../dom.js";
import { language, say } from "../language.js";
import { chipList } from "./chips.js";
import { fieldName, filterOf, valueName, valuesOf } from "./fields.js";
import { newHistogram } from "./histogram.js";
import { chosenScope, onScopeChange, setFilter } from "./scope.js";

const PAUSE = 250; // ms without a change, after which counts are asked for
const UNFOLDED = 8; // values of a field that are shown at once
const PLAIN = ["title", "url", "source", "identifier"]; // belong to one document alone
const DATE = "date";

/** Puts chips and the folded section into the page; `catalogue` is what GET /api/corpora says. */
export function offerFilters({ filter_fields: fields }) {
  const chosen = chipList();
  const counts = element("p", { class: "hint", role: "status" });
  const groups = element("div", {});
  const histogram = newHistogram((range) => setFilter(DATE, range));
  const folded = element(
    "details",
    { class: "filters" },
    element("summary", {}, say("ask.filters")),
    counts,
    histogram.node,
    groups,
    headingField(),
  );
  const offered = Object.keys(fields).filter((name) => isOffered(name, fields[name]));
  const opened = new Set();
  let waiting = null;
  let asked = 0;

  async function load() {
    const now = ++asked;
    const body = { ...chosenScope(), fields: offered };
    try {
      const found = await sendJson("POST", "api/facets", body);
      if (now === asked) show(found);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (now === asked) counts.textContent = error.message;
    }
  }

  function show({ documents, passages, fields: found, dates }) {
    counts.textContent = say("ask.leaves", {
      documents: say("page.documents", { count: documents }),
      passages: say("page.passages", { count: passages }),
    });
    histogram.show(dates, chosenScope().filters?.[DATE]);
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
    const box = element(
      "details",
      { class: "facet" },
      element("summary", { id: `facet-${name}` }, fieldName(name)),
      ...listed.slice(0, UNFOLDED),
      rest.length > 0 ? moreOf(`${name} more`, `facet-${name}-more`, rest, more) : null,
    );
    remembered(box, name);
    return box;
  }

  function moreOf(key, id, rest, more) {
    const left = more > 0 ? element("p", { class: "hint" }, say("ask.rarer", { count: more })) : null;
    const box = element(
      "details",
      { class: "more" },
      element("summary", { id }, say("ask.moreValues", { count: rest.length })),
      ...rest,
      left,
    );
    remembered(box, key);
    return box;
  }

  /** Keeps what was unfolded so, though it is made anew. */
  function remembered(box, key) {
    box.open = opened.has(key);
    box.addEventListener("toggle", () => (box.open ? opened.add(key) : opened.delete(key)));
  }

  function changed(scope) {
    chosen.show(scope);
    if (!folded.open) return;
    clearTimeout(waiting);
    waiting = setTimeout(load, PAUSE);
  }

  folded.addEventListener("toggle", () => folded.open && load());
  document.getElementById("filters").append(chosen.node, folded);
  onScopeChange(changed);
  changed(chosenScope());
}

/** Whether several documents can have a value of this field in common. */
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
  return element(
    "div",
    { class: "heading-filter" },
    element("label", { for: "heading-filter" }, say("ask.headingFilter")),
    input,
  );
}
