/** What can be done with a question that was asked, and what is said where it was not answered. */

import { element } from "../dom.js";
import { say } from "../language.js";

/** Buttons for below a question: to change it, and once it is left unanswered to ask it again. */
export function turnActions({ edit, again }) {
  return element(
    "p",
    { class: "turn-actions" },
    element("button", { type: "button", class: "link", onclick: edit }, say("ask.edit")),
    element(
      "button",
      { type: "button", class: "link again", hidden: "", onclick: again },
      say("ask.again"),
    ),
  );
}

/** Lets the question of an article be asked again. */
export function offerAgain(article) {
  article.querySelector(".again").hidden = false;
}

/** Says below a kept question why it has no answer. */
export function unanswered(article, { state, problem }) {
  const why = {
    asked: () => say("ask.left"),
    stopped: () => say("ask.stoppedBefore"),
    failed: () => problem ?? say("page.failed"),
    unreadable: () => say("ask.unreadable"),
  };
  article.dataset.state = "error";
  article.removeAttribute("aria-busy");
  offerAgain(article);
  article.querySelector(".turn-actions").after(element("p", { class: "notice" }, why[state]()));
}
