/** The reader's key: asked for once, kept until the tab is closed, and sent with every request. */

import { tab } from "./storage.js";

const KEPT_AS = "atlas-key";

const at = (id) => document.getElementById(id);
const dialog = at("sign-in");

/** The headers that show who asks; none without a key. */
export function credentials() {
  const key = tab.find(KEPT_AS);
  return key === null ? {} : { Authorization: `Bearer ${key}` };
}

/** Asks for the key. The page then begins anew: what it shows was another's, or nothing. */
export function askForKey(reason) {
  at("sign-in-reason").textContent = reason;
  if (!dialog.open) dialog.showModal();
}

/** Says whose key is used and offers to let go of it; nothing where no keys are used. */
export function showCaller(name) {
  at("signed-in").hidden = name === "";
  at("caller").textContent = name;
}

/** Sends this key with every request from now on; whether also after a reload. */
export function keepKey(text) {
  // what came along from where it was copied cannot stand in a header
  return tab.keep(KEPT_AS, text.replace(/[^\x21-\x7e]/g, ""));
}

async function signIn(event) {
  event.preventDefault();
  const isKept = keepKey(at("key").value);
  at("key").value = "";
  if (isKept) return location.reload();
  // loaded late: a key in an address leaves it before there are words to say
  const { say } = await import("./language.js");
  askForKey(say("key.unkept"));
}

function signOut() {
  tab.forget(KEPT_AS);
  location.reload();
}

at("sign-in-form").addEventListener("submit", signIn);
at("sign-out").addEventListener("click", signOut);
