/** One asked question as an article that fills as its answer comes about. */

import { candidateColumns } from "./candidates.js";
import { comparisonBlocks } from "./comparison.js";
import { choiceList } from "./choices.js";
import { citationList } from "./citations.js";
import { closestSection } from "./closest.js";
import { confidenceNote } from "./confidence.js";
import { conflictList, supersededList } from "./conflicts.js";
import { element } from "../dom.js";
import { newDraft } from "./draft.js";
import { explain } from "./explained.js";
import { formState } from "../ask/form_state.js";
import { answerExport } from "../keep/exports.js";
import { offerKeeping } from "../keep/menu.js";
import { newFeedback } from "../feedback/feedback.js";
import { passageList } from "./passages.js";
import { ratingSection } from "../feedback/rating.js";
import { readAs } from "./read_as.js";
import { retrievalSummary } from "./retrieval.js";
import { say } from "../language.js";
import { freshnessLine, scopeLine } from "./scope_line.js";
import { legend, paragraphs } from "./sentences.js";
import { judgeNote, struckList } from "./support.js";
import { fallbackNotice, noAnswer, warningList, warningNotice } from "./verdict.js";
import { offerVotes } from "../feedback/votes.js";
import { explainPassages } from "./why.js";
import { countNote } from "../words/count_instead.js";
import { markWithout, wordingNotice } from "./wording.js";

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
