/** How surely the sources' own sentences answer, in a word, and what the word means. */

import { element } from "../dom.js";
import { say } from "../language.js";

/** The word, which unfolds its meaning; null for a model's text and where nothing answers. */
export function confidenceNote({ confidence }) {
  if (confidence === null) return null;
  return element(
    "details",
    { class: "confidence" },
    element("summary", {}, say(`answer.${confidence.word}`)),
    element("p", { class: "hint" }, say(`answer.${confidence.word}Means`)),
  );
}
