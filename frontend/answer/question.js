/** The question as it was understood: read as, searched as, in which sources, in which of several
 * readings; each with the other way to ask it. */

import { element, linkButton, onSubmit, plainButton } from "../dom.js";
import { language, say, sayNodes } from "../language.js";
import { dateWords, duration, yearWords } from "../text.js";
import { quotation } from "./sentences.js";

const FEW = 5; // names that are said; the others are counted
const lists = { and: listOf("conjunction"), or: listOf("disjunction") };

/** The question that was searched for, or the one that could have been, each with the other to ask;
 * null if there is only one. */
export function readAs({ question, qa_id: id, standalone_question: searched, read_as: offered }, page) {
  if (searched !== null) {
    const asWritten = linkButton(say("ask.askAsWritten"), () => page.askAsWritten(question, id));
    const change = linkButton(say("ask.changeReading"), () => changeReading(whole, searched, id, page));
    const whole = line(sayNodes("ask.readAs", { reading: searched, asWritten, change }));
    return whole;
  }
  if (offered === null) return null;
  const again = linkButton(say("ask.askReading", { reading: offered }), () => page.ask(offered));
  return line(sayNodes("ask.askedAsWritten", { again }));
}

/** A field in place of the line, to ask for what was meant. */
function changeReading(whole, searched, id, page) {
  const named = { "aria-label": say("ask.reading") };
  const field = element("input", { type: "text", maxlength: "4000", required: "", ...named });
  field.value = searched;
  const ask = element("button", { class: "primary" }, say("ask.askThis"));
  const buttons = element("div", { class: "buttons" }, ask, linkButton(say("page.cancel"), end));
  const form = element("form", { class: "read-as" }, field, buttons);

  function end() {
    form.replaceWith(whole);
    whole.querySelector("button:last-of-type").focus();
  }

  onSubmit(form, () => {
    const meant = field.value.trim();
    if (meant === "") return;
    page.askAsWritten(meant, id);
    end();
  });
  form.addEventListener("keydown", (event) => {
    if (event.key === "Escape") end();
  });
  whole.replaceWith(form);
  field.focus();
}

function line(content) {
  return element("p", { class: "hint read-as" }, ...content);
}

/** Says what was searched for instead, and could have been meant, or null. `ask` asks anew. */
export function wordingNotice({ retrieval, ...answer }, ask) {
  const question = answer.standalone_question ?? answer.question;
  const lines = retrieval.unknown_words
    .filter(({ suggestions }) => suggestions.length > 0)
    .map((unknown) => unknownWord(unknown, question, ask));
  if (retrieval.required_unmet !== null) lines.push(unmetLine(retrieval.required_unmet));
  return lines.length > 0 ? element("div", { class: "notice wording" }, ...lines) : null;
}

function unknownWord({ word, suggestions, searched_as: instead }, question, ask) {
  const other = (shown, written) =>
    linkButton(shown, () => ask(reworded(question, word, written)));
  if (instead !== null) {
    // a word in quotation marks is searched as it is written
    const asWritten = other(word, `"${word}"`);
    return element("p", {}, ...sayNodes("ask.searchedInstead", { instead, word, asWritten }));
  }
  const buttons = element("span", {});
  for (const [at, suggestion] of suggestions.entries()) {
    buttons.append(at > 0 ? say("ask.orElse") : "", other(suggestion, suggestion));
  }
  return element("p", {}, ...sayNodes("ask.didYouMean", { suggestions: buttons, word }));
}

/** The question with another word, which stands alone; letters of all languages join words. */
function reworded(question, word, written) {
  const alone = new RegExp(`(?<![\\p{L}\\p{N}_])"?${word}"?(?![\\p{L}\\p{N}_])`, "gu");
  return question.replace(alone, () => written);
}

function unmetLine({ phrases, passages, kept }) {
  const named = quotedPhrases(phrases);
  const held =
    passages === 0
      ? say("ask.noneHolds", { phrases: named })
      : say("ask.onlySomeHold", { phrases: named, count: passages });
  const others = kept.length > 0 ? say("ask.othersWithout") : say("ask.theseWithout");
  return element("p", {}, `${held} ${others}`);
}

/** Says of each listed passage that does not hold what was required that it does not. */
export function markWithout(list, { retrieval: { required_unmet: unmet } }) {
  if (unmet === null) return;
  for (const item of list.querySelectorAll("li[data-passage]")) {
    if (unmet.kept.includes(item.dataset.passage)) continue;
    const without = say("ask.without", { phrases: quotedPhrases(unmet.phrases) });
    item.querySelector(".where").append(element("span", { class: "hint" }, without));
  }
}

function quotedPhrases(phrases) {
  return phrases.map((phrase) => say("ask.quoted", { phrase })).join(say("ask.and"));
}

/** The line below an answer; it says too which words no source holds. What narrows nothing is shown
 * with the rest of how it was found. */
export function scopeLine({ scope }, page) {
  const lacks = gaps(scope, page);
  const clauses = [searched(scope, page), ...filtered(scope), ...phrases(scope), ...lacks];
  const whole = !scope.narrowed && lacks.length === 0 ? " whole" : "";
  return element("p", { class: `hint scope${whole}` }, `${clauses.join(say("answer.clauseEnd"))}.`);
}

/** `10 of 415 passages, 3 corpora, 263 ms` */
export function howLine({ scope, retrieval, timings_ms: timings }) {
  const kept = Object.values(retrieval.per_corpus).reduce((sum, counts) => sum + counts.kept, 0);
  return [
    share("passages", kept, scope.passages),
    share("corpora", scope.corpora.length, scope.all_corpora),
    duration(timings.total),
  ].join(", ");
}

/** Says which words of the question no source holds, or null. */
export function unknownWords(scope) {
  const [clause] = unknownClauses(scope);
  return clause ? `${clause.charAt(0).toUpperCase()}${clause.slice(1)}.` : null;
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
  const [from, to] = [first, last].map((day) => (whole ? yearWords(Number(day.slice(0, -6))) : dateWords(day)));
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

function unknownClauses({ unknown_words: words, corpora, all_corpora: all }) {
  const part = corpora.length === all ? "noSourceHolds" : "noneOfTheseHolds";
  if (words.length === 0) return [];
  return [say(`answer.${part}`, { words: lists.or(quoted(words)), count: corpora.length })];
}

function gaps(scope, page) {
  const short = scope.short_legs.filter(({ reason }) => reason === "index");
  return [
    ...unknownClauses(scope),
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

/** The readings to choose from, or null. `page` asks again and opens what is cited. */
export function choiceList({ choices, decision }, page) {
  if (choices.length === 0) return null;
  const lead = decision === "ANSWER" ? say("ask.oneReading") : say("ask.whichReading");
  return element(
    "div",
    { class: "notice choices" },
    element("p", {}, element("strong", {}, lead)),
    element("ul", {}, ...choices.map((choice) => choiceItem(choice, page))),
  );
}

function choiceItem({ label, question, corpus_filter, filters, citation }, page) {
  const again = () => page.ask(question, { corpus_filter, filters });
  const ask = plainButton(label, again, { class: "choice" });
  const place = [dateWords(citation.date), citation.locator];
  return element("li", {}, ask, ...quotation(citation, place, page));
}
