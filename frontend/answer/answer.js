/** One asked question as an article that fills as its answer comes about.
 *
 * In place of a text it may hold a comparison of corpora, an exact count, or the closest quotes.
 */

import { formState, setScope } from "../ask/scope.js";
import { element } from "../dom.js";
import { newFeedback, offerVotes, ratingSection } from "../feedback/feedback.js";
import { answerExport } from "../keep/exports.js";
import { offerKeeping } from "../keep/menu.js";
import { say } from "../language.js";
import { heading } from "../text.js";
import { newDraft } from "./draft.js";
import { citationList, passageList, quoteItem } from "./passages.js";
import {
  choiceList,
  freshnessLine,
  markWithout,
  readAs,
  scopeLine,
  wordingNotice,
} from "./question.js";
import { candidateColumns, explain, explainPassages, retrievalSummary } from "./retrieval.js";
import { chips, legend, paragraphs, placeOf, withoutMarkers } from "./sentences.js";
import {
  confidenceNote,
  fallbackNotice,
  judgeNote,
  noAnswer,
  reasonNodes,
  struckList,
  warningList,
  warningNotice,
} from "./verdict.js";

/** The article, and what to call: `on` by event, and at an end without `complete`.
 *
 * `page` gives labels, links, writers and the reader, and asks another question, or the same one
 * as it is written. `form` is what stood in the form when it was asked.
 */
export function newAnswer(question, page, form = formState()) {
  const asked = { ...form, question };
  let passages = [];
  const draft = newDraft(page.label);
  const text = element("div", { class: "answer-text" }, draft.node);
  const sources = element("div");
  const article = element(
    "article",
    { class: "answer", "data-state": "running", "aria-busy": "true" },
    element("h2", {}, question),
    text,
    sources,
  );

  function end(state, ...extra) {
    article.dataset.state = state;
    article.removeAttribute("aria-busy");
    text.after(...extra.filter((node) => node !== null));
  }

  function references(data) {
    draft.references(data);
    passages = data.passages;
    sources.replaceChildren(passageList(data.passages, page));
  }

  function complete(answer) {
    const feedback = newFeedback(answer.qa_id, page);
    const before = [
      readAs(answer, page),
      wordingNotice(answer, page.ask),
      fallbackNotice(answer, page),
      confidenceNote(answer),
      warningNotice(answer),
    ];
    text.before(...before.filter((node) => node !== null));
    text.replaceChildren(...bodyOf(answer, asked, page));
    markWithout(sources, answer);
    const explanation = explain(answer);
    explainPassages(sources, explanation);
    end(
      "done",
      closestSection(answer, page),
      answer.comparison === null && answer.decision === "ANSWER" ? legend(answer) : null,
      freshnessLine(answer),
      judgeNote(answer),
      struckList(answer),
      choiceList(answer, page),
      warningList(answer),
      conflictList(answer, page),
      supersededList(answer, page),
      answer.citations.length > 0 ? citationList(answer, page) : null,
      ratingSection(answer.qa_id, feedback, page),
      scopeLine(answer, page),
      answerExport(answer, asked),
      retrievalSummary(answer, page, candidateColumns(answer, explanation, page)),
    );
    offerVotes(article, answer, feedback);
    offerKeeping(article, answer, passages);
  }

  const { token, sentence, section, restart } = draft;
  return {
    article,
    on: { references, token, sentence, section, restart, complete },
    stopped() {
      end("done", element("p", { class: "notice" }, say("answer.stoppedEarly")));
    },
    failed(message) {
      const alert = element("p", { role: "alert" });
      end("error", alert);
      // filled once it is in the page, so that it is announced
      alert.textContent = message;
    },
  };
}

function bodyOf(answer, asked, page) {
  // answers that an earlier version kept have none
  if (answer.counted != null) return [countNote(answer.counted, asked, page)];
  if (answer.comparison !== null) return comparisonBlocks(answer, page);
  if (answer.decision !== "ANSWER") return [noAnswer(answer)];
  return paragraphs(answer, answer.citations, page);
}

/** A region of its own with these quotes, or null. */
function closestSection({ qa_id: id, closest }, page) {
  if (closest.length === 0) return null;
  const heading = `closest-${id}`;
  return element(
    "section",
    { class: "closest", "aria-labelledby": heading },
    element("h3", { id: heading }, say("answer.closest")),
    // without numbers, which are those of citations
    element("ul", { class: "citations" }, ...closest.map((quote) => quoteItem(quote, page))),
  );
}

