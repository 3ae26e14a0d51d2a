/** What was searched, and where that is not what was asked: unknown words, what was required. */

import { element } from "../dom.js";
import { counted } from "../text.js";

/** What was searched for instead, and what could have been meant, or null. `ask` asks anew. */
export function wordingNotice({ retrieval, ...answer }, ask) {
  const question = answer.standalone_question ?? answer.question;
  const lines = retrieval.unknown_words
    .filter(({ suggestions }) => suggestions.length > 0)
    .map((unknown) => unknownWord(unknown, question, ask));
  if (retrieval.required_unmet !== null) lines.push(unmetLine(retrieval.required_unmet));
  return lines.length > 0 ? element("div", { class: "notice wording" }, ...lines) : null;
}

function unknownWord({ word, suggestions, searched_as: instead }, question, ask) {
  const other = (shown, written) =>
    element(
      "button",
      { type: "button", class: "link", onclick: () => ask(reworded(question, word, written)) },
      shown,
    );
  if (instead !== null) {
    // a word in quotation marks is searched as it is written
    const asWritten = other(word, `"${word}"`);
    return element("p", {}, `Searched for ${instead} instead of ${word}; search for `, asWritten);
  }
  const buttons = suggestions.flatMap((suggestion, at) => [
    at > 0 ? " or " : "",
    other(suggestion, suggestion),
  ]);
  return element("p", {}, "Did you mean ", ...buttons, ` instead of ${word}?`);
}

/** The question with another word, which stands alone; letters of all languages join words. */
function reworded(question, word, written) {
  const alone = new RegExp(`(?<![\\p{L}\\p{N}_])"?${word}"?(?![\\p{L}\\p{N}_])`, "gu");
  return question.replace(alone, () => written);
}

function unmetLine({ phrases, passages, kept }) {
  const held =
    passages === 0 ? "No passage holds" : `Only ${counted(passages, "passage holds", "passages hold")}`;
  const others = kept.length > 0 ? "The others" : "These";
  return element("p", {}, `${held} ${quoted(phrases)}. ${others} were found without.`);
}

/** Says of each listed passage that does not hold what was required that it does not. */
export function markWithout(list, { retrieval: { required_unmet: unmet } }) {
  if (unmet === null) return;
  for (const item of list.querySelectorAll("li[data-passage]")) {
    if (unmet.kept.includes(item.dataset.passage)) continue;
    const without = element("p", { class: "hint" }, `Without ${quoted(unmet.phrases)}`);
    item.querySelector("h4").after(without);
  }
}

function quoted(phrases) {
  return phrases.map((phrase) => `“${phrase}”`).join(" and ");
}
