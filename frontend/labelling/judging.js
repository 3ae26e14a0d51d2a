/** The passages of a question: how relevant each one is, and the words in it that answer, as places
 * that the server counts: in code points. */

import { element, placeLine, plainButton } from "../dom.js";
import { contextLine, fullPlace, marked, unitSpans } from "../text.js";

const GRADES = ["not relevant", "related", "answers in part", "answers"];
const ANSWERS = 3;

/** A passage to judge. `page` has: marks, spans, label(corpus), changed(), say(text). */
export function judgedPassage(passage, page) {
  const text = element("div", { class: "passage-text" });
  const words = element("ul", { class: "marked-words" });
  const grades = element("fieldset", { class: "grades" }, element("legend", {}, "Relevance"));
  const inputs = GRADES.map((meaning, grade) => gradeInput(passage, grade, meaning, grades));
  const clear = button("Clear", "link", `Clear the grade of ${passage.title}`, () => judge(null));
  grades.append(clear);
  const { title, passage_id: id } = passage;
  const place = [page.label(passage.corpus), passage.date, fullPlace(passage)];
  const markWords = button("Mark selected words", "quiet", `Mark selected words of ${title}`, markSelected);
  markWords.addEventListener("mousedown", (event) => event.preventDefault());
  const byKeys = `Select words of ${title} by keyboard`;
  const select = button("Select by keyboard", "quiet", byKeys, selectByKeys);
  const node = element(
    "article",
    { class: "judged", tabindex: "-1", "data-passage": id, "aria-label": title },
    element("h3", {}, title),
    element("p", {}, placeLine(place, passage.url, title)),
    contextLine(passage),
    text,
    words,
    element("div", { class: "judgement" }, grades, markWords, select),
  );
  let selected = null; // what was selected last, for a press of the button takes it away

  function gradeInput({ passage_id: id }, grade, meaning, into) {
    const input = element("input", { type: "radio", name: `grade-${id}`, value: String(grade) });
    input.addEventListener("change", () => judge(grade));
    into.append(element("label", { class: "choice" }, input, `${grade} ${meaning}`));
    return input;
  }

  function judge(grade) {
    const focused = document.activeElement === clear;
    if (grade === null) delete page.marks[passage.passage_id];
    else page.marks[passage.passage_id] = grade;
    page.changed();
    page.say(grade === null ? "Not graded." : `${grade}: ${GRADES[grade]}.`);
    if (focused) node.focus(); // the button is gone
  }

  function markSelected() {
    const span = selectedIn(text, passage.text) ?? selected;
    selected = null;
    document.getSelection().removeAllRanges();
    mark(span);
  }

  function mark(span) {
    if (span === null) {
      page.say("Select words of this passage first, or select by keyboard (w).");
      return;
    }
    const { document_id, start } = passage;
    const words = { ...span, document_id, start: start + span.start, end: start + span.end };
    const isKnown = page.spans.some((known) => holds(known, words) && holds(words, known));
    if (!isKnown) page.spans.push(words);
    page.marks[passage.passage_id] ||= ANSWERS;
    page.changed();
    page.say(`Marked: ${span.quote}`);
  }

  /** Lets somebody select with the keys that select in any text field. */
  function selectByKeys() {
    const name = `Words of ${passage.title}: Shift and arrows select, Enter marks, Escape leaves`;
    const attributes = { class: "passage-text", "aria-readonly": "true", inputmode: "none" };
    const field = element("textarea", { ...attributes, "aria-label": name });
    field.value = passage.text;
    field.rows = Math.min(12, Math.ceil(passage.text.length / 50) + 1);
    // not by `readonly`: in such a field Chromium selects nothing by keyboard
    field.addEventListener("beforeinput", (event) => event.preventDefault());
    field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== "Escape") return;
      event.preventDefault();
      const span = spanOf(field.value, field.selectionStart, field.selectionEnd);
      leave();
      node.focus();
      if (event.key === "Enter") mark(span);
    });
    field.addEventListener("blur", leave);
    text.replaceWith(field);
    field.focus();
    field.setSelectionRange(0, 0);
    page.say("Shift and arrows select, Enter marks, Escape leaves.");

    function leave() {
      field.removeEventListener("blur", leave);
      field.replaceWith(text);
    }
  }

  function show() {
    const grade = page.marks[passage.passage_id];
    inputs.forEach((input, value) => (input.checked = value === grade));
    clear.hidden = grade === undefined;
    if (grade === undefined) delete node.dataset.grade;
    else node.dataset.grade = String(grade);
    const inside = page.spans.filter((span) => holds(passage, span));
    const from = passage.start;
    const local = inside.map(({ start, end }) => ({ start: start - from, end: end - from }));
    text.replaceChildren(...marked(passage.text, unitSpans(passage.text, local)));
    words.replaceChildren(...inside.map((span) => spanItem(span, page, node)));
    words.hidden = inside.length === 0;
  }

  return {
    node,
    passage,
    judge,
    show,
    selectByKeys,
    noteSelection() {
      selected = selectedIn(text, passage.text) ?? selected;
    },
  };
}

/** Tells if the words lie in the passage. */
export function holds({ document_id: id, start, end }, span) {
  return id === span.document_id && start <= span.start && span.end <= end;
}

/** Marked words, with a way to let go of them; the focus goes to `next` then. */
export function spanItem(span, page, next) {
  const remove = () => {
    page.spans.splice(page.spans.indexOf(span), 1);
    page.changed();
    next.focus();
  };
  const said = span.quote || `characters ${span.start} to ${span.end} of ${span.document_id}`;
  const letGo = button("Remove", "link", `Remove: ${said}`, remove);
  return element("li", {}, element("q", {}, said), " ", letGo);
}

function button(text, kind, name, onclick) {
  return plainButton(text, onclick, { class: kind, "aria-label": name });
}

/** {start, end, quote} of the selection inside `node`, whose text is `text`; null without one. */
function selectedIn(node, text) {
  const selection = document.getSelection();
  if (selection.rangeCount === 0 || selection.isCollapsed) return null;
  const range = selection.getRangeAt(0);
  if (!range.intersectsNode(node)) return null;
  const start = offset(node, range.startContainer, range.startOffset, 0);
  const end = offset(node, range.endContainer, range.endOffset, text.length);
  return spanOf(text, start, end);
}

/** The words from `start` to `end` (UTF-16 units) without the space around them, or null. */
function spanOf(text, start, end) {
  const quote = text.slice(start, end);
  const words = quote.trim();
  if (words === "") return null;
  const from = start + (quote.length - quote.trimStart().length);
  const before = codePoints(text.slice(0, from));
  return { start: before, end: before + codePoints(words), quote: words };
}

/** Units of text before a place; `outside` for a place that is not in the node. */
function offset(node, container, at, outside) {
  if (!node.contains(container)) return outside;
  const before = document.createRange();
  before.setStart(node, 0);
  before.setEnd(container, at);
  return before.toString().length;
}

function codePoints(text) {
  return Array.from(text).length;
}