/** The blocks of a comparison, in place of one text. */
function comparisonBlocks({ comparison, citations, usage }, page) {
  const { answers, agreements, differences } = comparison;
  const blocks = answers.map((part) => corpusBlock(part, citations, page));
  const columns = element("div", { class: "columns" }, ...blocks);
  const answered = answers.filter((part) => part.decision === "ANSWER");
  if (answered.length < 2) return [columns]; // nothing to compare
  return [
    pointsBlock("answer.agreements", agreements, citations, usage, page),
    pointsBlock("answer.differences", differences, citations, usage, page),
    columns,
  ];
}

function corpusBlock(part, citations, page) {
  const answered = part.decision === "ANSWER";
  const nodes = [
    element("h3", {}, page.label(part.corpus)),
    confidenceNote(part),
    ...(answered ? paragraphs(part, citations, page) : [whyNot(part)]),
    answered ? legend(part) : null,
  ];
  return element("section", { class: "compared", "data-corpus": part.corpus }, ...nodes);
}

function whyNot(part) {
  const lead = element("strong", {}, say("answer.noAnswer"));
  return element("div", { class: "notice" }, lead, ...reasonNodes(part));
}

function pointsBlock(title, points, citations, { provider }, page) {
  const items = points.map(({ text, citations: indices }) =>
    element("li", {}, byLabels(text, citations, page), ...chips(indices, citations, page)),
  );
  const none = say(provider === "extractive" ? `${title}NotFound` : "answer.noneStated");
  return element(
    "section",
    { class: "compared" },
    element("h3", {}, say(title)),
    items.length > 0 ? element("ul", {}, ...items) : element("p", { class: "hint" }, none),
  );
}

/** A point without tokens, in which a corpus that is quoted goes by its label. */
function byLabels(text, citations, page) {
  const corpora = new Set(citations.map(({ corpus }) => corpus));
  return [...corpora].reduce(
    (written, corpus) => written.replaceAll(`${corpus}: “`, () => `${page.label(corpus)}: “`),
    withoutMarkers(text),
  );
}

/** The list of contradictions, or null; folded if they concern nothing that the answer cites. */
function conflictList(answer, page) {
  return listOf("answer.disagree", ({ kind }) => kind !== "repealed", answer, page);
}

/** The list of sources that another has taken the place of, or null. */
function supersededList(answer, page) {
  return listOf("answer.superseded", ({ kind }) => kind === "repealed", answer, page);
}

function listOf(title, listed, { conflicts: all, citations, decision }, page) {
  const conflicts = all.filter(listed);
  if (conflicts.length === 0) return null;
  const cited = new Set(citations.map((citation) => citation.document_id));
  const concerned = decision !== "ANSWER" || conflicts.some((conflict) => touches(conflict, cited));
  return element(
    "details",
    { class: "conflicts", ...(concerned ? { open: "" } : {}) },
    element("summary", {}, say(title)),
    element("ul", {}, ...conflicts.map((conflict) => conflictItem(conflict, cited, page))),
  );
}

function touches({ first, second }, cited) {
  return [first, second].some((side) => cited.has(side.document_id));
}

function conflictItem(conflict, cited, page) {
  return element(
    "li",
    {},
    element("p", {}, element("strong", {}, heading(conflict.detail))),
    element("div", { class: "sides" }, sideNode(conflict.first, page), sideNode(conflict.second, page)),
    statement(conflict, cited),
  );
}

/** Says which sides the answer cites; null if it cites neither. */
function statement(conflict, cited) {
  if (!touches(conflict, cited)) return null;
  const which = conflict.stated ? "answer.citesBoth" : "answer.citesOne";
  return element("p", { class: "hint" }, say(which));
}

function sideNode(side, page) {
  const open = { type: "button", class: "link", onclick: () => page.open(placeOf(side)) };
  const place = [page.label(side.corpus), side.date, side.locator].filter(Boolean).join(" · ");
  return element(
    "div",
    {},
    element("blockquote", {}, side.quote),
    element("button", open, side.title),
    element("span", { class: "place" }, ` ${place}`),
  );
}

/** Shows an exact count, with a way to its lines; `asked` is the request it was asked with. */
function countNote({ words, query, documents: count }, asked, page) {
  const said = { count, query: `“${words}”`, documents: say("page.documents", { count }) };
  const text = count > 0 ? say("words.countInstead", said) : say("words.countNone", said);
  const show = () => {
    setScope(asked); // elsewhere there are other lines
    page.showWords(query);
  };
  const button = { type: "button", class: "link", onclick: show };
  const lines = count > 0 ? element("button", button, say("words.countShow")) : null;
  return element("p", { class: "counted notice" }, `${text} `, lines);
}
