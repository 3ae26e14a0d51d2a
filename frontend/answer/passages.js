/** The sources of an answer: passages by document, those first that it cites or that come closest. */

import { disclosure, element, linkButton, placeLine, plainButton } from "../dom.js";
import { say } from "../language.js";
import { contextLine, dateWords, fullPlace, marked, unitSpans, titleOf, warningStatus } from "../text.js";
import { whyHere } from "./retrieval.js";
import { chips, placeOf } from "./sentences.js";

const NONE = { question: "", decision: "ANSWER", citations: [], closest: [] };
const SHOWN = 3; // passages of an answer that names none
const SHORT = 320; // characters, which the lines that are shown hold
const LEAD = 160; // characters before the words that are looked for

/** The list; what the answer does not name, and what is too weak to answer from, is behind "More". */
export function sourceList(passages, page, answer = NONE) {
  const { question, citations, closest, decision } = answer;
  const quotes = citations.length > 0 ? citations : closest;
  const found = passages.map(({ passage_id: passage }) => passage);
  const place = ({ passage_id: passage, valid }) => {
    const at = quotes.findIndex((quote) => quote.passage_id === passage);
    return at >= 0 ? at : quotes.length + (valid ? 0 : 1);
  };
  // behind a link there are quotes alone
  const alone = quotes.filter((quote, at) => !found.includes(quote.passage_id) && place(quote) === at);
  const all = [...passages, ...alone.map((quote) => ({ ...quote, text: quote.quote, highlights: [] }))];
  all.sort((a, b) => place(a) - place(b));
  const isShown = (passage, at) =>
    quotes.length > 0 ? place(passage) < quotes.length : at < SHOWN && passage.valid;
  const rest = new Set(all.filter((passage, at) => !isShown(passage, at)));
  const titles = new Map(all.map(({ document_id: document, title }) => [document, title]));
  const groups = new Map();
  for (const passage of all) {
    groups.set(passage.document_id, [...(groups.get(passage.document_id) ?? []), passage]);
  }
  const documents = [...groups.values()].map((group) =>
    documentItem(group, rest, { page, titles, quotes, citations }),
  );
  const heading = decision === "ANSWER" || closest.length === 0 ? counts(all, groups, citations) : say("answer.closest");
  return element(
    "section",
    // each answer of a conversation has such a list
    { class: "sources", "aria-label": [heading, question].filter(Boolean).join(": ") },
    element("h3", {}, heading),
    element("ol", {}, ...documents),
    rest.size > 0 ? more(rest.size, documents) : null,
  );
}

/** `10 passages of 4 documents, 2 documents cited` */
function counts(all, groups, citations) {
  const cited = new Set(citations.map(({ document_id: document }) => document)).size;
  const passages = say("page.passages", { count: all.length });
  const found = say("answer.sources", { passages, documents: say("page.documents", { count: groups.size }) });
  return cited > 0 ? `${found}, ${say("answer.citedDocuments", { count: cited })}` : found;
}

function more(count, documents) {
  const button = linkButton(say("answer.more", { count }), () => {
    const hidden = documents.flatMap((node) => [node, ...node.querySelectorAll("li")]).filter((node) => node.hidden);
    for (const node of hidden) node.hidden = false;
    button.remove();
    hidden[0].querySelector("li:not([hidden]) button, button").focus();
  });
  return button;
}

function documentItem(group, rest, { page, titles, quotes, citations }) {
  const [first] = group;
  const open = () => page.open(placeOf(quoteIn(first, quotes)));
  const items = group.map((passage) =>
    passageItem(passage, rest.has(passage), { page, titles, quotes, citations }),
  );
  return element(
    "li",
    { class: "document", ...(items.every((item) => item.hidden) && { hidden: "" }) },
    element("h4", {}, linkButton(first.title, open), statusBadge(first)),
    element("p", {}, placeLine([page.label(first.corpus), dateWords(first.date)], first.url, first.title)),
    element("ul", {}, ...items),
  );
}

/** The first quote of a passage, else the passage. */
function quoteIn(passage, quotes) {
  return quotes.find((quote) => quote.passage_id === passage.passage_id) ?? passage;
}

function passageItem(passage, isHidden, { page, titles, quotes, citations }) {
  const cited = [...citations.keys()].filter((at) => citations[at].passage_id === passage.passage_id);
  const place = fullPlace(passage);
  const open = () => page.open(placeOf(quoteIn(passage, quotes)));
  const title = [passage.title, place].filter(Boolean).join(", ");
  const isQuoted = ({ passage_id: id }) => id === passage.passage_id;
  const { node, whole } = passageText(passage, quotes.filter(isQuoted), cited.length > 0);
  const tools = element("div", { class: "tools" }, whole, passage.signals ? whyHere(passage) : null);
  return element(
    "li",
    { "data-passage": passage.passage_id, ...(isHidden && { hidden: "" }) },
    element(
      "div",
      { class: "where" },
      ...chips(cited, citations, page),
      linkButton(place || say("answer.open"), open, { "aria-label": say("answer.openIn", { title }) }),
      contextLine(passage),
      passage.valid === false && isHidden ? element("span", { class: "hint" }, say("answer.tooWeak")) : null,
    ),
    node,
    duplicateList(passage.duplicates ?? [], titles, page),
    toolsButton(tools),
    tools,
  );
}

/** Opens the tools of a passage by touch; with a mouse and by keyboard they show themselves. */
function toolsButton(tools) {
  const unfold = () => button.setAttribute("aria-expanded", String(tools.classList.toggle("unfolded")));
  const named = { "aria-expanded": "false", "aria-label": say("answer.tools") };
  const button = plainButton("⋯", unfold, { class: "quiet dots", ...named });
  return button;
}

/** Some lines of a passage from its quotes on, which are marked if they are cited, and a button for
 * all of it. */
function passageText({ text, start, highlights }, quotes, areCited) {
  const quoted = quotes.map((quote) => ({ start: quote.start - start, end: quote.end - start }));
  const spans = areCited ? unitSpans(text, quoted) : [];
  const [first = { start: 0 }] = [...spans, ...unitSpans(text, [...quoted, ...highlights].slice(0, 1))];
  const at = first.start;
  const line = text.lastIndexOf("\n", at) + 1;
  const from = at < LEAD ? 0 : at - line < LEAD ? line : at;
  const node = element("div", { class: "passage-text short" }, from > 0 ? "… " : "", ...marked(text, spans, from));
  if (from === 0 && text.length <= SHORT) return { node, whole: null };
  const whole = linkButton(say("answer.whole"), () => {
    node.replaceChildren(...marked(text, spans));
    node.classList.remove("short");
    whole.hidden = true;
  });
  return { node, whole };
}

/** The badge of a source that is overruled, repealed and the like, by what if it says so; or null. */
function statusBadge({ metadata, successors = [] }) {
  const status = warningStatus(metadata);
  if (!status) return null;
  const successor = successors.map(({ title }) => title).join(", ");
  const words = successor ? say("answer.supersededBy", { status, successor }) : status;
  return element("strong", { class: "badge" }, words);
}

/** A folded list of them, each of which can be opened; null without any. */
function duplicateList(ids, titles, page) {
  if (ids.length === 0) return null;
  const items = ids.map((passageId) =>
    element("li", {}, linkButton(titleOf(passageId, titles), () => page.open({ passageId }))),
  );
  const summary = say("answer.duplicates", { count: ids.length });
  return disclosure(summary, { class: "duplicates" }, element("ul", {}, ...items));
}
