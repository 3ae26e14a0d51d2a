/** Conversations as this browser keeps them: found by their words, opened, renamed, deleted. */

import { messageOf } from "../api.js";
import { at, disclosure, element, linkButton, plainButton, withLabel } from "../dom.js";
import { all, change, clear, get, put, remove } from "../keep/database.js";
import { language, say } from "../language.js";
import { browser, tab } from "../storage.js";
import { plainLetters } from "../text.js";

const dates = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" });
const OFF = "atlas-forgets"; // kept only where the reader wants nothing kept
const STORE = "conversations";
const DESK = "desk";
const TAB = "atlas-desk";

const notice = at("keep-notice");

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
  const folded = disclosure(
    say("ask.conversations"),
    { class: "conversations" },
    ...withLabel(say("ask.findConversation"), search),
    list,
    said,
    element("label", { class: "choice" }, keep, element("span", {}, say("ask.keep"))),
    element("p", { class: "hint", id: "keep-hint" }, say("ask.keepHint")),
    confirmed(say("ask.forgetAll"), say("ask.forgetAllSure"), dropAll),
  );
  let known = [];

  async function refresh() {
    if (!folded.open) return;
    known = (await quietly(() => all(STORE))) ?? [];
    known.sort((a, b) => b.changed - a.changed || (a.id < b.id ? -1 : 1));
    show();
  }

  function show() {
    const wanted = plainLetters(search.value.trim());
    const found = known.filter((conversation) => textOf(conversation).includes(wanted));
    list.replaceChildren(...found.map(item));
    said.textContent =
      known.length === 0
        ? say("ask.noneKept")
        : say("ask.conversationsFound", { count: found.length });
  }

  function item(conversation) {
    const { id, changed } = conversation;
    const title = linkButton(titleOf(conversation), () => open(conversation));
    if (id === present()) title.setAttribute("aria-current", "true");
    const row = element("li", { "data-id": id }, title, element("span", { class: "place" }, dates.format(changed)));
    row.append(
      action("ask.rename", conversation, () => renameIn(row, conversation)),
      action("ask.delete", conversation, () => drop(conversation)),
    );
    return row;
  }

  function renameIn(row, conversation) {
    const label = { "aria-label": say("ask.newName") };
    const name = element("input", { type: "text", maxlength: "200", ...label });
    name.value = titleOf(conversation);
    let over = false;
    const end = async (take) => {
      if (over) return;
      over = true;
      // without a name it goes by its first question again
      const title = name.value.trim() || null;
      const named = (found) => (found === undefined ? null : { ...found, title });
      if (take) await attempt(() => change(STORE, conversation.id, named));
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
    await attempt(() => remove(STORE, conversation.id));
    await refresh();
    const back = async () => {
      await attempt(() => put(STORE, conversation));
      await refresh();
      search.focus();
    };
    const undo = linkButton(say("page.undo"), back);
    said.replaceChildren(`${say("ask.deleted")} `, undo);
    undo.focus();
  }

  async function dropAll() {
    forgotten();
    await attempt(async () => {
      await clear(STORE);
      await clear(DESK);
      clearTab();
    });
    await refresh();
    search.focus();
  }

  folded.addEventListener("toggle", refresh);
  search.addEventListener("input", show);
  keep.checked = isKeeping();
  keep.addEventListener("change", () => {
    const isKept = keep.checked ? browser.forget(OFF) : browser.keep(OFF, "1");
    if (!isKept) notify(say("keep.unkeptChoice"));
  });
  at("conversations").append(folded);
  return { refresh };
}

function action(key, conversation, onclick) {
  return linkButton(say(key), onclick, { "aria-label": `${say(key)}: ${titleOf(conversation)}` });
}

/** A button that does its work when it is pressed a second time. */
function confirmed(label, sure, work) {
  let asked = false;
  const ask = (now) => {
    asked = now;
    button.textContent = now ? sure : label;
  };
  const press = () => {
    if (asked) work();
    ask(!asked);
  };
  const button = plainButton(label, press, { class: "quiet" });
  button.addEventListener("blur", () => ask(false));
  return button;
}

function titleOf({ title, turns }) {
  return title ?? turns[0].request.question;
}

/** All that was said, for the search. */
function textOf(conversation) {
  const said = conversation.turns.flatMap(({ request, answer }) => [
    request.question,
    ...(answer?.sentences ?? []).map((sentence) => sentence.text),
  ]);
  return plainLetters([titleOf(conversation), ...said].join("\n"));
}

/** Tells if conversations are kept at all, as the reader chose. */
export function isKeeping() {
  return browser.find(OFF) === null;
}

/** Keeps a turn of a conversation as it is now; resolves to whether it is kept. */
export async function keepTurn({ id, begun, forgotten }, turn) {
  if (forgotten || !isKeeping()) return true; // as the reader wants it
  return attempt(() =>
    change(STORE, id, (found = { id, title: null, begun, turns: [] }) => {
      const others = found.turns.filter((other) => other.id !== turn.id);
      const turns = [...others, turn].sort((a, b) => a.at - b.at);
      return { ...found, changed: Date.now(), turns };
    }),
  );
}

/** Keeps what the page begins with when it is opened again.
 *
 * {conversation, form, left}; the last is the text so far of the turn that is being answered.
 */
export async function keepDesk(owner, desk) {
  // at once, for the page may be about to be left; and each tab has its own
  tab.keep(TAB, JSON.stringify({ ...desk, owner }));
  await attempt(() => put(DESK, { ...desk, id: "desk" }));
}

/** Finds the desk of this tab, else of the tab that was used last; undefined without either. */
export async function keptDesk(owner) {
  const own = JSON.parse(tab.find(TAB) ?? "null");
  // another key may have been used in this tab
  return own?.owner === owner ? own : quietly(() => get(DESK, "desk"));
}

/** Leaves nothing in this tab. */
export function clearTab() {
  tab.forget(TAB);
}

/** A conversation {id, title, begun, changed, turns}, or undefined. */
export async function keptConversation(id) {
  return quietly(() => get(STORE, id));
}

/** Takes a step, and tells the reader, once, if it fails; resolves to whether it was taken. */
async function attempt(step) {
  return (await quietly(() => step().then(() => true))) ?? false;
}

/** Resolves to what a step finds; undefined if nothing can be read here. */
async function quietly(step) {
  try {
    return await step();
  } catch (error) {
    notify(messageOf(error));
    return undefined;
  }
}

function notify(text) {
  notice.hidden = false;
  if (notice.textContent !== text) notice.textContent = text;
}
