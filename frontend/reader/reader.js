/** The pane that shows a document with the cited characters marked. */

import { getJson, Problem } from "../api.js";
import { definitions, element, placeLine } from "../dom.js";
import { contextLine, fullPlace } from "../places.js";
import { passageQuery } from "../store.js";
import { heading, marked, unitSpans, warningStatus } from "../text.js";

const SHOWN_ELSEWHERE = new Set(["title", "date", "url"]);
const BLANK_LINES = /\n(?:[^\S\n]*\n)+/g;

/** A function that opens the pane at {documentId, passageId, start, end, quote, locator}.
 *
 * Either id will do, and all else is optional.
 */
export function createReader(pane, label) {
  const title = pane.querySelector("#reader-title");
  const warning = pane.querySelector("#reader-warning");
  const link = pane.querySelector("#reader-link");
  const body = pane.querySelector("#reader-body");
  let latest = null;
  let opener = null; // what the focus goes back to

  pane.querySelector("#reader-close").addEventListener("click", close);
  document.addEventListener("keydown", ({ key }) => {
    if (key === "Escape" && document.querySelector("dialog[open]") === null) close();
  });

  function close() {
    if (pane.hidden) return;
    pane.hidden = true;
    opener?.focus();
  }

  function head(text, warnings = [], passageId = undefined) {
    title.textContent = text;
    link.hidden = passageId === undefined;
    if (!link.hidden) link.href = permalink(passageId);
    warning.replaceChildren(...warnings);
    warning.hidden = warnings.length === 0;
  }

  function show(found, place) {
    head(found.title, warningNodes(found, open), place.passageId);
    const spans = spansOf(found.text, place);
    const above = [...about(found, label), ...whereNodes(found, place)];
    body.replaceChildren(...above, textNode(found.text, spans));
    checkQuote(body, place);
    bringIntoView(body);
  }

  async function open(place) {
    latest = place;
    head("Loading …");
    body.replaceChildren();
    if (!pane.contains(document.activeElement)) opener = document.activeElement;
    pane.hidden = false;
    try {
      const found = await located(place);
      const document = await getJson(`api/documents/${encodeURIComponent(found.documentId)}`);
      if (latest === place) show(document, found);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (latest === place) fail(error.message);
    }
  }

  function fail(message) {
    head("The document cannot be shown");
    body.replaceChildren(element("p", { role: "alert" }, message));
  }

  return open;
}

/** The place with its document, looked up if only the passage is known. */
async function located(place) {
  if (place.documentId !== undefined) return place;
  const passage = await getJson(`api/passages/${encodeURIComponent(place.passageId)}`);
  const { document_id: documentId, start, end } = passage;
  return { ...place, documentId, start, end };
}

function about({ corpus, title, metadata, source }, label) {
  const rest = Object.entries(metadata).filter(([name]) => !SHOWN_ELSEWHERE.has(name));
  return [
    element("p", {}, placeLine([label(corpus), metadata.date], metadata.url, title)),
    definitions([
      ...rest.map(([name, value]) => [heading(name), [value].flat().join(", ")]),
      ["File", source],
    ]),
  ];
}

/** Where in the document the cited text stands, for above it. */
function whereNodes({ passages }, { passageId, start, locator }) {
  const holds = (passage) => passage.start <= start && start < passage.end;
  const passage = passages.find((each) => each.passage_id === passageId) ?? passages.find(holds);
  if (passage === undefined) return [];
  const where = fullPlace({ ...passage, locator: locator ?? passage.locator });
  const nodes = [element("p", { class: "where" }, where), contextLine(passage)];
  return nodes.filter((node) => node !== null);
}

/** The address at which the page opens at this passage. */
function permalink(passageId) {
  return new URL(passageQuery(passageId), location.href).href;
}

/** What stands in the way of relying on the document, with the way to its successor. */
function warningNodes({ corpus, metadata }, open) {
  const successor = String(metadata.superseded_by ?? "");
  const status = warningStatus(metadata) || (successor && "superseded");
  if (!status) return [];
  const by = successor ? [" by ", successorNode(corpus, successor, open)] : [];
  return [element("strong", {}, heading(status)), ...by];
}

/** A button where the successor is a document's name, text where it is described in words. */
function successorNode(corpus, successor, open) {
  if (/\s/.test(successor)) return successor;
  const attributes = {
    type: "button",
    class: "link",
    onclick: () => open({ documentId: `${corpus}.${successor}` }),
  };
  return element("button", attributes, successor);
}

function spansOf(text, { start, end }) {
  return start === undefined ? [] : unitSpans(text, [{ start, end }]);
}

/** Paragraphs that keep the blank lines after them: together they are the text, unchanged. */
function textNode(text, spans) {
  const ends = [...text.matchAll(BLANK_LINES)].map((gap) => gap.index + gap[0].length);
  const starts = [0, ...ends];
  const paragraphs = starts.map((start, index) => {
    const end = ends[index] ?? text.length;
    const kind = isHeading(text.slice(start, end).trim()) ? "paragraph title" : "paragraph";
    return element("p", { class: kind }, ...marked(text, spans, start, end));
  });
  return element("div", { class: "document-text" }, ...paragraphs);
}

/** A Markdown heading, or a short line in capitals. */
function isHeading(line) {
  const inCapitals = line === line.toUpperCase() && line !== line.toLowerCase();
  return /^#{1,6} [^\n]*$/.test(line) || (inCapitals && /^[^\n]{1,80}$/.test(line));
}

/** Says so if what is marked is not what was cited, as after a rebuild of the collection. */
function checkQuote(body, { quote }) {
  const shown = [...body.querySelectorAll("mark")].map((mark) => mark.textContent).join("");
  if (quote === undefined || shown === quote) return;
  const message = "The document has changed: the marked text is not the text that was cited.";
  body.prepend(element("p", { role: "alert" }, message));
}

/** Moves to what is marked, or to the beginning. */
function bringIntoView(body) {
  body.scrollTop = 0;
  const mark = body.querySelector("mark");
  mark?.setAttribute("tabindex", "0");
  (mark ?? body).focus({ preventScroll: true });
  mark?.scrollIntoView({ block: "center" });
}
