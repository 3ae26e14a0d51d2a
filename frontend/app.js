/** Wiring: the form and the conversation. */

import { newAnswer } from "./answer.js";
import { ask, Problem } from "./api.js";
import { openCatalogue } from "./catalogue.js";
import { createReader } from "./reader.js";
import { counted, duration } from "./text.js";

const LONGEST_HISTORY = 200; // turns the server takes

const at = (id) => document.getElementById(id);
const form = at("ask-form");
const question = at("question");
const status = at("status");

const { label, traceUrl, loaded } = openCatalogue();
const page = { label, traceUrl, open: createReader(at("reader"), label) };

let session = newSession();

function newSession() {
  // crypto.randomUUID is missing on plain http
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const id = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return { id, history: [], running: null };
}

async function answerQuestion(asked) {
  const asking = session;
  const answer = newAnswer(asked, page);
  const running = begin(answer.article);
  try {
    for await (const { name, data } of ask(requestFor(asked, asking), running.signal)) {
      answer[name](data);
      if (name === "references") status.textContent = "Writing the answer …";
      if (name === "complete") completed(asked, data);
    }
  } catch (error) {
    if (session === asking) explain(error, answer);
  } finally {
    if (session === asking) finish();
  }
}

function requestFor(asked, { id, history }) {
  const { target, corpus_filter: corpus } = form.elements;
  return {
    question: asked,
    corpus_filter: corpus.value,
    target: target.value || null,
    chat_history: history.slice(-LONGEST_HISTORY),
    session_id: id,
  };
}

function begin(article) {
  session.running = new AbortController();
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
    { role: "user", content: asked },
    { role: "assistant", content: spoken(answer) },
  );
  if (question.value.trim() === asked) question.value = "";
  const citations = counted(answer.citations.length, "citation");
  status.textContent =
    answer.decision === "ANSWER"
      ? `Answered with ${citations} in ${duration(answer.timings_ms.total)}.`
      : `No answer: ${answer.reason.message}`;
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

function startAnew() {
  session.running?.abort();
  finish();
  session = newSession();
  at("answers").replaceChildren();
  at("empty").hidden = false;
  status.textContent = "";
  question.focus();
}

form.addEventListener("submit", submit);
question.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
});
at("stop").addEventListener("click", () => session.running?.abort());
at("new-conversation").addEventListener("click", startAnew);
loaded.catch((error) => {
  at("page-alert").hidden = false;
  at("page-alert").textContent = `${error.message} Reload to see what can be chosen.`;
  if (!(error instanceof Problem)) throw error;
});
