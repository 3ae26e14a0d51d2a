/** Requests for words: one look at a time, so that a slow one cannot overtake the next. */

import { sendJson } from "../api.js";
import { telemetryChoice } from "../ask/privacy.js";
import { chosenScope } from "../ask/scope.js";

// a comma inside quotation marks, or of NEAR/0,5, separates nothing
const QUERY = /(?:"[^"]*"|[“„][^“”]*[“”]|NEAR\/\d+,\d+|[^,\n])+/g;

/** The queries of a text, between commas or lines: each {text, start}. */
export function queriesOf(text) {
  const parts = [...text.matchAll(QUERY)].map(({ 0: part, index }) => {
    const start = index + part.length - part.trimStart().length;
    return { text: part.trim(), start };
  });
  return parts.filter((part) => part.text !== "");
}

/** Picks the fields of a state that say which words are looked for: any of its queries. */
export function wordsOf({ query, form, case: exactly }) {
  const any = queriesOf(query).map(({ text }) => text).join(" OR ");
  return { query: any, ...formOf({ form, case: exactly }) };
}

/** Picks the way to compare words; capitals and accents count only in words as they are written. */
export function formOf({ form, case: exactly }) {
  return { form, case_sensitive: exactly && form === "surface" };
}

/** Some lines of the concordance, with counts of all hits. */
export function concordance(state, { count }, offset, limit) {
  const { sort, context, sample, seed, point } = state;
  return count("concordance", {
    ...wordsOf(state),
    ...{ sort, context, seed, offset, limit },
    ...(sample > 0 && { sample }),
    ...(point !== null && { point: { by: point.by, value: point.value, corpus: point.corpus } }),
  });
}

/** {begin, count}: `count(route, body)` asks within the scope, until the next `begin`. */
export function newCounting() {
  let running = new AbortController();

  function begin() {
    running.abort();
    running = new AbortController();
    return running;
  }

  function count(route, body) {
    const whole = { ...chosenScope(), ...telemetryChoice(), ...body };
    return sendJson("POST", `api/${route}`, whole, running.signal);
  }

  return { begin, count };
}
