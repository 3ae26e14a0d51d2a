/** Conversations as they are kept in this browser. */

import { Problem } from "../api.js";
import { all, change, clear, get, put, remove } from "../keep/database.js";
import { say } from "../language.js";
import { browser, tab } from "../storage.js";

const OFF = "atlas-forgets"; // kept only where the reader wants nothing kept
const STORE = "conversations";
const DESK = "desk";
const TAB = "atlas-desk";

const notice = document.getElementById("keep-notice");

/** Whether conversations are kept at all, as the reader chose. */
export function isKeeping() {
  return browser.find(OFF) === null;
}

export function chooseKeeping(wanted) {
  const isKept = wanted ? browser.forget(OFF) : browser.keep(OFF, "1");
  if (!isKept) notify(say("keep.unkeptChoice"));
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

/** Keeps what the page begins with when it is opened again: {conversation, form}. */
export async function keepDesk(owner, desk) {
  // at once, for the page may be about to be left; and each tab has its own
  tab.keep(TAB, JSON.stringify({ ...desk, owner }));
  await attempt(() => put(DESK, { ...desk, id: "desk" }));
}

/** What the tab was left with, else the tab that was used last; undefined without either. */
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

/** All conversations, the latest first. */
export async function keptConversations() {
  const found = (await quietly(() => all(STORE))) ?? [];
  return found.sort((a, b) => b.changed - a.changed || (a.id < b.id ? -1 : 1));
}

/** Gives a conversation a name; an empty one is its first question again. */
export async function rename(id, title) {
  return attempt(() =>
    change(STORE, id, (found) => (found === undefined ? null : { ...found, title: title || null })),
  );
}

export async function forget(id) {
  return attempt(() => remove(STORE, id));
}

/** Puts back what was forgotten. */
export async function putBack(conversation) {
  return attempt(() => put(STORE, conversation));
}

export async function forgetAll() {
  return attempt(async () => {
    await clear(STORE);
    await clear(DESK);
    clearTab();
  });
}

/** Whether a step could be taken; if not the reader is told, once. */
async function attempt(step) {
  try {
    await step();
    return true;
  } catch (error) {
    tell(error);
    return false;
  }
}

/** What a step finds; undefined if nothing can be read here. */
async function quietly(step) {
  try {
    return await step();
  } catch (error) {
    tell(error);
    return undefined;
  }
}

function tell(error) {
  if (!(error instanceof Problem)) throw error;
  notify(error.message);
}

function notify(text) {
  notice.hidden = false;
  if (notice.textContent !== text) notice.textContent = text;
}
