/** What is looked at, as the address of the page has it: a copied link shows the same. */

import { chosenScope } from "../ask/scope.js";

const DEFAULTS = {
  tab: "lines",
  form: "surface",
  case: false,
  sort: "document",
  context: 8,
  sample: 0,
  seed: 0,
  unit: "year",
  byCorpus: false,
  per: "hits",
  field: "corpus",
  left: 5,
  right: 5,
  least: 2,
  function: false,
  against: "all",
  direction: "more",
  frequent: 5,
  documents: 1,
};
const TABS = ["lines", "time", "fields", "near", "apart"];
const EVERYTHING = JSON.stringify({ corpus_filter: "all" });

/** The names in an address that are of this view alone. */
export const OWN = ["q", "point", "scope", ...Object.keys(DEFAULTS)];

/** The state that an address names, with its `scope`; what it leaves out is as at first. */
export function stateOf(query) {
  const found = Object.entries(DEFAULTS).map(([name, usual]) => [name, read(query, name, usual)]);
  const state = { ...Object.fromEntries(found), query: query.get("q") ?? "" };
  if (!TABS.includes(state.tab)) state.tab = DEFAULTS.tab;
  const scope = parsed(query.get("scope")) ?? JSON.parse(EVERYTHING);
  return { ...state, point: parsed(query.get("point")), scope };
}

/** The address of a state, of the page as it stands and of what is looked through. */
export function addressOf({ query: words, point, ...options }) {
  const query = new URLSearchParams(location.search);
  for (const name of OWN) query.delete(name);
  query.set("view", "words");
  if (words !== "") query.set("q", words);
  query.set("tab", options.tab);
  for (const [name, usual] of Object.entries(DEFAULTS)) {
    if (name !== "tab" && options[name] !== usual) query.set(name, options[name]);
  }
  if (point !== null) query.set("point", JSON.stringify(point));
  const scope = JSON.stringify(chosenScope());
  if (scope !== EVERYTHING) query.set("scope", scope);
  return `${location.pathname}?${query}`;
}

function read(query, name, usual) {
  const given = query.get(name);
  if (given === null) return usual;
  if (typeof usual === "boolean") return given === "true";
  if (typeof usual === "string") return given;
  return /^\d{1,9}$/.test(given) ? Number(given) : usual;
}

/** An object that was written as JSON, or null; an address can hold anything. */
function parsed(text) {
  try {
    const found = JSON.parse(text);
    return typeof found === "object" ? found : null;
  } catch {
    return null;
  }
}
