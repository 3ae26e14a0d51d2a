/** What was searched, and where that is not what was asked: unknown words, what was required. */

import { element } from "../dom.js";
import { say, sayNodes } from "../language.js";

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
    return element("p", {}, ...sayNodes("ask.searchedInstead", { instead, word, asWritten }));
  }
  const buttons = element("span", {});
  for (const [at, suggestion] of suggestions.entries()) {
    buttons.append(at > 0 ? say("ask.orElse") : "", other(suggestion, suggestion));
  }
  return element("p", {}, ...sayNodes("ask.didYouMean", { suggestions: buttons, word }));
}

/** The question with another word, which stands alone; letters of all languages join words. */
function reworded(question, word, written) {
  const alone = new RegExp(`(?<![\\p{L}\\p{N}_])"?${word}"?(?![\\p{L}\\p{N}_])`, "gu");
  return question.replace(alone, () => written);
}

function unmetLine({ phrases, passages, kept }) {
  const named = quoted(phrases);
  const held =
    passages === 0
      ? say("ask.noneHolds", { phrases: named })
      : say("ask.onlySomeHold", { phrases: named, count: passages });
  const others = kept.length > 0 ? say("ask.othersWithout") : say("ask.theseWithout");
  return element("p", {}, `${held} ${others}`);
}

/** Says of each listed passage that does not hold what was required that it does not. */
export function markWithout(list, { retrieval: { required_unmet: unmet } }) {
  if (unmet === null) return;
  for (const item of list.querySelectorAll("li[data-passage]")) {
    if (unmet.kept.includes(item.dataset.passage)) continue;
    const without = element("p", { class: "hint" }, say("ask.without", { phrases: quoted(unmet.phrases) }));
    item.querySelector("h4").after(without);
  }
}

function quoted(phrases) {
  return phrases.map((phrase) => say("ask.quoted", { phrase })).join(say("ask.and"));
}
