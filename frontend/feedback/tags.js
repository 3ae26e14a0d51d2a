/** Tags of an answer: some to choose from, and others that the reader writes. */

import { element } from "../dom.js";
import { say } from "../language.js";
import { toggle } from "./votes.js";

const SUGGESTED = [
  "wrong_source",
  "missing_source",
  "out_of_date",
  "incomplete",
  "too_long",
  "not_an_answer",
];
const MOST = 20;
const LONGEST = 64;

/** Buttons for tags, and a field for another. */
export function tagPicker(qaId, feedback) {
  const heading = element("strong", { id: `tags-${qaId}` }, say("feedback.tags"));
  const list = element("span", { class: "tags" });
  const offered = new Set();
  let tags = [];

  function offer(tag) {
    if (offered.has(tag)) return;
    offered.add(tag);
    list.append(tagButton(tag, feedback, () => tags));
  }

  SUGGESTED.forEach(offer);
  feedback.watch(({ said }) => {
    tags = said.tags ?? [];
    tags.forEach(offer);
  });
  const field = newTag(qaId, feedback, () => tags);
  return element("div", { role: "group", "aria-labelledby": heading.id }, heading, list, field);
}

function tagButton(tag, feedback, tags) {
  const word = SUGGESTED.includes(tag) ? say(`feedback.${tag}`) : tag;
  const others = () => tags().filter((other) => other !== tag);
  return toggle(
    feedback,
    {
      isOn: (said) => said.tags?.includes(tag) ?? false,
      fields: (on) => ({ tags: listed(on ? [...tags(), tag] : others()) }),
    },
    word,
  );
}

/** A form for one more tag: Enter adds it. */
function newTag(qaId, feedback, tags) {
  const id = `tag-${qaId}`;
  const input = element("input", { id, type: "text", maxlength: LONGEST, autocomplete: "off" });

  function add(event) {
    event.preventDefault();
    const tag = input.value.trim().replaceAll(/\s+/g, " ");
    if (!tag) return;
    if (!tags().includes(tag)) feedback.change({ tags: listed([...tags(), tag]) });
    input.value = "";
  }
  feedback.watch(({ said, state }) => {
    input.disabled = state === "gone" || said.tags?.length === MOST;
  });
  return element(
    "form",
    { class: "new-tag", onsubmit: add },
    element("label", { for: id }, say("feedback.anotherTag")),
    input,
    element("button", {}, say("feedback.add")),
  );
}

function listed(tags) {
  return tags.length > 0 ? tags.slice(0, MOST) : null;
}
