/** Verified sentences with their citations as numbered chips, and texts that still have tokens such
 * as `[uk.case p2]`, `[nz.act s10(1)]`. */

import { element, linkButton, plainButton } from "../dom.js";
import { say, sayNodes, told } from "../language.js";
import { dateWords, shortPlace, yearIn } from "../text.js";

// the places of `core/locator.py`; a test holds them against it
const PLACE = String.raw`(?:p\d+|(?:s|r|reg|art|cl|para|sch|o|sch(?:s|r|reg|art|cl|para))[\dA-Z][^\[\]\s]*)`;
const MARKER = String.raw`\[[^[\]\s]+ ${PLACE}\]`;
const ROW = String.raw`${MARKER}(?:[\s,;]*${MARKER})*`;
const GAP = 6; // px between a number and what it cites
const PATIENCE = 150; // ms for the pointer to reach that
const GROUP = String.raw`\(${ROW}\)|${ROW}`;

/** The paragraphs of a text whose sentences cite from `citations` by index; `warnings` are by text. */
export function paragraphs({ answer, sentences }, citations, warnings, page) {
  return lines(answer, sentences).map((line) =>
    element("p", {}, ...line.flatMap((sentence) => sentenceNodes(sentence, citations, warnings, page))),
  );
}

/** Buttons that open the citations at these indices. */
export function chips(indices, citations, page) {
  return indices.map((index) => chip(citations[index], index + 1, page));
}

/** The place of a citation, or of one side of a conflict, for the reader. */
export function placeOf({ passage_id: passageId, document_id: documentId, ...said }) {
  const { start, end, quote, locator } = said;
  return { passageId, documentId, start, end, quote, locator };
}

/** The quote of a citation, or of one side of a conflict, above its title and place. */
export function quotation(citation, place, page) {
  return [
    element("blockquote", {}, citation.quote),
    linkButton(citation.title, () => page.open(placeOf(citation))),
    element("span", { class: "place" }, ` ${place.filter(Boolean).join(" · ")}`),
  ];
}

/** The marks that sentences of a text bear, each explained; null if all are supported. */
export function legend({ sentences }) {
  const explained = Object.entries(MARKS).filter(([what]) =>
    sentences.some((sentence) => faultOf(sentence) === what),
  );
  if (explained.length === 0) return null;
  const lines = explained.map(([what, sign]) =>
    element("p", {}, element("span", { class: "sign" }, sign), ` ${say(`answer.${what}Legend`)}`),
  );
  return element("div", { class: "hint legend" }, ...lines);
}

const MARKS = { uncited: "†", unchecked: "‡" };

/** Names what speaks against relying on a sentence, or null. */
function faultOf({ grounded, caveat, support }) {
  if (!grounded && !caveat) return "uncited";
  return support === "not_judged" ? "unchecked" : null;
}

/** The sign of a sentence that nothing supports; read aloud as words. */
function supportMark(sentence) {
  const fault = faultOf(sentence);
  if (fault === null) return null;
  const sign = element("span", { "aria-hidden": "true" }, MARKS[fault]);
  const spoken = element("span", { class: "spoken" }, ` (${say(`answer.${fault}`)})`);
  return element("sup", { class: "sign", title: say(`answer.${fault}`) }, sign, spoken);
}

/** The sentences, by the lines on which they stand in the written answer. */
function lines(answer, sentences) {
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

function sentenceNodes(sentence, citations, warnings, page) {
  const mark = supportMark(sentence);
  const text = mark === null ? sentence.text : element("span", { class: "unsupported" }, sentence.text);
  const gap = sentence.caveat ? [" ", element("small", {}, say("answer.noSourceNeeded"))] : [];
  const numbers = chips(sentence.citations, citations, page);
  const doubts = (warnings.get(sentence.text) ?? []).map((what) =>
    element("small", { class: "doubt" }, ...sayNodes("answer.sentenceWarns", { what: told(what) })),
  );
  return [text, ...numbers, ...(mark === null ? [] : [mark]), ...gap, ...doubts, " "];
}

function chip(citation, number, page) {
  const button = plainButton(String(number), () => page.open(placeOf(citation)), {
    class: "citation",
    "aria-label": say("answer.sourceNamed", { number, name: named(citation) }),
  });
  for (const event of ["pointerenter", "focus"]) button.addEventListener(event, () => showQuote(button, citation));
  for (const event of ["pointerleave", "blur"]) button.addEventListener(event, hideQuoteSoon);
  button.addEventListener("click", hideQuote);
  return button;
}

const tip = element("div", { role: "tooltip", id: "cited-quote", hidden: "" });
let leaving = null;

/** Shows what is cited beside its number. It stays while the pointer is on it; Escape hides it. */
function showQuote(button, citation) {
  clearTimeout(leaving);
  const place = [citation.title, dateWords(citation.date), shortPlace(citation)].filter(Boolean);
  tip.replaceChildren(
    element("q", {}, citation.quote.replaceAll(/\s+/g, " ")),
    element("span", { class: "place" }, place.join(" · ")),
  );
  tip.hidden = false;
  if (!tip.isConnected) document.body.append(tip);
  button.setAttribute("aria-describedby", tip.id);
  const { left, top, bottom } = button.getBoundingClientRect();
  const isBelow = bottom + tip.offsetHeight + GAP < innerHeight;
  const room = document.documentElement.clientWidth - tip.offsetWidth - GAP;
  tip.style.top = `${scrollY + (isBelow ? bottom + GAP : top - tip.offsetHeight - GAP)}px`;
  tip.style.left = `${Math.max(GAP, Math.min(left, room))}px`;
}

function hideQuote() {
  clearTimeout(leaving);
  tip.hidden = true;
}

function hideQuoteSoon() {
  leaving = setTimeout(hideQuote, PATIENCE);
}

tip.addEventListener("pointerenter", () => clearTimeout(leaving));
tip.addEventListener("pointerleave", hideQuoteSoon);
addEventListener("keydown", ({ key }) => key === "Escape" && hideQuote());

/** A button with the name of a source that is quoted beside it. */
export function openSource(citation, page) {
  return linkButton(named(citation), () => page.open(placeOf(citation)), { class: "link source" });
}

/** `Roe v. Wade, 1973`; the year is left out where the title says it. */
function named({ title, date }) {
  const year = yearIn(date);
  return year && !title.includes(year) ? `${title}, ${year}` : title;
}

/** `text` with titles and places for its tokens. */
export function readable(text, passages) {
  return passages.reduce(
    // by a function: a `$` in a title stands for itself
    (written, passage) =>
      written.replaceAll(passage.marker, () => {
        return `(${[passage.title, shortPlace(passage)].filter(Boolean).join(", ")})`;
      }),
    text,
  );
}

export function withoutMarkers(text) {
  return text.replace(new RegExp(String.raw`\s*(?:${GROUP})`, "g"), "").trim();
}
