/** The text on its way: pieces as they come, and each sentence flagged that does not hold. */

import { element } from "../dom.js";
import { hasString, say, sayNodes, told } from "../language.js";
import { readable } from "./sentences.js";

/** Gives what to call as events arrive; `label` names a corpus. The text grows in `node`. */
export function newDraft(label) {
  const progress = element("p", { class: "hint" });
  const node = element("div", {});
  let passages = [];
  let part = begin();

  function begin(...heading) {
    const begun = newPart(() => passages);
    node.append(...heading, begun.node);
    return begun;
  }

  return {
    node,
    references(data) {
      passages = data.passages;
      const count = passages.length;
      progress.textContent = say("ask.found", { passages: say("page.passages", { count }) });
      node.prepend(progress);
    },
    token({ text }) {
      // the text takes its place, so that nothing moves
      if (!node.classList.contains("begun")) progress.remove();
      node.classList.add("begun");
      part.add(text);
    },
    written: () => [...node.querySelectorAll(".draft")].map((own) => own.textContent).join("\n\n"),
    sentence: (checked) => part.settle(checked),
    section({ corpus }) {
      progress.remove();
      part = begin(element("h3", {}, label(corpus)));
    },
    restart({ reason }) {
      part.withdraw();
      progress.textContent = restarted(reason);
      part.node.before(progress);
    },
  };
}

/** Why the text so far is withdrawn, as a sentence. */
export function restarted(reason) {
  const key = `ask.restart_${reason}`;
  return say(hasString(key) ? key : "ask.restart");
}

/** Text of one answer: sentences that have been verified, then what has come since. */
function newPart(passages) {
  const settled = element("span");
  const tail = element("span");
  let rest = "";

  function keep(text) {
    rest = text;
    tail.textContent = readable(rest, passages());
  }

  return {
    node: element("p", { class: "draft" }, settled, tail),
    add: (text) => keep(rest + text),
    settle(checked) {
      settled.append(...sentenceNodes(readable(rest, passages()), checked));
      keep("");
    },
    withdraw() {
      settled.replaceChildren();
      keep("");
    },
  };
}

function sentenceNodes(text, { errors }) {
  if (errors.length === 0) return [text];
  const flags = errors.map((error) =>
    element("strong", { class: "flag" }, " ", ...sayNodes("ask.notVerified", { why: told(error) })),
  );
  return [element("span", { class: "doubtful" }, text), ...flags];
}
