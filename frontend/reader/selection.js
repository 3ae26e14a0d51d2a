/** Actions on the words that are selected in a document. */

import { element, plainButton } from "../dom.js";
import { copyOld } from "../keep/citing.js";
import { say } from "../language.js";
import { linkTo } from "./address.js";

const PAUSE = 120; // ms after the selection has changed
const DIRECTIONS = { ArrowLeft: "left", ArrowRight: "right", ArrowUp: "backward", ArrowDown: "forward" };

/** {node, close()} with buttons for a selection in `text`, shown while there is one.
 *
 * It tells `document` of each by the event `atlas:selection` with {documentId, start, end, text},
 * places as the server counts. `actions` are more buttons, {label, run(selection)}. `source(start)`
 * gives the words that name the place.
 */
export function openSelection({ documentId, text, view, offsets, actions = [], source }) {
  let selected = null;
  let waiting = 0;
  const told = element("span", { class: "hint", "aria-live": "polite" });
  const buttons = element("div", { class: "buttons" });
  const frame = { class: "selection", role: "toolbar", "aria-label": say("reader.selection"), hidden: "" };
  const node = element("div", frame, buttons, told);

  document.addEventListener("selectionchange", changed);
  view.node.addEventListener("keydown", extend);

  /** Shift and an arrow key select, as in a field: not every browser does so in a text. */
  function extend(event) {
    const direction = DIRECTIONS[event.key];
    if (!event.shiftKey || !direction || getSelection().rangeCount === 0) return;
    event.preventDefault();
    const isLine = direction === "backward" || direction === "forward";
    const byWord = event.ctrlKey || event.altKey ? "word" : "character";
    getSelection().modify("extend", direction, isLine ? "line" : byWord);
  }

  function changed() {
    clearTimeout(waiting);
    waiting = setTimeout(look, PAUSE);
  }

  function look() {
    const span = selectedSpan();
    if (span === null) {
      // a button of the bar may have taken the focus, and the selection with it
      if (!node.contains(document.activeElement)) node.hidden = true;
      return;
    }
    if (selected && selected.from === span.from && selected.to === span.to && !node.hidden) return;
    const [start, end] = [offsets.toPoints(span.from), offsets.toPoints(span.to)];
    selected = { documentId, start, end, text: text.slice(span.from, span.to), ...span };
    told.textContent = "";
    show();
    const { from, to, ...detail } = selected;
    document.dispatchEvent(new CustomEvent("atlas:selection", { detail }));
  }

  /** The characters that are selected, without blanks at the ends; null if there are none. */
  function selectedSpan() {
    const selection = getSelection();
    if (selection.rangeCount === 0 || selection.isCollapsed) return null;
    const range = selection.getRangeAt(0);
    if (!range.intersectsNode(view.node)) return null;
    const own = document.createRange();
    own.selectNodeContents(view.node);
    const begins = range.compareBoundaryPoints(Range.START_TO_START, own) >= 0;
    const ends = range.compareBoundaryPoints(Range.END_TO_END, own) <= 0;
    const first = begins ? view.placeAt(range.startContainer, range.startOffset) : 0;
    const last = ends ? view.placeAt(range.endContainer, range.endOffset) : text.length;
    const words = text.slice(first, last);
    if (words.trim() === "") return null;
    const from = first + words.length - words.trimStart().length;
    return { from, to: from + words.trim().length };
  }

  function show() {
    const all = [
      { label: say("reader.copyLink"), run: () => copy(link(), say("keep.linkCopied")) },
      { label: say("reader.copyQuotation"), run: () => copy(quotation(), say("reader.quotationCopied")) },
      ...actions,
    ];
    const { from, to, ...detail } = selected;
    buttons.replaceChildren(...all.map(({ label, run }) => plainButton(label, () => run(detail))));
    node.hidden = false;
  }

  function link() {
    return linkTo(selected, selected.text);
  }

  function quotation() {
    const quote = selected.text.replace(/\s+/g, " ");
    return say("reader.quotation", { quote, source: source(selected.start), link: link() });
  }

  async function copy(words, done) {
    told.textContent = (await copied(words)) ? done : say("reader.notCopied");
  }

  return {
    node,
    close() {
      clearTimeout(waiting);
      document.removeEventListener("selectionchange", changed);
    },
  };
}

/** Puts words into the clipboard; whether that was possible. */
async function copied(words) {
  try {
    await navigator.clipboard.writeText(words);
    return true;
  } catch {
    return copyOld(words); // a page on plain http has no clipboard, or it was refused
  }
}
