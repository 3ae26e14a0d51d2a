/** The conversations that this browser keeps: found by their words, opened, renamed, deleted. */

import { element } from "../dom.js";
import { language, say } from "../language.js";
import {
  chooseKeeping,
  forget,
  forgetAll,
  isKeeping,
  keptConversations,
  putBack,
  rename,
} from "./kept.js";

const dates = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" });

/** Puts the folded list into the page.
 *
 * `open` shows a conversation, `present` is the id of the one that is shown, and `forgotten` ends
 * it when it is kept no more.
 */
export function offerConversations({ open, present, forgotten }) {
  const search = element("input", { type: "search", id: "conversation-search" });
  const list = element("ul", {});
  const said = element("p", { class: "hint", role: "status" });
  const keep = element("input", { type: "checkbox", "aria-describedby": "keep-hint" });
  const folded = element(
    "details",
    { class: "conversations" },
    element("summary", {}, say("ask.conversations")),
    element("label", { for: "conversation-search" }, say("ask.findConversation")),
    search,
    list,
    said,
    element("label", { class: "choice" }, keep, element("span", {}, say("ask.keep"))),
    element("p", { class: "hint", id: "keep-hint" }, say("ask.keepHint")),
    confirmed(say("ask.forgetAll"), say("ask.forgetAllSure"), dropAll),
  );
  let known = [];

  async function refresh() {
    if (!folded.open) return;
    known = await keptConversations();
    show();
  }

  function show() {
    const wanted = folding(search.value.trim());
    const found = known.filter((conversation) => textOf(conversation).includes(wanted));
    list.replaceChildren(...found.map(item));
    said.textContent =
      known.length === 0
        ? say("ask.noneKept")
        : say("ask.conversationsFound", { count: found.length });
  }

  function item(conversation) {
    const { id, changed } = conversation;
    const title = element("button", { type: "button", class: "link" }, titleOf(conversation));
    title.addEventListener("click", () => open(conversation));
    if (id === present()) title.setAttribute("aria-current", "true");
    const row = element("li", { "data-id": id }, title, element("span", { class: "place" }, when(changed)));
    row.append(
      action("ask.rename", conversation, () => renameIn(row, conversation)),
      action("ask.delete", conversation, () => drop(conversation)),
    );
    return row;
  }

  function renameIn(row, conversation) {
    const name = element("input", {
      type: "text",
      maxlength: "200",
      "aria-label": say("ask.newName"),
    });
    name.value = titleOf(conversation);
    let over = false;
    const end = async (take) => {
      if (over) return;
      over = true;
      if (take) await rename(conversation.id, name.value.trim());
      await refresh();
      focusOn(conversation.id);
    };
    name.addEventListener("keydown", (event) => {
      if (event.key === "Enter") end(true);
      if (event.key === "Escape") end(false);
    });
    name.addEventListener("blur", () => end(true));
    row.replaceChildren(name);
    name.select();
  }

  function focusOn(id) {
    const row = [...list.children].find((each) => each.dataset.id === id);
    (row?.querySelector("button") ?? search).focus();
  }

  async function drop(conversation) {
    if (conversation.id === present()) forgotten();
    await forget(conversation.id);
    await refresh();
    const back = async () => {
      await putBack(conversation);
      await refresh();
      search.focus();
    };
    const undo = element("button", { type: "button", class: "link", onclick: back }, say("ask.undo"));
    said.replaceChildren(`${say("ask.deleted")} `, undo);
    undo.focus();
  }

  async function dropAll() {
    forgotten();
    await forgetAll();
    await refresh();
    search.focus();
  }

  folded.addEventListener("toggle", refresh);
  search.addEventListener("input", show);
  keep.checked = isKeeping();
  keep.addEventListener("change", () => chooseKeeping(keep.checked));
  document.getElementById("conversations").append(folded);
  return { refresh };
}

function action(key, conversation, onclick) {
  const label = `${say(key)}: ${titleOf(conversation)}`;
  return element("button", { type: "button", class: "link", "aria-label": label, onclick }, say(key));
}

/** A button that does its work when it is pressed a second time. */
function confirmed(label, sure, work) {
  const button = element("button", { type: "button", class: "quiet" }, label);
  let asked = false;
  const ask = (now) => {
    asked = now;
    button.textContent = now ? sure : label;
  };
  button.addEventListener("click", () => {
    if (asked) work();
    ask(!asked);
  });
  button.addEventListener("blur", () => ask(false));
  return button;
}

function titleOf({ title, turns }) {
  return title ?? turns[0].request.question;
}

function when(changed) {
  return dates.format(changed);
}

/** All that was said, for the search. */
function textOf(conversation) {
  const said = conversation.turns.flatMap(({ request, answer }) => [
    request.question,
    ...(answer?.sentences ?? []).map((sentence) => sentence.text),
  ]);
  return folding([titleOf(conversation), ...said].join("\n"));
}

function folding(text) {
  return text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
}
