/** What is wrong with a query, said at the search box with the place marked. */

import { element } from "../dom.js";
import { say } from "../language.js";
import { unitSpans } from "../text.js";

const question = document.getElementById("question");
const place = document.getElementById("words-problem");

/** Says why the words were not counted; of a query that cannot be read also where. */
export function showProblem({ message, character }, query) {
  const text = element("p", {}, say("words.stale", { problem: message }));
  place.replaceChildren(element("div", { role: "alert", class: "notice" }, text));
  if (character === undefined || question.value.trim() !== query) return;
  const [{ start, end }] = unitSpans(query, [{ start: character - 1, end: character }]);
  place.firstChild.append(
    element(
      "p",
      { class: "query-place" },
      query.slice(0, start),
      element("mark", {}, query.slice(start, end) || "‸"),
      query.slice(end),
    ),
  );
  question.setAttribute("aria-invalid", "true");
  const lead = question.value.indexOf(query);
  question.focus();
  question.setSelectionRange(lead + start, lead + end);
}

export function clearProblem() {
  place.replaceChildren();
  question.removeAttribute("aria-invalid");
}
