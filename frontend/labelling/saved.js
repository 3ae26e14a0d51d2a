/** The labels in the file, and drafts that are in this browser alone. */

import { element } from "../dom.js";
import { counted } from "../text.js";

/** `on` has: edit(id), remove(label), resume(draft), discard(draft). */
export function showSaved(labels, drafts, on) {
  document.getElementById("labels").replaceChildren(...labels.map((label) => labelItem(label, on)));
  const place = document.getElementById("drafts");
  place.hidden = drafts.length === 0;
  place.replaceChildren(
    element("h3", {}, "Not saved yet"),
    element("ul", { class: "labels" }, ...drafts.map((draft) => draftItem(draft, on))),
  );
}

function labelItem(label, on) {
  const { question, category, split, relevant, answerable } = label;
  const answers = answerable ? "answerable" : "not answerable";
  const known = relevant > 0 ? counted(relevant, "relevant passage") : answers;
  return element(
    "li",
    { "data-label": label.id },
    element("p", { class: "asked" }, question),
    element("p", { class: "hint" }, [category, split, known].filter(Boolean).join(" · ")),
    element(
      "div",
      { class: "buttons" },
      button("Edit", question, () => on.edit(label.id)),
      deleteButton(label, on),
    ),
  );
}

/** Two presses: a label may be an hour's work. */
function deleteButton(label, on) {
  const made = button("Delete", label.question, () => {
    if (made.dataset.sure === "yes") {
      made.dataset.sure = "pressed"; // once more would be of a label that is gone
      return on.remove(label).finally(() => (made.dataset.sure = "yes"));
    }
    if (made.dataset.sure) return undefined;
    made.dataset.sure = "yes";
    made.textContent = "Delete for good";
    made.setAttribute("aria-label", `Delete for good: ${label.question}`);
    return undefined;
  });
  return made;
}

function draftItem(draft, on) {
  const question = draft.question || "No question yet";
  return element(
    "li",
    {},
    element("p", { class: "asked" }, question),
    element(
      "div",
      { class: "buttons" },
      button("Go on", question, () => on.resume(draft)),
      button("Discard", question, () => on.discard(draft)),
    ),
  );
}

function button(text, question, onclick) {
  const name = `${text}: ${question}`;
  const attributes = { type: "button", class: "quiet", "aria-label": name, onclick };
  return element("button", attributes, text);
}
