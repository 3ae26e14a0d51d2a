/** Parts of both pages: the key of the page, single keys as commands except where somebody writes, and
 * drafts that the browser keeps until they are saved: one for each label, whatever tab it is in. */

import { at } from "../dom.js";
import { browser, keepKey } from "../storage.js";

const PREFIX = "#key=";
const WRITTEN = "textarea, select, input:not([type=radio], [type=checkbox])";
const OFF = "atlas-no-keys"; // of this browser: single keys are no commands
const HELD = ["j", "k"]; // what may go on while a key is held

/** Takes the key that comes with the address of the page; it does not stay there. */
function takeKey() {
  if (!location.hash.startsWith(PREFIX)) return false;
  keepKey(decodeURIComponent(location.hash.slice(PREFIX.length)));
  history.replaceState(null, "", location.pathname);
  return true;
}

takeKey(); // this module is imported first: others wait for the strings of the page
// the address of a later start, pasted into the page of an earlier one
window.addEventListener("hashchange", () => takeKey() && location.reload());

/** Tells how it stands with what the reader does. */
export function say(text) {
  at("status").textContent = text;
}

/** Calls `commands[key]` with the event; `save` also for Ctrl+S and ⌘+S, wherever the focus is. */
export function listenToKeys(commands, save) {
  const single = at("single-keys");
  single.checked = browser.find(OFF) === null;
  single.addEventListener("change", () => {
    if (single.checked) browser.forget(OFF);
    else browser.keep(OFF, "yes");
  });
  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "s") {
      event.preventDefault();
      if (!event.repeat) save();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || !single.checked) return;
    if (event.repeat && !HELD.includes(event.key)) return;
    if (event.target.closest(WRITTEN) || document.querySelector("dialog[open]")) return;
    const command = commands[event.key];
    if (command === undefined) return;
    event.preventDefault();
    command(event);
  });
}

/** Moves the focus by `step` among `nodes`, to the first one if none of them has it. */
export function moveFocus(nodes, step) {
  const at = nodes.findIndex((node) => node.contains(document.activeElement));
  const next = at < 0 ? 0 : Math.min(Math.max(at + step, 0), nodes.length - 1);
  nodes[next]?.focus();
  nodes[next]?.scrollIntoView({ block: "nearest" });
}

/** `prefix` names what the drafts are of. */
export function createDrafts(prefix) {
  const name = (id) => `${prefix}:${id}`;
  return {
    /** Keeps a draft; false if the browser has no room, or is told to keep nothing. */
    keep(id, draft) {
      return browser.keep(name(id), JSON.stringify({ ...draft, kept: Date.now() }));
    },
    find(id) {
      return parsed(browser.find(name(id)));
    },
    discard(id) {
      browser.forget(name(id));
    },
    /** Discards what was saved, unless somebody went on with it, be it in another tab. */
    discardSaved(id, saved) {
      const found = parsed(browser.find(name(id)));
      const same = (field) => JSON.stringify(found[field]) === JSON.stringify(saved[field]);
      if (found !== null && Object.keys(saved).every(same)) browser.forget(name(id));
    },
    /** The newest first. */
    all() {
      return browser
        .names()
        .filter((key) => key.startsWith(`${prefix}:`))
        .map((key) => parsed(browser.find(key)))
        .filter((draft) => draft !== null)
        .sort((a, b) => b.kept - a.kept);
    },
  };
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null; // cut off as the disk was full
  }
}
