/** What was searched, and how old it is, in sentences of the page's language. */

import { element } from "../dom.js";
import { language, say } from "../language.js";

const FEW = 5; // names that are said; the others are counted
const lists = { and: listOf("conjunction"), or: listOf("disjunction") };

/** The line below an answer; it says too which words no source holds. */
export function scopeLine({ scope }, page) {
  return element("p", { class: "hint scope" }, scopeSentence(scope, page));
}

/** `Sources from 1988 to 2014; the newest is 12 years old.`, or null if none has a date. */
export function freshnessLine({ retrieval, citations }, now = new Date()) {
  const years = citations.map(({ date }) => yearOf(date)).filter((year) => year !== null);
  const { oldest, newest, stale } = retrieval.freshness;
  if (years.length === 0) years.push(...[oldest, newest].map(yearOf).filter((year) => year !== null));
  if (years.length === 0 || citations.length === 0) return null;
  const [from, to] = [Math.min(...years), Math.max(...years)].map(String);
  const count = Math.max(0, now.getFullYear() - Number(to));
  const when = from === to ? say("answer.yearOne", { year: to }) : say("answer.yearsFrom", { from, to });
  const age = count === 0 ? say("answer.ofThisYear") : say("answer.newestIs", { count });
  const warning = stale ? [" ", element("strong", {}, say("answer.stale"))] : [];
  return element("p", { class: "hint freshness" }, `${when}; ${age}.`, ...warning);
}

function yearOf(date) {
  const found = /^\D*(\d{4})(?!\d)/.exec(date ?? "");
  return found === null ? null : Number(found[1]);
}

/** The fields of a scope as one sentence. */
export function scopeSentence(scope, page) {
  const clauses = [searched(scope, page), ...filtered(scope), ...phrases(scope), ...gaps(scope, page)];
  return `${clauses.join(say("answer.clauseEnd"))}.`;
}

function searched(scope, page) {
  return say("answer.searched", {
    corpora: share("corpora", scope.corpora.length, scope.all_corpora),
    labels: some(scope.corpora.map(({ id }) => page.label(id)), (names) => names.join(", ")),
    found: [
      share("documents", scope.documents, scope.all_documents),
      share("passages", scope.passages, scope.all_passages),
      ...dates(scope),
    ].join(", "),
  });
}

/** `12 documents`, or `12 of 1,204 documents`. */
function share(what, part, whole) {
  const counted = say(`page.${what}`, { count: whole });
  return part === whole ? counted : say("answer.partOf", { part, whole: counted });
}

function dates({ dates: { first, last, or_earlier: earlier, or_later: later, undated }, documents }) {
  if (!first) return documents > 0 ? [say("answer.undated")] : [];
  const whole = first.endsWith("-01-01") && last.endsWith("-12-31");
  const [from, to] = [first, last].map((day) => (whole ? day.slice(0, 4) : day));
  const open = [earlier && say("answer.orEarlier"), later && say("answer.orLater")];
  const begins = [from, open[0]].filter(Boolean).join(" ");
  const ends = [to, open[1]].filter(Boolean).join(" ");
  const span =
    from === to && !(earlier && later)
      ? [from, ...open].filter(Boolean).join(" ")
      : say("answer.fromTo", { from: begins, to: ends });
  return [undated > 0 ? `${span} ${say("answer.undatedToo", { count: undated })}` : span];
}

function filtered({ filters }) {
  const conditions = Object.entries(filters).map(([field, condition]) => {
    if (Array.isArray(condition)) return `${field} = ${some(quoted(condition), lists.or)}`;
    const ends = ["from", "to"].filter((end) => end in condition);
    return [field, ...ends.map((end) => say(`answer.end_${end}`, { value: condition[end] }))].join(" ");
  });
  return conditions.length > 0 ? [say("answer.filters", { conditions: conditions.join(", ") })] : [];
}

function phrases({ required, unmet, excluded }) {
  const said = [];
  if (required.length > 0) said.push(say("answer.holding", { words: lists.and(quoted(required)) }));
  if (unmet.length > 0) said.push(say("answer.notHolding", { words: lists.or(quoted(unmet)) }));
  if (excluded.length > 0) said.push(say("answer.without", { words: lists.or(quoted(excluded)) }));
  return said;
}

function gaps({ unknown_words: words, corpora, all_corpora: all, short_legs: legs }, page) {
  const part = corpora.length === all ? "noSourceHolds" : "noneOfTheseHolds";
  const short = legs.filter(({ reason }) => reason === "index");
  return [
    ...(words.length > 0
      ? [say(`answer.${part}`, { words: lists.or(quoted(words)), count: corpora.length })]
      : []),
    ...short.map(({ corpus, found, asked }) =>
      say("answer.indexShort", { found, asked, corpus: page.label(corpus) }),
    ),
  ];
}

function some(names, join) {
  const rest = names.length - FEW;
  if (rest <= 0) return join(names);
  return lists.and([...names.slice(0, FEW), say("answer.others", { count: rest })]);
}

function quoted(words) {
  return words.map((word) => say("answer.quoted", { word }));
}

/** Joins names as the language does; English here without a comma before the last. */
function listOf(type) {
  const join = new Intl.ListFormat(language === "en" ? "en-GB" : language, { type });
  return (names) => join.format(names);
}
