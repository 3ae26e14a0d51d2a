/** One asked question as an article that fills as its answer comes about.
 *
 * In place of a text it may hold a comparison of corpora, an exact count, or the closest quotes.
 */

import { formState, setScope } from "../ask/scope.js";
import { disclosure, element, linkButton } from "../dom.js";
import { newFeedback, offerVotes, ratingSection } from "../feedback/feedback.js";
import { answerExport } from "../keep/exports.js";
import { offerKeeping } from "../keep/menu.js";
import { say } from "../language.js";
import { dateWords, heading, warningStatus } from "../text.js";
import { newDraft } from "./draft.js";
import { sourceList } from "./passages.js";
import {
  choiceList,
  freshnessLine,
  markWithout,
  readAs,
  scopeLine,
  wordingNotice,
} from "./question.js";
import { candidateColumns, explain, explainPassages, retrievalSummary } from "./retrieval.js";
import { chips, legend, openSource, paragraphs, quotation, withoutMarkers } from "./sentences.js";
import {
  confidenceNote,
  fallbackNotice,
  judgeNote,
  noAnswer,
  sentenceWarnings,
  struckList,
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
  const head = element("div", { class: "answer-head" });
  const article = element(
    "article",
    { class: "answer", "data-state": "running", "aria-busy": "true" },
    element("h2", {}, question),
    head,
    text,
    sources,
  );

  function end(state, ...extra) {
    article.dataset.state = state;
    article.removeAttribute("aria-busy");
    text.after(...present(extra));
  }

  function references(data) {
    draft.references(data);
    passages = data.passages;
    sources.replaceChildren(sourceList(passages, page));
  }

  function complete(answer) {
    const feedback = newFeedback(answer.qa_id, page);
    const choices = choiceList(answer, page);
    const isAnswered = answer.decision === "ANSWER";
    const said = [confidenceNote(answer), judgeNote(answer), freshnessLine(answer)];
    if (!isAnswered && answer.comparison === null) said.push(element("p", { class: "hint" }, say("ask.noAnswer")));
    const before = [readAs(answer, page), wordingNotice(answer, page.ask), fallbackNotice(answer, page)];
    head.before(...present(before));
    head.append(...present(said));
    text.before(...present([warningNotice(answer)]));
    text.replaceChildren(...(choices && !isAnswered ? [choices] : bodyOf(answer, asked, page)));
    sources.replaceChildren(sourceList(passages, page, answer));
    markWithout(sources, answer);
    const explanation = explain(answer);
    explainPassages(sources, explanation);
    end(
      "done",
      answer.comparison === null && isAnswered ? legend(answer) : null,
      struckList(answer),
      isAnswered ? choices : null,
      contradictionList(answer, page),
      ...successions(answer, passages, page),
    );
    const rating = ratingSection(answer.qa_id, feedback, page);
    const takeHome = disclosure(say("answer.takeHome"), {}, answerExport(answer, asked));
    const way = retrievalSummary(answer, page, candidateColumns(answer, explanation, page));
    article.append(
      element("div", { class: "answer-foot" }, rating, takeHome),
      element("div", {}, scopeLine(answer, page), way),
    );
    offerVotes(article, answer, feedback);
    offerKeeping(article, answer, passages);
  }

  const { token, sentence, section, restart } = draft;
  return {
    article,
    on: { references, token, sentence, section, restart, complete },
    written: draft.written,
    /** Ends with what was written; `kept` is that of before the page was left, `why` it ended. */
    stopped(kept = null, why = say("ask.stoppedBefore")) {
      if (kept !== null) text.replaceChildren(element("p", { class: "draft" }, kept));
      end("done", element("p", { class: "notice" }, why));
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
  const refusal = answer.decision === "ANSWER" ? [] : noAnswer(answer, page);
  if (answer.comparison !== null) return [...refusal, ...comparisonBlocks(answer, page)];
  if (answer.decision !== "ANSWER") return refusal;
  return paragraphs(answer, answer.citations, sentenceWarnings(answer), page);
}

/** The blocks of a comparison, in place of one text: who answers, who does not, what is common. */
function comparisonBlocks(answer, page) {
  const { answers, agreements, differences } = answer.comparison;
  const answered = answers.filter(({ decision }) => decision === "ANSWER");
  const silent = answers.filter(({ decision }) => decision !== "ANSWER");
  return [
    element("div", { class: "columns" }, ...answered.map((part) => answeredBlock(part, answer, page))),
    ...silent.map((part) => corpusBlock(part, page, ...noAnswer(part, page))),
    ...pointsBlock("answer.agreements", agreements, answer, page),
    ...pointsBlock("answer.differences", differences, answer, page),
  ];
}

/** The beginning of what a corpus answers; the rest is folded, so that all fit beside each other. */
function answeredBlock(part, answer, page) {
  const [first, ...rest] = paragraphs(part, answer.citations, sentenceWarnings(answer), page);
  return corpusBlock(
    part,
    page,
    confidenceNote(part),
    warningNotice(answer, part.corpus),
    first,
    rest.length > 0 ? disclosure(say("answer.wholeAnswer"), {}, ...rest) : null,
    legend(part),
  );
}

function corpusBlock({ corpus }, page, ...nodes) {
  const heading = element("h3", {}, page.label(corpus));
  return element("section", { class: "compared", "data-corpus": corpus }, heading, ...nodes);
}

function present(nodes) {
  return nodes.filter((node) => node !== null);
}

/** A folded list of what was found, or nothing: that none was found says little. */
function pointsBlock(title, points, { citations }, page) {
  if (points.length === 0) return [];
  const items = points.map(({ text, citations: indices }) =>
    element("li", {}, byLabels(text, citations, page), ...chips(indices, citations, page)),
  );
  return [disclosure(say(title), { class: "compared" }, element("ul", {}, ...items))];
}

/** A point without tokens, in which a corpus that is quoted goes by its label. */
function byLabels(text, citations, page) {
  const corpora = new Set(citations.map(({ corpus }) => corpus));
  return [...corpora].reduce(
    (written, corpus) => written.replaceAll(`${corpus}: “`, () => `${page.label(corpus)}: “`),
    withoutMarkers(text),
  );
}

/** A line for each source that another has taken the place of, unless its sentence says so. */
function successions({ conflicts, citations }, passages, page) {
  const cited = new Set(citations.map((citation) => citation.document_id));
  return conflicts
    .filter(({ kind }) => kind === "repealed")
    .map(({ detail, first, second }) =>
      detail.startsWith(`${first.title} was `) ? [first, second] : [second, first],
    )
    .filter(([old]) => !cited.has(old.document_id))
    .map(([old, next]) => {
      const { metadata } = passages.find(({ document_id: id }) => id === old.document_id) ?? {};
      const status = warningStatus(metadata) || say("answer.statusSuperseded");
      const by = element("strong", { class: "badge" }, say("answer.statusBy", { status }));
      return element("p", { class: "succession" }, openSource(old, page), by, openSource(next, page));
    });
}

/** The list of contradictions, or null; folded if they concern nothing that the answer cites. */
function contradictionList({ conflicts: all, citations, decision }, page) {
  const conflicts = all.filter(({ kind }) => kind !== "repealed");
  if (conflicts.length === 0) return null;
  const cited = new Set(citations.map((citation) => citation.document_id));
  const concerned = decision !== "ANSWER" || conflicts.some((conflict) => touches(conflict, cited));
  return disclosure(
    say("answer.disagree"),
    { class: "conflicts", ...(concerned ? { open: "" } : {}) },
    element("ul", {}, ...conflicts.map((conflict) => conflictItem(conflict, cited, page))),
  );
}

function touches({ first, second }, cited) {
  return [first, second].some((side) => cited.has(side.document_id));
}

/** Both sides, and which of them the answer cites, if any. */
function conflictItem(conflict, cited, page) {
  const cites = say(conflict.stated ? "answer.citesBoth" : "answer.citesOne");
  return element(
    "li",
    {},
    element("p", {}, element("strong", {}, heading(conflict.detail))),
    element("div", { class: "sides" }, sideNode(conflict.first, page), sideNode(conflict.second, page)),
    touches(conflict, cited) ? element("p", { class: "hint" }, cites) : null,
  );
}

function sideNode(side, page) {
  const place = [page.label(side.corpus), dateWords(side.date), side.locator];
  return element("div", {}, ...quotation(side, place, page));
}

/** Shows an exact count, with a way to its lines; `asked` is the request it was asked with. */
function countNote({ words, query, documents: count }, asked, page) {
  const said = { count, query: `“${words}”`, documents: say("page.documents", { count }) };
  const text = count > 0 ? say("words.countInstead", said) : say("words.countNone", said);
  const show = () => {
    setScope(asked); // elsewhere there are other lines
    page.showWords(query);
  };
  const lines = count > 0 ? linkButton(say("words.countShow"), show) : null;
  return element("p", { class: "counted notice" }, `${text} `, lines);
}
