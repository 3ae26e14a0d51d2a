/** A question about the passages in view: the scope is narrowed to them, and the reader can undo. */

import { chosenScope, onScopeChange, setScope } from "../ask/scope.js";
import { element } from "../dom.js";
import { say } from "../language.js";
import { concordance } from "./counting.js";
import { actionButton } from "./parts.js";
import { pointName } from "./points.js";

const MOST_LINES = 1000; // that the server gives at once
const MOST_PHRASE = 1000; // characters of one that passages must hold

const notice = document.getElementById("narrowed");
const question = document.getElementById("question");
let listening = null;

/** A button that goes there; what it narrows to is the point of the state, if it is of the lines. */
export function askButton(state, tools) {
  const about = state.tab === "lines" ? state : { ...state, point: null };
  return actionButton(say("words.ask"), () => askAbout(about, tools));
}

/** Goes to the questions, with the scope narrowed to what the state has in its lines. */
async function askAbout(state, tools) {
  const whole = { ...state, sort: "document", sample: 0, context: 0 };
  const found = await concordance(whole, tools, 0, MOST_LINES);
  const before = chosenScope();
  const documents = [...new Set(found.lines.map((line) => line.document_id))];
  const all = documents.length === found.documents;
  setScope(narrowed(before, state, all ? documents : null));
  await tools.page.show("ask");
  tell(all ? "words.askingDocuments" : "words.askingFirst", state, found.documents, before, tools);
  question.value = "";
  question.focus();
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
export function plainPhrase(query) {
  const [, quoted] = /^"([^"]*)"$/.exec(query) ?? [];
  const words = quoted ?? query;
  const hasOperator = /["“”„()*?]|\bOR\b|\bNEAR\b/.test(words);
  return hasOperator || words.length > MOST_PHRASE ? "" : words;
}

function tell(key, { query, point }, count, before, { label }) {
  const mine = JSON.stringify(chosenScope());
  const where = point === null ? "" : say("words.askingWhere", { where: pointName(point, label) });
  const documents = say("page.documents", { count });
  const text = say(key, { documents, query: `“${query}”`, where });

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
  const button = element("button", { type: "button", class: "link", onclick: undo }, say("words.undo"));
  notice.replaceChildren(element("p", { class: "notice", role: "status" }, `${text} `, button));
  listening = onScopeChange((scope) => {
    if (JSON.stringify(scope) !== mine) close();
  });
}
