/** Small votes beside single passages and citations, and the button that all votes are made of. */

import { element } from "../dom.js";
import { say } from "../language.js";

/** A button that is pressed while `isOn` what has been said, and changes the `fields` of on or off. */
export function toggle(feedback, { isOn, fields, attributes = {} }, ...content) {
  const press = () => feedback.change(fields(button.getAttribute("aria-pressed") === "false"));
  const button = element("button", { type: "button", onclick: press, ...attributes }, ...content);
  feedback.watch(({ said, state }) => {
    button.setAttribute("aria-pressed", String(isOn(said)));
    // aria-disabled keeps the focus, which disabled would drop
    if (state === "gone") button.setAttribute("aria-disabled", "true");
  });
  return button;
}

/** Adds a vote to each passage, closest quote and citation that the answer's article shows. */
export function offerVotes(article, { citations, closest }, feedback) {
  for (const item of article.querySelectorAll(".sources li[data-passage]")) {
    const title = item.querySelector("h4").firstChild.textContent;
    const vote = passageVote(item.dataset.passage, title, feedback);
    item.querySelector(".more > details").before(vote);
  }
  article.querySelectorAll(".closest li").forEach((item, at) => {
    const { passage_id: id, title } = closest[at];
    item.append(passageVote(id, title, feedback));
  });
  article.querySelectorAll("ol.citations > li").forEach((item, at) => {
    item.querySelector(".place").after(citationVote(String(at + 1), citations[at], feedback));
  });
}

function passageVote(id, title, feedback) {
  return vote(feedback, "passages", id, title, [
    "relevant",
    "irrelevant",
  ]);
}

function citationVote(number, { title }, feedback) {
  return vote(feedback, "citations", number, say("feedback.sourceNamed", { number, title }), [
    "supports",
    "does_not_support",
  ]);
}

/** Two buttons for one item, of which at most one is pressed. */
function vote(feedback, kind, id, title, values) {
  const buttons = values.map((value) =>
    toggle(
      feedback,
      {
        isOn: (said) => said[kind][id] === value,
        fields: (on) => ({ [kind]: { [id]: on ? value : null } }),
      },
      say(`feedback.${value}`),
    ),
  );
  return element("span", { class: "vote", role: "group", "aria-label": title }, ...buttons);
}
