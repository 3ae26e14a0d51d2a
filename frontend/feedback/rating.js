/** The controls of feedback: thumbs, and what unfolds below them. */

import { element } from "../dom.js";
import { grouped, say } from "../language.js";
import { tagPicker } from "./tags.js";
import { toggle } from "./votes.js";

const SCALES = ["relevance", "accuracy", "corpus_fidelity", "clarity"];
const POINTS = [1, 2, 3, 4, 5];
const LONGEST_COMMENT = 4000;
const SAID = new Set(["saving", "saved", "gone"]);

/** The rating of an answer with this id; `hasName` whether a key tells whose it is. */
export function ratingSection(qaId, feedback, { hasName }) {
  const who = say(hasName() ? "feedback.yourName" : "feedback.randomId");
  const more = element(
    "div",
    { class: "rating-more", hidden: "" },
    scales(qaId, feedback),
    tagPicker(qaId, feedback),
    commentBox(qaId, feedback),
    element("p", { class: "hint" }, say("feedback.keptUnder", { who })),
  );
  const first = [say("feedback.helpfulQ"), ...thumbs(feedback), opener(more), progress(feedback)];
  return element(
    "div",
    { class: "rating", role: "group", "aria-label": say("feedback.rating") },
    element("div", { class: "thumbs" }, ...first),
    problem(feedback),
    more,
  );
}

/** A button that unfolds `more` below the row it stands in; a summary would move to a new row. */
function opener(more) {
  function unfold() {
    more.hidden = !more.hidden;
    button.setAttribute("aria-expanded", String(!more.hidden));
  }
  const attributes = { type: "button", class: "link", "aria-expanded": "false", onclick: unfold };
  const button = element("button", attributes, say("feedback.more"));
  return button;
}

function thumbs(feedback) {
  const thumb = (value, name) =>
    toggle(feedback, {
      attributes: { class: `thumb ${value}`, title: name, "aria-label": name },
      isOn: ({ thumb }) => thumb === value,
      fields: (on) => ({ thumb: on ? value : null }),
    });
  return [thumb("up", say("feedback.helpful")), thumb("down", say("feedback.notHelpful"))];
}

function progress(feedback) {
  const line = element("span", { class: "hint", role: "status" });
  feedback.watch(({ state }) => {
    line.textContent = SAID.has(state) ? say(`feedback.${state}`) : "";
  });
  return line;
}

/** Why the rating is not kept, with a button that sends it again. */
function problem(feedback) {
  const words = element("p");
  const send = { type: "button", class: "link", onclick: feedback.send };
  const again = element("button", send, say("feedback.again"));
  const box = element("div", { role: "alert", hidden: "" }, words, again);
  feedback.watch(({ state, problem }) => {
    if (state === "saving") return; // it stays until the outcome is known
    const over = state !== "failed";
    if (over && box.contains(document.activeElement)) box.parentNode.querySelector(".thumb").focus();
    box.hidden = over;
    words.textContent = over ? "" : say("feedback.notSaved", { problem });
  });
  return box;
}

function scales(qaId, feedback) {
  const rows = SCALES.map((name) => scale(name, say(`feedback.${name}`), qaId, feedback));
  return element(
    "div",
    { class: "scales" },
    element("p", { class: "hint" }, say("feedback.points")),
    ...rows,
  );
}

/** A row of points as radio buttons, and a button that takes the choice back. */
function scale(name, label, qaId, feedback) {
  const id = `${name}-${qaId}`;
  const give = (points) => feedback.change({ scores: { [name]: points } });
  const radios = POINTS.map((points) =>
    element("input", { type: "radio", name: id, value: points, onchange: () => give(points) }),
  );
  const clear = element("button", { type: "button", class: "link", onclick: takeBack }, say("feedback.clear"));
  clear.setAttribute("aria-label", say("feedback.clearNamed", { name: label.toLowerCase() }));

  function takeBack() {
    radios[0].focus(); // the button goes
    give(null);
  }

  feedback.watch(({ said, state }) => {
    for (const radio of radios) {
      radio.checked = said.scores[name] === Number(radio.value);
      radio.disabled = state === "gone";
    }
    clear.hidden = state === "gone" || !said.scores[name];
  });
  const points = radios.map((radio) => element("label", {}, radio, radio.value));
  return element(
    "div",
    { class: "scale", role: "radiogroup", "aria-labelledby": id },
    element("span", { id }, label),
    element("span", { class: "points" }, ...points),
    clear,
  );
}

function commentBox(qaId, feedback) {
  const id = `comment-${qaId}`;
  const text = element("textarea", { id, rows: 3, maxlength: LONGEST_COMMENT, oninput: count });
  const save = element("button", { type: "button", onclick: keep }, say("feedback.saveComment"));
  const hint = element("span", { class: "hint", id: `${id}-hint` });
  text.setAttribute("aria-describedby", hint.id);
  let sent = "";
  let kept = "";

  function count() {
    const unsaved = text.value.trim() === kept ? "" : say("feedback.unsaved");
    const length = grouped(text.value.length);
    hint.textContent = say("feedback.length", { length, count: LONGEST_COMMENT }) + unsaved;
  }

  function keep() {
    sent = text.value;
    feedback.change({ comment: sent.trim() || null });
  }

  feedback.watch(({ said, state }) => {
    kept = said.comment ?? "";
    // the server leaves out what is no text
    if (state === "saved" && text.value === sent && sent !== kept) text.value = sent = kept;
    text.disabled = state === "gone";
    save.toggleAttribute("aria-disabled", state === "gone");
    count();
  });
  return element(
    "div",
    {},
    element("label", { for: id }, say("feedback.comment")),
    text,
    element("div", { class: "buttons" }, save, hint),
  );
}
