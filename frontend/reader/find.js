/** Finding in a document, whatever case and accents, as the server compares words: every hit is
 * counted and highlighted, and one after the other shown. */

import { element, plainButton, signButton } from "../dom.js";
import { grouped, say } from "../language.js";

const ALL = "reader-hits";
const ONE = "reader-hit";
const HIGHLIGHTED = 4000; // hits around the present one
const PAUSE = 150; // ms after a key
// letters that no decomposition takes apart; those of `language/spelling.py`
const APART = { æ: "ae", œ: "oe", ø: "o", đ: "d", ð: "d", ł: "l", þ: "th", ı: "i", ß: "ss", "’": "'" };
const UNSEEN = /[\u00ad\u200b-\u200f\u2060\ufeff]/;
const known = new Map();

/** {node, look(words), refresh(), toggle(), close()} that finds in `text` and shows by `view`.
 *
 * `hits` are spans that are given, such as those of a search for words; `question` is what was
 * asked, whose words can be found at once. `start()` says where to begin.
 */
export function openFind(text, view, { hits: given = [], question = "", start }) {
  let source = null; // the folded text, made when it is first needed
  let hits = [];
  let present = -1;
  let waiting = 0;

  // not the short ones, which do not say what it is about
  const words = [...new Set(question.match(/[\p{L}\p{N}]{4,}/gu) ?? [])];
  const input = element("input", {
    type: "search",
    "aria-label": say("reader.find"),
    placeholder: say("reader.find"),
    autocomplete: "off",
    spellcheck: "false",
    oninput: () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => look(input.value), PAUSE);
    },
    onkeydown: pressed,
  });
  const count = element("output", { class: "count", "aria-live": "polite" });
  const previous = signButton("‹", say("reader.previous"), () => go(-1));
  const next = signButton("›", say("reader.next"), () => go(1));
  const offers = element(
    "div",
    { class: "offers" },
    words.length > 0 ? offer(say("reader.questionWords"), () => take(inSource(wordPlaces, words))) : null,
    given.length > 0 ? offer(say("reader.givenHits", { count: given.length }), () => take(given)) : null,
  );
  const node = element(
    "div",
    { class: "find", role: "search", hidden: "", "aria-label": say("reader.find") },
    input,
    count,
    previous,
    next,
    offers.childElementCount > 0 ? offers : null,
  );

  function offer(label, run) {
    return plainButton(label, () => ((input.value = ""), run()), { class: "quiet" });
  }

  function inSource(find, wanted) {
    source ??= folded(text);
    return find(wanted, source, text);
  }

  function pressed(event) {
    if (event.key === "Enter") {
      event.preventDefault();
      if (waiting) {
        clearTimeout(waiting);
        if (input.value !== input.dataset.looked) return look(input.value);
      }
      go(event.shiftKey ? -1 : 1);
    } else if (event.key === "Escape") {
      event.preventDefault();
      toggle(false);
    }
    return undefined;
  }

  /** Finds these words from the place in view on. */
  function look(wanted) {
    waiting = 0;
    input.dataset.looked = wanted;
    take(inSource(placesOf, wanted));
  }

  function take(found) {
    hits = found;
    const from = start();
    const first = hits.findIndex((hit) => hit.start >= from);
    present = hits.length === 0 ? -1 : Math.max(0, first);
    show();
  }

  function go(by) {
    if (hits.length === 0) return;
    present = (present + by + hits.length) % hits.length;
    show();
  }

  function show() {
    count.textContent = told();
    previous.disabled = next.disabled = hits.length === 0;
    refresh();
    if (present >= 0) view.goTo(hits[present].start);
  }

  function told() {
    if (hits.length > 0) {
      return say("reader.hit", { number: grouped(present + 1), of: grouped(hits.length) });
    }
    return input.value.trim() === "" ? "" : say("reader.noHit");
  }

  /** Highlights the hits in the text as it is shown now. */
  function refresh() {
    const from = Math.max(0, present - HIGHLIGHTED / 2);
    highlight(ALL, hits.slice(from, from + HIGHLIGHTED));
    highlight(ONE, present >= 0 ? [hits[present]] : []);
  }

  function highlight(name, spans) {
    const highlight = new Highlight();
    for (const { start: from, end } of spans) {
      const range = view.rangeOf(from, end);
      if (range !== null) highlight.add(range);
    }
    highlight.priority = name === ONE ? 1 : 0;
    CSS.highlights.set(name, highlight);
  }

  function close() {
    clearTimeout(waiting);
    CSS.highlights.delete(ALL);
    CSS.highlights.delete(ONE);
  }

  function toggle(wanted = node.hidden) {
    node.hidden = !wanted;
    view.toggled(wanted);
    if (wanted) {
      input.focus();
      input.select();
      return;
    }
    hits = [];
    present = -1;
    input.value = "";
    count.textContent = "";
    close();
  }

  previous.disabled = next.disabled = true;
  return {
    node,
    refresh,
    toggle,
    close,
    /** Shows where words stand without taking the focus. */
    lookFor(wanted) {
      node.hidden = false;
      view.toggled(true);
      input.value = wanted;
      look(wanted);
    },
    takeGiven() {
      node.hidden = false;
      view.toggled(true);
      take(given);
    },
  };
}

/** {said, at}: the text folded, each run of blanks as one, and where each character comes from. */
function folded(text) {
  const said = [];
  const at = [];
  let isBlank = true;
  for (let index = 0; index < text.length; index += 1) {
    const letters = fold(text[index]);
    if (letters === " ") {
      if (!isBlank) {
        said.push(" ");
        at.push(index);
      }
      isBlank = true;
      continue;
    }
    for (const letter of letters) {
      said.push(letter);
      at.push(index);
      isBlank = false;
    }
  }
  return { said: said.join(""), at };
}

function fold(unit) {
  const found = known.get(unit);
  if (found !== undefined) return found;
  let letters = unit.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  letters = [...letters.normalize("NFKD").replace(/\p{M}/gu, "")].map((l) => APART[l] ?? l).join("");
  if (/^\s+$/.test(unit)) letters = " ";
  if (UNSEEN.test(unit)) letters = "";
  known.set(unit, letters);
  return letters;
}

/** Where `wanted` stands in a folded text, as spans of the text itself. */
function placesOf(wanted, source, text) {
  const words = folded(wanted).said.trim();
  const found = [];
  if (words === "") return found;
  const { said } = source;
  for (let from = said.indexOf(words); from >= 0; from = said.indexOf(words, from + words.length)) {
    found.push(spanOf(from, words, source, text));
  }
  return found;
}

/** Where any of these words stands as a whole word. */
function wordPlaces(words, source, text) {
  const wanted = new Set(words.map((word) => folded(word).said));
  const found = [...source.said.matchAll(/[\p{L}\p{N}]+/gu)].filter(([word]) => wanted.has(word));
  return found.map(({ index, 0: word }) => spanOf(index, word, source, text));
}

/** The span of the text that has these words at a place of the folded one. */
function spanOf(from, words, { at }, text) {
  return { start: at[from], end: endOf(at[from + words.length - 1], text) };
}

/** Behind a character and the marks that belong to it. */
function endOf(index, text) {
  let end = index + 1;
  while (/\p{M}/u.test(text[end] ?? "")) end += 1;
  return end;
}
