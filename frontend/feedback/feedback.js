/** Feedback on an answer: thumbs, scales, tags, a comment, and votes beside single passages. It is
 * shown at once, and sent one request after the other. */

import { newId, Problem, sendFeedback } from "../api.js";
import { element, linkButton, onSubmit, plainButton, withLabel } from "../dom.js";
import { grouped, say } from "../language.js";
import { browser } from "../storage.js";

const KEPT_AS = "atlas-reader";
const GONE = 404;
const BY_ITEM = ["scores", "passages", "citations"];
const NOTHING = { thumb: null, scores: {}, tags: null, comment: null, passages: {}, citations: {} };
const SCALES = ["relevance", "accuracy", "corpus_fidelity", "clarity"];
const POINTS = [1, 2, 3, 4, 5];
const LONGEST_COMMENT = 4000;
const SAID = new Set(["saving", "saved", "gone"]);
const SUGGESTED = [
  "wrong_source",
  "missing_source",
  "out_of_date",
  "incomplete",
  "too_long",
  "not_an_answer",
];
const MOST_TAGS = 20;
const LONGEST_TAG = 64;

/** The feedback to an answer, of which nothing is said yet.
 *
 * `change` takes fields of the request, null to withdraw. `watch` calls back now and whenever
 * something changes, with {said, state, problem}; `state` is "quiet", "saving", "saved", "failed"
 * or "gone". What could not be sent is kept, and goes with the next change or with `send`.
 */
export function newFeedback(qaId, { hasName }) {
  const watchers = [];
  let said = NOTHING;
  let waiting = null; // changes that the server does not have
  let state = "quiet";
  let problem = "";

  function show(...now) {
    [state, problem = ""] = now;
    for (const watcher of watchers) watcher({ said, state, problem });
  }

  function change(fields) {
    if (state === "gone") return;
    said = merged(said, fields);
    waiting = merged(waiting, fields);
    if (state === "saving") show("saving");
    else send();
  }

  async function send() {
    if (state === "saving") return;
    while (waiting !== null) {
      const sent = waiting;
      waiting = null;
      show("saving");
      try {
        const kept = await sendFeedback({ qa_id: qaId, ...(hasName() ? {} : voter()), ...sent });
        // what was changed meanwhile is newer
        if (waiting === null) said = fieldsOf(kept);
      } catch (error) {
        waiting = merged(sent, waiting);
        return explain(error);
      }
    }
    show("saved");
  }

  function explain(error) {
    const known = error instanceof Problem;
    if (error.status === GONE) show("gone");
    else show("failed", known ? error.message : say("feedback.pageFailed"));
    if (!known) throw error;
  }

  function watch(watcher) {
    watchers.push(watcher);
    watcher({ said, state, problem });
  }

  return { change, send, watch };
}

/** Who votes where no keys are used: a random id, made for the first vote of a browser. */
function voter() {
  const id = browser.find(KEPT_AS) ?? newId();
  browser.keep(KEPT_AS, id);
  return { user_id: id };
}

/** Fields with later ones over them; either may be null. */
function merged(fields, later) {
  const all = { ...fields, ...later };
  for (const name of BY_ITEM) {
    if (name in all) all[name] = { ...fields?.[name], ...later?.[name] };
  }
  return all;
}

function fieldsOf(kept) {
  const named = Object.keys(NOTHING).map((name) => [name, kept[name]]);
  return merged(NOTHING, Object.fromEntries(named));
}

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
    button.closest("article").classList.toggle("rated", !more.hidden); // votes are shown too
  }
  const button = linkButton(say("feedback.more"), unfold, { "aria-expanded": "false" });
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
  const again = linkButton(say("feedback.again"), feedback.send);
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
  const hint = element("p", { class: "hint" }, say("feedback.points"));
  return element("div", { class: "scales" }, hint, ...rows);
}

/** A row of points as radio buttons, and a button that takes the choice back. */
function scale(name, label, qaId, feedback) {
  const id = `${name}-${qaId}`;
  const give = (points) => feedback.change({ scores: { [name]: points } });
  const radios = POINTS.map((points) =>
    element("input", { type: "radio", name: id, value: points, onchange: () => give(points) }),
  );
  const clear = linkButton(say("feedback.clear"), takeBack, {
    "aria-label": say("feedback.clearNamed", { name: label.toLowerCase() }),
  });

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
  const save = plainButton(say("feedback.saveComment"), keep);
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
  const buttons = element("div", { class: "buttons" }, save, hint);
  return element("div", {}, ...withLabel(say("feedback.comment"), text), buttons);
}

/** Buttons for tags, and a field for another. */
function tagPicker(qaId, feedback) {
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
  const input = element("input", { id, type: "text", maxlength: LONGEST_TAG, autocomplete: "off" });

  function add() {
    const tag = input.value.trim().replaceAll(/\s+/g, " ");
    if (!tag) return;
    if (!tags().includes(tag)) feedback.change({ tags: listed([...tags(), tag]) });
    input.value = "";
  }
  feedback.watch(({ said, state }) => {
    input.disabled = state === "gone" || said.tags?.length === MOST_TAGS;
  });
  const button = element("button", {}, say("feedback.add"));
  const form = element("form", { class: "new-tag" }, ...withLabel(say("feedback.anotherTag"), input), button);
  onSubmit(form, add);
  return form;
}

function listed(tags) {
  return tags.length > 0 ? tags.slice(0, MOST_TAGS) : null;
}

/** A button that is pressed while `isOn` what has been said, and changes the `fields` of on or off. */
function toggle(feedback, { isOn, fields, attributes = {} }, ...content) {
  const press = () => feedback.change(fields(button.getAttribute("aria-pressed") === "false"));
  const button = element("button", { type: "button", onclick: press, ...attributes }, ...content);
  feedback.watch(({ said, state }) => {
    button.setAttribute("aria-pressed", String(isOn(said)));
    // aria-disabled keeps the focus, which disabled would drop
    if (state === "gone") button.setAttribute("aria-disabled", "true");
  });
  return button;
}

/** Adds a vote to each passage that the answer's article shows, and to each citation of it. */
export function offerVotes(article, { citations }, feedback) {
  for (const item of article.querySelectorAll(".sources li[data-passage]")) {
    const id = item.dataset.passage;
    const title = item.closest(".document").querySelector("h4 button").textContent;
    const cited = [...citations.keys()].filter((at) => citations[at].passage_id === id);
    const votes = cited.map((at) => {
      const number = String(at + 1);
      const named = say("feedback.sourceNamed", { number, title: citations[at].title });
      const group = vote(feedback, "citations", number, named);
      if (cited.length > 1) group.prepend(element("span", { class: "hint" }, number));
      return group;
    });
    item.querySelector(".tools").prepend(...votes, vote(feedback, "passages", id, title));
  }
}

const VOTES = {
  passages: [
    "relevant",
    "irrelevant",
  ],
  citations: [
    "supports",
    "does_not_support",
  ],
};

/** Two buttons for one item, of which at most one is pressed. */
function vote(feedback, kind, id, title) {
  const buttons = VOTES[kind].map((value) =>
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
