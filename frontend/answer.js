/** One asked question as an article that fills as its answer comes about. */

import { element, placeLine } from "./dom.js";
import { passageList, statusBadge } from "./passages.js";
import { retrievalSummary } from "./retrieval.js";
import { pageOf } from "./text.js";

/** The article, and what to call as events arrive. `page` gives labels, links and the reader. */
export function newAnswer(question, page) {
  const text = element("div", { class: "answer-text" });
  const sources = element("div");
  const article = element(
    "article",
    { class: "answer", "data-state": "running", "aria-busy": "true" },
    element("h2", {}, question),
    text,
    sources,
  );
  let passages = [];

  function end(state, ...extra) {
    article.dataset.state = state;
    article.removeAttribute("aria-busy");
    text.after(...extra);
  }

  return {
    article,
    references(data) {
      passages = data.passages;
      sources.replaceChildren(passageList(passages, page));
    },
    token(data) {
      text.append(element("p", {}, readable(data.text, passages)));
    },
    complete(answer) {
      const summary = retrievalSummary(answer, page);
      if (answer.decision === "ANSWER") {
        text.replaceChildren(...paragraphs(answer, page));
        end("done", citationList(answer, passages, page), summary);
      } else {
        text.replaceChildren(notice(answer));
        end("done", summary);
      }
    },
    stopped() {
      end("done", element("p", { class: "notice" }, "Stopped before the answer was complete."));
    },
    failed(message) {
      const alert = element("p", { role: "alert" });
      end("error", alert);
      // filled once it is in the page, so that it is announced
      alert.textContent = message;
    },
  };
}

/** Text still on its way, with titles in place of markers: numbers are known at the end. */
function readable(text, passages) {
  return passages.reduce(
    (written, { marker, title, page }) => written.replaceAll(marker, `(${title}, p. ${page})`),
    text.trim(),
  );
}

function notice({ decision, reason }) {
  return element(
    "div",
    { class: "notice" },
    element("h3", {}, "No answer"),
    element("p", {}, reason.message),
    element("p", { class: "code" }, `${decision} · ${reason.code}`),
  );
}

function paragraphs(answer, page) {
  return lines(answer).map((line) =>
    element("p", {}, ...line.flatMap((sentence) => sentenceNodes(sentence, answer, page))),
  );
}

/** The sentences, by the lines on which they stand in the written answer. */
function lines({ answer, sentences }) {
  const grouped = [];
  let at = 0;
  for (const sentence of sentences) {
    const found = answer.indexOf(sentence.text, at);
    const start = found < 0 ? at : found;
    if (grouped.length === 0 || answer.slice(at, start).includes("\n")) grouped.push([]);
    grouped.at(-1).push(sentence);
    at = found < 0 ? at : start + sentence.text.length;
  }
  return grouped;
}

function sentenceNodes(sentence, answer, page) {
  const chips = sentence.citations.map((index) => chip(answer.citations[index], index + 1, page));
  return [sentence.text, ...chips, " "];
}

function chip(citation, number, page) {
  return element(
    "button",
    {
      type: "button",
      class: "citation",
      "aria-label": `Source ${number}: ${named(citation)}`,
      onclick: () => page.open(placeOf(citation)),
    },
    String(number),
  );
}

/** `Roe v. Wade, 1973`; the year is left out where the title says it. */
function named({ title, date }) {
  const year = date?.slice(0, 4);
  return year && !title.includes(year) ? `${title}, ${year}` : title;
}

function placeOf({ document_id: documentId, start, end, quote }) {
  return { documentId, start, end, quote };
}

function citationList(answer, passages, page) {
  const metadata = new Map(passages.map((item) => [item.passage_id, item.metadata]));
  const items = answer.citations.map((citation) =>
    citationItem(citation, metadata.get(citation.passage_id), answer, page),
  );
  return element("ol", { class: "citations", "aria-label": "Citations" }, ...items);
}

function citationItem(citation, metadata, answer, page) {
  const place = [
    page.label(citation.corpus),
    citation.date,
    pageOf(citation.page, metadata),
    citation.section,
    citation.speaker,
  ];
  const open = { type: "button", class: "link", onclick: () => page.open(placeOf(citation)) };
  // an extractive answer is its quotes; said once is enough
  const quoted = answer.answer.includes(citation.quote);
  return element(
    "li",
    {},
    element("button", open, citation.title),
    statusBadge(metadata),
    placeLine(place, citation.url, citation.title),
    quoted ? null : element("blockquote", {}, citation.quote),
  );
}
