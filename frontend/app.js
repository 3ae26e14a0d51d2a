/** Wiring: the form and the conversation. */

import { newAnswer } from "./answer.js";
import { ask, giveUp, newId, Problem } from "./api.js";
import { openCatalogue } from "./catalogue.js";
import { restarted } from "./draft.js";
import { conversationExport } from "./exports.js";
import { telemetryChoice } from "./privacy.js";
import { createReader } from "./reader.js";
import { counted, duration } from "./text.js";

const LONGEST_HISTORY = 200; // turns the server takes

const at = (id) => document.getElementById(id);
const form = at("ask-form");
const question = at("question");
const status = at("status");

const { loaded, ...known } = openCatalogue();
const page = { ...known, open: createReader(at("reader"), known.label), ask: askInstead, askAsWritten };

let session = newSession();

function newSession() {
  return { id: newId(), history: [], answers: [], running: null };
}

async function answerQuestion(asked, { asWritten = false, narrowed = {} } = {}) {
  const asking = session;
  const body = { ...requestFor(asked, asking), ...narrowed, read_follow_ups: !asWritten };
  const answer = newAnswer(asked, page);
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
  if (narrowed === undefined) form.requestSubmit();
  else if (session.running === null) answerQuestion(asked, { narrowed: { ...narrowed, mode: "answer" } });
}

/** Asks a follow-up again, without reading it as anything else. */
function askAsWritten(asked) {
  if (session.running === null) answerQuestion(asked, { asWritten: true });
}

function requestFor(asked, { id, history }) {
  const { target, corpus_filter: corpus, mode } = form.elements;
  return {
    question: asked,
    corpus_filter: corpus.value,
    mode: mode.checked && !mode.disabled ? "compare" : "answer",
    target: target.value || null,
    chat_history: history.slice(-LONGEST_HISTORY),
    session_id: id,
    qa_id: newId(),
    ...telemetryChoice(),
  };
}

function report(name, data) {
  if (name === "references") status.textContent = "Writing the answer …";
  if (name === "section") status.textContent = `Writing the answer of ${page.label(data.corpus)} …`;
  if (name === "restart") status.textContent = restarted(data.reason);
}

function begin(article, qaId) {
  session.running = Object.assign(new AbortController(), { qaId });
  status.textContent = "Searching …";
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

function outcome(answer) {
  const { decision, comparison, citations, reason, timings_ms: timings } = answer;
  if (decision === "ANSWER") {
    const how = answer.cache_hit ? "from the cache" : `in ${duration(timings.total)}`;
    return `Answered with ${counted(citations.length, "citation")} ${how}.`;
  }
  // those of a comparison stand with each corpus
  return comparison === null ? `No answer: ${reason.message}` : "No corpus answers.";
}

/** An answer as a later question may refer to it: without markers, which are good only once. */
function spoken({ sentences, reason }) {
  return sentences.map((sentence) => sentence.text).join(" ") || reason.message;
}

function explain(error, answer) {
  if (error.name === "AbortError") {
    answer.stopped();
    status.textContent = "Stopped.";
    return;
  }
  const known = error instanceof Problem;
  answer.failed(known ? error.message : "The page failed. Reload it and ask again.");
  status.textContent = "";
  if (!known) throw error;
}

function finish() {
  session.running = null;
  if (document.activeElement === at("stop")) question.focus();
  at("stop").hidden = true;
  at("ask").removeAttribute("aria-disabled");
}

function submit(event) {
  event.preventDefault();
  if (session.running !== null) return;
  question.value = question.value.trim();
  if (form.reportValidity()) answerQuestion(question.value);
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

/** Opens the passage that the page's address names. */
function openLinked() {
  const passageId = new URLSearchParams(location.search).get("passage");
  if (passageId) page.open({ passageId });
}

form.addEventListener("submit", submit);
question.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
});
at("stop").addEventListener("click", stop);
at("new-conversation").addEventListener("click", startAnew);
at("export-conversation").append(conversationExport(() => session.answers));
loaded.finally(openLinked).catch((error) => {
  at("page-alert").hidden = false;
  at("page-alert").textContent = `${error.message} Reload to see what can be chosen.`;
  if (!(error instanceof Problem)) throw error;
});
