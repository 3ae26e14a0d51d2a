/** Drafts that the browser keeps until they are saved: one for each label, whatever tab it is in. */

import { browser } from "../storage.js";

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
