/** The conversation: questions on their way, and what has been answered. */

import { newAnswer } from "../answer/answer.js";
import { restarted } from "../answer/draft.js";
import { ask, giveUp, newId, Problem } from "../api.js";
import { conversationExport } from "../keep/exports.js";
import { say } from "../language.js";
import { duration } from "../text.js";
import { offerCount } from "../words/count_instead.js";
import { formState } from "./form_state.js";
import { telemetryChoice } from "./privacy.js";

const LONGEST_HISTORY = 200; // turns the server takes

const at = (id) => document.getElementById(id);
const form = at("ask-form");
const question = at("question");
const status = at("status");

/** The view of questions and answers. `page` is completed with what asks other questions. */
export function newConversation(page) {
  let session = newSession();
  Object.assign(page, { ask: askInstead, askAsWritten });

  async function answerQuestion(asked, { asWritten = false, narrowed = {} } = {}) {
    const asking = session;
    const body = {
      ...requestFor(asking),
      question: asked,
      ...narrowed,
      read_follow_ups: !asWritten,
    };
    const answer = newAnswer(asked, page);
    offerCount(asked, answer.article, page);
    const running = begin(answer.article, body.qa_id);
    try {
      for await (const { name, data } of ask(body, running.signal)) {
        // a newer server may send events that this page does not know
        if (Object.hasOwn(answer.on, name)) answer.on[name](data);
        report(name, data);
        if (name === "complete") completed(asked, data);
      }
    } catch (error) {
      if (session === asking) explain(error, answer);
    } finally {
      if (session === asking) finish();
    }
  }

  /** Asks another question as if it had been typed, or the same of fewer sources. */
  function askInstead(asked, narrowed) {
    question.value = asked;
    if (narrowed === undefined) page.show("ask").then(() => form.requestSubmit());
    else if (session.running === null) {
      answerQuestion(asked, { narrowed: { ...narrowed, mode: "answer" } });
    }
  }

  /** Asks a follow-up again, without reading it as anything else. */
  function askAsWritten(asked) {
    if (session.running === null) answerQuestion(asked, { asWritten: true });
  }

  function report(name, data) {
    if (name === "references") status.textContent = say("ask.writing");
    if (name === "section") {
      status.textContent = say("ask.writingOf", { corpus: page.label(data.corpus) });
    }
    if (name === "restart") status.textContent = restarted(data.reason);
  }

  function begin(article, qaId) {
    session.running = Object.assign(new AbortController(), { qaId });
    status.textContent = say("ask.searching");
    at("empty").hidden = true;
    at("stop").hidden = false;
    // aria-disabled keeps the focus, which disabled would drop
    at("ask").setAttribute("aria-disabled", "true");
    at("answers").prepend(article);
    const beside = matchMedia("(min-width: 60rem)").matches;
    article.scrollIntoView({ block: beside ? "nearest" : "start" });
    return session.running;
  }

  function completed(asked, answer) {
    session.history.push(
      // as it was read, so that the next follow-up can point to what it names
      { role: "user", content: answer.standalone_question ?? asked },
      { role: "assistant", content: spoken(answer) },
    );
    session.answers.push(answer);
    at("export-conversation").hidden = false;
    if (question.value.trim() === asked) question.value = "";
    status.textContent = outcome(answer);
  }

  function explain(error, answer) {
    if (error.name === "AbortError") {
      answer.stopped();
      status.textContent = say("ask.stopped");
      return;
    }
    const known = error instanceof Problem;
    answer.failed(known ? error.message : say("page.failed"));
    status.textContent = "";
    if (!known) throw error;
  }

  function finish() {
    session.running = null;
    if (document.activeElement === at("stop")) question.focus();
    at("stop").hidden = true;
    at("ask").removeAttribute("aria-disabled");
  }

  function stop() {
    if (session.running === null) return;
    session.running.abort();
    giveUp(session.running.qaId);
  }

  function startAnew() {
    stop();
    finish();
    session = newSession();
    at("answers").replaceChildren();
    at("empty").hidden = false;
    at("export-conversation").hidden = true;
    status.textContent = "";
    question.focus();
  }

  at("stop").addEventListener("click", stop);
  at("new-conversation").addEventListener("click", startAnew);
  at("export-conversation").append(conversationExport(() => session.answers));
  return {
    submit(asked) {
      if (session.running === null) answerQuestion(asked);
    },
  };
}

function newSession() {
  return { id: newId(), history: [], answers: [], running: null };
}

function requestFor({ id, history }) {
  return {
    ...formState(),
    chat_history: history.slice(-LONGEST_HISTORY),
    session_id: id,
    qa_id: newId(),
    ...telemetryChoice(),
  };
}

function outcome(answer) {
  const { decision, comparison, citations, reason, timings_ms: timings } = answer;
  if (decision === "ANSWER") {
    const time = duration(timings.total);
    const how = answer.cache_hit ? say("ask.fromCache") : say("ask.inTime", { time });
    return say("ask.answered", { citations: say("page.citations", { count: citations.length }), how });
  }
  // those of a comparison stand with each corpus
  if (comparison !== null) return say("ask.noCorpusAnswers");
  return say("ask.noAnswer", { reason: reason.message });
}

/** An answer as a later question may refer to it: without markers, which are good only once. */
function spoken({ sentences, reason }) {
  return sentences.map((sentence) => sentence.text).join(" ") || reason.message;
}
