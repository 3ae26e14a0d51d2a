/** Words that stand near the hits, and words that set what is looked through apart. */

import { element } from "../dom.js";
import { say } from "../language.js";
import { askButton } from "./ask_about.js";
import { formOf, wordsOf } from "./counting.js";
import { csvButton, sortable } from "./table.js";
import { explained, figure, rateOf } from "./parts.js";

const MOST = 500; // words of a list
const NEAR = ["word", "near", "frequency", "log_likelihood", "log_dice", "query"];
const APART = [
  ...["word", "frequency", "per_million", "documents", "reference_frequency"],
  ...["reference_per_million", "reference_documents", "log_likelihood", "log_ratio", "query"],
];

/** {summary, nodes} of the words near the hits. */
export async function near(state, tools) {
  const { left, right, least } = state;
  const found = await tools.count("collocates", {
    ...wordsOf(state),
    ...{ left, right, min_count: least, limit: MOST, function_words: state.function },
  });
  const columns = [
    wordColumn(tools),
    { head: say("words.nearHead"), number: (row) => row.near },
    { head: say("words.frequencyHead"), number: (row) => row.frequency },
    { ...likelihood(), number: (row) => row.log_likelihood },
    { head: say("words.dice"), hint: say("words.diceMeans"), number: (row) => row.log_dice, written: figure },
  ];
  const summary = say("words.nearSummary", {
    hits: say("words.hits", { count: found.hits }),
    words: say("words.wordCount", { count: found.words }),
  });
  const nodes = list(found.collocates, found.left_out, columns, NEAR, "near");
  const meaning = explained(["nearMeans", "likelihoodMeans", "diceMeans"]);
  return { summary: [summary], nodes: [meaning, ...nodes, askButton(state, tools)] };
}

/** {summary, nodes} of the words that set the scope apart. */
export async function settingApart(state, tools) {
  const { against, direction, frequent, documents } = state;
  const found = await tools.count("keywords", {
    ...formOf(state),
    ...{ against, direction, min_count: frequent, min_documents: documents, limit: MOST },
    function_words: state.function,
  });
  const columns = [
    wordColumn(tools),
    { head: say("words.hereHead"), number: (row) => row.frequency },
    { head: say("words.hereRate"), number: (row) => row.per_million, written: rateOf },
    { head: say("words.documentsHead"), number: (row) => row.documents },
    { head: say("words.thereHead"), number: (row) => row.reference_frequency },
    { head: say("words.thereRate"), number: (row) => row.reference_per_million, written: rateOf },
    { ...likelihood(), number: (row) => row.log_likelihood },
    { head: say("words.ratio"), hint: say("words.ratioMeans"), number: (row) => row.log_ratio, written: figure },
  ];
  const summary = say("words.apartSummary", {
    words: say("words.wordCount", { count: found.words }),
    documents: say("page.documents", { count: found.documents }),
    otherWords: say("words.wordCount", { count: found.reference_words }),
    otherDocuments: say("page.documents", { count: found.reference_documents }),
  });
  const nodes = list(found.keywords, found.left_out, columns, APART, "apart");
  const meaning = explained(["hereMeans", "likelihoodMeans", "ratioMeans"]);
  return { summary: [summary], nodes: [meaning, ...nodes] };
}

function likelihood() {
  return { head: say("words.likelihood"), hint: say("words.likelihoodMeans"), written: figure };
}

/** The word; a click opens the lines of its query. */
function wordColumn({ go }) {
  const cell = ({ word, query }) => {
    if (query === null) return word;
    const open = () => go({ tab: "lines", query, point: null });
    const named = { type: "button", class: "link", onclick: open };
    return element("button", { ...named, "aria-label": say("words.openLines", { label: word }) }, word);
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
