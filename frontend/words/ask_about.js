/** A question about the passages in view: the scope is narrowed to them, and the reader can undo.
 *
 * A point of a trend names them, and finds their documents.
 */

import { Problem } from "../api.js";
import { fieldName, valueName as fieldValue } from "../ask/fields.js";
import { chosenScope, onScopeChange, setScope } from "../ask/scope.js";
import { at, element, linkButton } from "../dom.js";
import { say } from "../language.js";
import { concordance, queriesOf } from "./counting.js";
import { actionButton } from "../parts.js";

const LINES_AT_ONCE = 1000; // that the server gives
const MOST_LINES = 10_000; // that are looked through for their documents
const MOST_DOCUMENTS = 900; // a filter holds 1,000 values, some of which may be others
const MOST_PHRASE = 1000; // characters of one that passages must hold

const notice = at("narrowed");
const question = at("question");
let listening = null;

/** A button that goes there; what it narrows to is the point of the state, if it is of the lines. */
export function askButton(state, tools) {
  const about = state.tab === "lines" ? state : { ...state, point: null };
  return actionButton(say("words.ask"), () => askAbout(about, tools));
}

/** Goes to the questions, with the scope narrowed to what the state has in its lines. */
async function askAbout(state, tools) {
  const { documents, count } = await documentsOf(state, tools);
  if (documents === null && plainPhrase(state.query) === "") {
    throw new Problem(say("words.askingTooMany", { count }));
  }
  const before = chosenScope();
  setScope(narrowed(before, state, documents));
  await tools.page.show("ask");
  const key = documents === null ? "words.askingFirst" : "words.askingDocuments";
  tell(key, state, count, before, tools);
  question.value = "";
  question.focus();
}

/** The ids of all documents with a hit, null where they are too many to be named; and how many. */
async function documentsOf(state, tools) {
  const whole = { ...state, sort: "document", sample: 0, context: 0 };
  const found = new Set();
  for (let offset = 0; offset < MOST_LINES; offset += LINES_AT_ONCE) {
    const { lines, hits, documents } = await concordance(whole, tools, offset, LINES_AT_ONCE);
    const isTooMuch = documents > MOST_DOCUMENTS || hits > MOST_LINES;
    if (isTooMuch) return { documents: null, count: documents };
    for (const line of lines) found.add(line.document_id);
    if (found.size === documents) break;
  }
  return { documents: [...found], count: found.size };
}

/** `documents` are all with a hit; null where they are too many to be named one by one. */
function narrowed(scope, state, documents) {
  const { corpus, by, value, filters } = state.point ?? {};
  const within = { ...scope.filters, ...filters };
  if (documents !== null) within.document_id = documents;
  const phrase = plainPhrase(state.query);
  return {
    ...scope,
    filters: within,
    ...(corpus && { corpus_filter: corpus }),
    ...(by === "corpus" && { corpus_filter: value }),
    ...(phrase !== "" && { require: [...new Set([...(scope.require ?? []), phrase])] }),
  };
}

/** The words of a query that is nothing but a word or a phrase; else empty. */
function plainPhrase(query) {
  const [, quoted] = /^"([^"]*)"$/.exec(query) ?? [];
  const words = quoted ?? query;
  const hasOperator = /["“”„()*?]|\bOR\b|\bNEAR\b/.test(words) || queriesOf(query).length > 1;
  return hasOperator || words.length > MOST_PHRASE ? "" : words;
}

function tell(key, { query, point }, count, before, { label }) {
  const mine = JSON.stringify(chosenScope());
  const where = point === null ? "" : say("words.askingWhere", { where: pointName(point, label) });
  const documents = say("page.documents", { count });
  const text = say(key, { documents, query: `“${plainPhrase(query) || query}”`, where });

  function close() {
    listening?.();
    notice.replaceChildren();
  }

  function undo() {
    close();
    setScope(before);
    question.focus();
  }

  close();
  const button = linkButton(say("page.undo"), undo);
  notice.replaceChildren(element("p", { class: "notice", role: "status" }, `${text} `, button));
  listening = onScopeChange((scope) => {
    if (JSON.stringify(scope) !== mine) close();
  });
}

/** A cell of what was counted `by`, as something that lines can be asked of. */
export function pointOf(by, { value, corpus, filters }) {
  return { by, value, corpus: by === "corpus" ? null : corpus, filters };
}

/** `1990s, Legal UK` */
export function pointName({ by, value, corpus }, label) {
  const named = by === "corpus" || isTime(by) || value === null ? "" : `${fieldName(by)}: `;
  const parts = [valueName(by, value, label), ...(corpus ? [label(corpus)] : [])];
  return named + parts.join(", ");
}

export function isTime(by) {
  return by === "year" || by === "decade";
}

/** The value of a cell in words. */
export function valueName(by, value, label) {
  if (value === null) return isTime(by) ? say("words.undated") : say("words.unstated");
  return by === "corpus" ? label(value) : fieldValue(by, value);
}
