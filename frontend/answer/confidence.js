/** How surely the sources' own sentences answer, in a word, and what the word means. */

import { element } from "../dom.js";

// of all pages only `docs/answers.md` says the same; a test holds the two together
const MEANINGS = {
  likely: "Of answers called likely, 8 in 10 were right on public test sets.",
  possible: "Of answers called possible, 4 in 10 were right on public test sets.",
};

const WORDS = { likely: "Likely an answer", possible: "Possibly an answer" };

/** The word, which unfolds its meaning; null for a model's text and where nothing answers. */
export function confidenceNote({ confidence }) {
  if (confidence === null) return null;
  return element(
    "details",
    { class: "confidence" },
    element("summary", {}, WORDS[confidence.word]),
    element("p", { class: "hint" }, MEANINGS[confidence.word]),
  );
}
