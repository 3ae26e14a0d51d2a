/** The conversation: questions on their way, answers, and what a next question refers to. */

import { newAnswer } from "../answer/answer.js";
import { restarted } from "../answer/draft.js";
import { ask, giveUp, newId, Problem } from "../api.js";
import { at, element, linkButton } from "../dom.js";
import { owner } from "../keep/database.js";
import { conversationExport } from "../keep/exports.js";
import { say } from "../language.js";
import { duration } from "../text.js";
import {
  clearTab,
  isKeeping,
  keepDesk,
  keepTurn,
  keptConversation,
  keptDesk,
  offerConversations,
} from "./conversations.js";
import { telemetryChoice } from "./privacy.js";
import { formState, onScopeChange, restoreForm } from "./scope.js";

const LONGEST_HISTORY = 200; // turns the server takes
const PAUSE = 300; // ms without typing, after which the draft is kept

const form = at("ask-form");
const question = at("question");
const status = at("status");

/** The view of questions and answers. `page` is completed with what asks other questions. */
export function newConversation(page) {
  let session = newSession();
  let edited = null; // the turn that is asked again in other words
  let keeping = null;
  let ownedBy = null; // until it is known, nothing is kept
  let touched = false; // by the reader: nothing takes the place of what is in the form
  Object.assign(page, { ask: askInstead, askAsWritten });

  function answerQuestion(asked, { asWritten = false, narrowed = {}, after } = {}) {
    const request = { ...formState(), question: asked, ...narrowed, read_follow_ups: !asWritten };
    return answer(request, after);
  }

  /** Sends a request after the turn `after`, the latest if it is undefined, and shows the answer. */
  async function answer(request, after) {
    const asking = session;
    const latest = asking.turns.at(-1)?.id ?? null;
    const turn = newTurn(request, after === undefined ? latest : after);
    const shown = showTurn(turn);
    const running = begin(shown, turn);
    asking.turns.push(turn);
    keepTurn(asking, turn);
    let state = "failed";
    try {
      for await (const { name, data } of ask(bodyOf(turn, asking), running.signal)) {
        // a newer server may send events that this page does not know
        if (Object.hasOwn(shown.on, name)) shown.on[name](data);
        report(name, data);
        if (name === "references") turn.references = data;
        if (name === "complete") {
          turn.answer = data;
          state = "done";
        }
      }
    } catch (error) {
      state = error.name === "AbortError" ? "stopped" : "failed";
      if (session === asking) explain(error, shown, turn);
    } finally {
      turn.state = state;
      if (state === "stopped") turn.written = shown.written();
      const kept = keepTurn(asking, turn);
      if (session === asking) finish(shown, turn, kept);
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

  /** Asks in place of a follow-up, without reading it as anything else. */
  function askAsWritten(asked, turnId) {
    if (session.running !== null) return;
    const instead = session.turns.find((turn) => turn.id === turnId);
    answerQuestion(asked, { asWritten: true, after: instead?.parent });
  }

  /** Asks the same again, after what it was asked after. */
  function askAgain({ request, parent }) {
    // whole: what a request leaves out narrowed nothing, whatever the form narrows by now
    if (session.running === null) answer(request, parent);
  }

  /** Puts a question that was asked into the box, to be asked in other words. */
  function edit(turn) {
    restoreForm(turn.request);
    edited = turn;
    at("editing").hidden = false;
    at("edited").textContent = turn.request.question;
    question.focus();
    question.setSelectionRange(question.value.length, question.value.length);
  }

  function endEdit() {
    edited = null;
    at("editing").hidden = true;
  }

  function showTurn(turn) {
    const shown = newAnswer(turn.request.question, page, turn.request);
    const actions = turnActions({ edit: () => edit(turn), again: () => askAgain(turn) });
    shown.article.querySelector("h2").after(actions);
    at("answers").append(shown.article);
    showEmpty(false);
    return shown;
  }

  function showEmpty(isEmpty) {
    at("empty").hidden = !isEmpty;
    at("new-conversation").hidden = isEmpty;
    page.arrange();
  }

  function report(name, data) {
    if (name === "references") status.textContent = say("ask.writing");
    if (name === "section") {
      status.textContent = say("ask.writingOf", { corpus: page.label(data.corpus) });
    }
    if (name === "restart") status.textContent = restarted(data.reason);
  }

  function begin({ article, written }, { id }) {
    session.running = Object.assign(new AbortController(), { qaId: id, written });
    status.textContent = say("ask.searching");
    at("stop").hidden = false;
    // aria-disabled keeps the focus, which disabled would drop
    at("ask").setAttribute("aria-disabled", "true");
    article.scrollIntoView({ block: "start" });
    return session.running;
  }

  function explain(error, shown, turn) {
    if (error.name === "AbortError") {
      shown.stopped();
      status.textContent = say("ask.stopped");
      return;
    }
    const known = error instanceof Problem;
    turn.problem = known ? error.message : say("page.failed");
    shown.failed(turn.problem);
    status.textContent = "";
    if (!known) throw error;
  }

  async function finish(shown, turn, kept) {
    session.running = null;
    if (document.activeElement === at("stop")) question.focus();
    at("stop").hidden = true;
    at("ask").removeAttribute("aria-disabled");
    if (turn.answer === null) return offerAgain(shown.article);
    status.textContent = outcome(turn.answer);
    at("export-conversation").hidden = false;
    // what is kept nowhere else stays in the box
    if ((await kept) && question.value.trim() === turn.request.question) question.value = "";
    remember();
  }

  function stop() {
    if (session.running === null) return;
    session.running.abort();
    giveUp(session.running.qaId);
  }

  /** Leaves the present conversation, of which nothing is to be kept. */
  function forgotten() {
    session.forgotten = true;
    show(newSession());
  }

  /** Shows a conversation in place of the present one. */
  function show(conversation) {
    stop();
    endEdit();
    session = { ...conversation, running: null };
    at("stop").hidden = true;
    at("ask").removeAttribute("aria-disabled");
    at("answers").replaceChildren();
    showEmpty(session.turns.length === 0);
    for (const turn of session.turns) showAgain(turn);
    at("export-conversation").hidden = answeredTurns(session.turns).length === 0;
    status.textContent = "";
    remember();
  }

  function showAgain(turn) {
    const shown = showTurn(turn);
    try {
      if (turn.references !== null) shown.on.references(turn.references);
      if (turn.answer !== null) return shown.on.complete(turn.answer);
      if (turn.written) {
        shown.stopped(turn.written, say(turn.state === "asked" ? "ask.left" : "ask.stoppedBefore"));
        return offerAgain(shown.article);
      }
      unanswered(shown.article, turn);
    } catch (error) {
      // kept by a page of another version
      console.warn(error);
      unanswered(shown.article, { ...turn, state: "unreadable" });
    }
  }

  /** The conversation and the draft that the page was left with, or those of another tab. */
  async function restore() {
    ownedBy = await owner;
    if (!isKeeping()) return;
    const own = await keptDesk(ownedBy);
    const found = own && (await keptConversation(own.conversation));
    if (session.turns.length > 0) return; // the reader was faster
    if (own && !touched && question.value === "") restoreForm(own.form);
    if (!found) return;
    const left = found.turns.find(({ id, state }) => id === own.left?.id && state === "asked");
    if (left) {
      left.written = own.left.written;
      keepTurn(found, left);
    }
    show(found);
  }

  function remember() {
    clearTimeout(keeping);
    if (ownedBy === null || !isKeeping()) return;
    const { id, running } = session;
    const left = running && { id: running.qaId, written: running.written() };
    keepDesk(ownedBy, { conversation: id, form: formState(), left });
  }

  function rememberSoon() {
    clearTimeout(keeping);
    keeping = setTimeout(remember, PAUSE);
  }

  at("stop").addEventListener("click", stop);
  at("new-conversation").addEventListener("click", () => {
    show(newSession());
    question.focus();
  });
  at("edit-end").addEventListener("click", endEdit);
  at("export-conversation").append(conversationExport(() => answeredTurns(session.turns).map(({ answer }) => answer)));
  form.addEventListener("input", () => {
    touched = true;
    rememberSoon();
  });
  addEventListener("pagehide", remember);
  at("sign-out").addEventListener("click", () => {
    remember();
    ownedBy = null;
    clearTab();
  });
  const conversations = offerConversations({ open: show, present: () => session.id, forgotten });
  return {
    loaded: page.loaded.then(restore).then(() => onScopeChange(rememberSoon)),
    shown: conversations.refresh,
    submit(asked) {
      if (session.running !== null) return;
      const after = edited === null ? undefined : edited.parent;
      endEdit();
      answerQuestion(asked, { after });
    },
  };
}

function bodyOf(turn, session) {
  return {
    ...turn.request,
    chat_history: historyOf(line(session, turn.parent)).slice(-LONGEST_HISTORY),
    session_id: session.id,
    qa_id: turn.id,
    ...telemetryChoice(),
  };
}

function outcome(answer) {
  const { decision, comparison, citations, counted, timings_ms: timings } = answer;
  if (counted != null) return say("ask.counted");
  if (decision === "ANSWER") {
    const time = duration(timings.total);
    const how = answer.cache_hit ? say("ask.fromCache") : say("ask.inTime", { time });
    return say("ask.answered", { citations: say("page.citations", { count: citations.length }), how });
  }
  // those of a comparison stand with each corpus
  if (comparison !== null) return say("ask.noCorpusAnswers");
  return say("ask.noAnswer");
}

/** A conversation without a turn; `turns` are in the order they were asked. */
function newSession() {
  return { id: newId(), begun: Date.now(), turns: [], running: null };
}

/** A question as it is asked: after the turn with the id `parent`, or null. */
function newTurn(request, parent) {
  const open = { state: "asked", references: null, answer: null, problem: null };
  return { id: newId(), at: Date.now(), parent, request, ...open };
}

/** The turns up to the one with this id: each the one that the next was asked after. */
function line({ turns }, id) {
  const byId = new Map(turns.map((turn) => [turn.id, turn]));
  const found = [];
  for (let turn = byId.get(id); turn; turn = byId.get(turn.parent)) found.unshift(turn);
  return found;
}

function answeredTurns(turns) {
  return turns.filter((turn) => turn.answer !== null);
}

/** Lists the questions and answers of answered turns, as the server takes them. */
function historyOf(turns) {
  return answeredTurns(turns).flatMap(({ request, answer }) => {
    // as it was read, so that the next follow-up can point to what it names
    const question = answer.standalone_question ?? request.question;
    // without markers, which are good only once
    const text = answer.sentences.map((sentence) => sentence.text).join(" ");
    return [
      { role: "user", content: question },
      { role: "assistant", content: text || answer.reason.message },
    ];
  });
}

/** Buttons for below a question: to change it, and once it is left unanswered to ask it again. */
function turnActions({ edit, again }) {
  return element(
    "p",
    { class: "turn-actions" },
    linkButton(say("ask.edit"), edit),
    linkButton(say("ask.again"), again, { class: "link again", hidden: "" }),
  );
}

/** Lets the question of an article be asked again. */
function offerAgain(article) {
  article.querySelector(".again").hidden = false;
}

/** Says below a kept question why it has no answer. */
function unanswered(article, { state, problem }) {
  const why = {
    asked: () => say("ask.left"),
    stopped: () => say("ask.stoppedBefore"),
    failed: () => problem ?? say("page.failed"),
    unreadable: () => say("ask.unreadable"),
  };
  article.dataset.state = "error";
  article.removeAttribute("aria-busy");
  offerAgain(article);
  article.querySelector(".turn-actions").after(element("p", { class: "notice" }, why[state]()));
}
