/** Lists of words: those near the hits, those that set texts apart, and the most frequent. */

import { chosenScope, setScope } from "../ask/scope.js";
import { element, linkButton } from "../dom.js";
import { say } from "../language.js";
import { askButton } from "./ask_about.js";
import { formOf, wordsOf } from "./counting.js";
import { chooser, figure, rateOf } from "../parts.js";
import { csvButton, sortable } from "./table.js";

const MOST = 500; // words of a list
const COLLOCATES = ["word", "near", "frequency", "log_likelihood", "log_dice", "query"];
const KEYWORDS = [
  ...["word", "frequency", "per_million", "documents", "reference_frequency"],
  ...["reference_per_million", "reference_documents", "log_likelihood", "log_ratio", "query"],
];
const FREQUENCIES = ["word", "frequency", "per_million", "documents", "query"];

/** {summary, nodes} of the words near the hits. */
export async function collocates(state, tools) {
  const { left, right, least } = state;
  const found = await tools.count("collocates", {
    ...wordsOf(state),
    ...{ left, right, min_count: least, limit: MOST, function_words: state.function },
  });
  const columns = [
    wordColumn((query) => tools.go({ tab: "lines", query, point: null })),
    { head: say("words.nearHead"), hint: say("words.nearMeans"), number: (row) => row.near },
    frequencyColumn(),
    likelihoodColumn(),
    { head: say("words.dice"), hint: say("words.diceMeans"), number: (row) => row.log_dice, written: figure },
  ];
  const summary = say("words.nearSummary", {
    hits: say("words.hits", { count: found.hits }),
    words: say("words.wordCount", { count: found.words }),
  });
  const nodes = list(found.collocates, found.left_out, columns, COLLOCATES, "collocates");
  return { summary: [summary], nodes: [...nodes, askButton(state, tools)] };
}

/** {summary, nodes} of the words that set some texts apart from others. */
export async function keywords(state, tools) {
  const { direction, frequent, documents } = state;
  const { corpora } = tools.catalogue;
  const focus = isEverything(corpora) ? await focusOf(state, tools) : {};
  if (focus === null) return { summary: [], nodes: [element("p", { class: "notice" }, say("words.chooseTexts"))] };
  const scope = { ...chosenScope(), ...focus };
  const own = Object.keys(scope).length === 1 ? scope.corpus_filter : null; // nothing else narrows it
  const against = state.against === own ? "all" : state.against;
  const found = await tools.count("keywords", {
    ...{ ...focus, ...formOf(state), against, direction },
    ...{ min_count: frequent, min_documents: documents, limit: MOST, function_words: state.function },
  });
  const there = say("words.thereMeans");
  const columns = [
    wordColumn((query) => {
      setScope(scope);
      return tools.go({ tab: "lines", query, point: null });
    }),
    { head: say("words.hereHead"), number: (row) => row.frequency },
    { head: say("words.rateHead"), number: (row) => row.per_million, written: rateOf },
    { head: say("words.documentsHead"), number: (row) => row.documents },
    { head: say("words.thereHead"), hint: there, number: (row) => row.reference_frequency },
    { head: say("words.thereRate"), hint: there, number: (row) => row.reference_per_million, written: rateOf },
    likelihoodColumn(),
    { head: say("words.ratio"), hint: say("words.ratioMeans"), number: (row) => row.log_ratio, written: figure },
  ];
  const summary = say("words.apartSummary", {
    here: nameOf(focus, own, tools.label),
    words: say("words.wordCount", { count: found.words }),
    documents: say("page.documents", { count: found.documents }),
    there: against === "all" ? say("words.theRest") : tools.label(against),
    otherWords: say("words.wordCount", { count: found.reference_words }),
    otherDocuments: say("page.documents", { count: found.reference_documents }),
  });
  const choices = corpora.map(({ id, label }) => [id, label]);
  const choice = focus.corpus_filter
    ? [element("div", { class: "words-bar" }, chooser("focus", choices, focus.corpus_filter, tools.go))]
    : [];
  const nodes = list(found.keywords, found.left_out, columns, KEYWORDS, "keywords");
  return { summary: [summary], nodes: [...choice, ...nodes] };
}

/** {summary, nodes} of the most frequent words. */
export async function frequencies(state, tools) {
  const { pattern, minimum } = state;
  const found = await tools.count("frequencies", {
    ...{ ...formOf(state), pattern, min_count: minimum, limit: MOST, function_words: state.function },
  });
  const columns = [
    wordColumn((query) => tools.go({ tab: "lines", query, point: null })),
    { ...frequencyColumn(), order: "descending" },
    { head: say("words.rateHead"), number: (row) => row.per_million, written: rateOf },
    { head: say("words.documentsHead"), number: (row) => row.documents },
  ];
  const summary = say("words.listSummary", {
    count: found.types,
    words: say("words.wordCount", { count: found.words }),
    documents: say("page.documents", { count: found.documents }),
  });
  const nodes = list(found.frequencies, found.left_out, columns, FREQUENCIES, "frequencies");
  return { summary: [summary], nodes };
}

/** Tells a scope that leaves nothing to compare it with. */
function isEverything(corpora) {
  const { corpus_filter: chosen, ...narrowing } = chosenScope();
  const all = chosen === "all" || [chosen].flat().length === corpora.length;
  return all && Object.keys(narrowing).length === 0;
}

/** A part of everything: a corpus, or the earlier half of the only one; null where it has no years. */
async function focusOf({ focus }, { catalogue: { corpora }, count }) {
  if (corpora.length > 1) {
    const { id } = corpora.find((corpus) => corpus.id === focus) ?? corpora[0];
    return { corpus_filter: id };
  }
  const { years } = (await count("facets", { fields: false })).dates;
  const all = years.reduce((sum, { documents }) => sum + documents, 0);
  let sum = 0;
  const half = years.slice(0, -1).find(({ documents }) => (sum += documents) * 2 >= all) ?? years.at(-2);
  return half ? { filters: { date: { to: String(half.year) } } } : null;
}

function nameOf({ filters }, corpus, label) {
  if (filters) return say("words.upTo", { year: filters.date.to });
  return typeof corpus === "string" ? label(corpus) : say("words.chosenTexts");
}

function likelihoodColumn() {
  const means = { head: say("words.likelihood"), hint: say("words.likelihoodMeans") };
  return { ...means, number: (row) => row.log_likelihood, written: figure, order: "descending" };
}

function frequencyColumn() {
  const means = { head: say("words.frequencyHead"), hint: say("words.frequencyMeans") };
  return { ...means, number: (row) => row.frequency };
}

/** The word; a click opens the lines of its query. */
function wordColumn(open) {
  const cell = ({ word, query }) => {
    if (query === null) return word;
    return linkButton(word, () => open(query), { "aria-label": say("words.openLines", { label: word }) });
  };
  return { head: say("words.word"), cell, sort: ({ word }) => word };
}

function list(rows, leftOut, columns, fields, name) {
  if (rows.length === 0) return [element("p", { class: "notice" }, say("words.noWords"))];
  const more = say("words.moreWords", { count: leftOut });
  return [
    sortable(columns, rows),
    ...(leftOut > 0 ? [element("p", { class: "hint" }, more)] : []),
    csvButton(say("words.csv"), name, fields, async () => rows),
  ];
}
