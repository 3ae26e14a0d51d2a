/** What is not saved yet, kept by the browser: one entry for each label, whatever tab it is in. */

/** `prefix` names what the drafts are of. */
export function createDrafts(prefix) {
  const name = (id) => `${prefix}:${id}`;
  return {
    /** Whether it is kept: a browser has little room, and may be told to keep nothing. */
    keep(id, draft) {
      try {
        localStorage.setItem(name(id), JSON.stringify({ ...draft, kept: Date.now() }));
        return true;
      } catch {
        return false;
      }
    },
    find(id) {
      return parsed(localStorage.getItem(name(id)));
    },
    discard(id) {
      localStorage.removeItem(name(id));
    },
    /** Discards what was saved, unless somebody went on with it, be it in another tab. */
    discardSaved(id, saved) {
      const found = parsed(localStorage.getItem(name(id)));
      const same = (field) => JSON.stringify(found[field]) === JSON.stringify(saved[field]);
      if (found !== null && Object.keys(saved).every(same)) localStorage.removeItem(name(id));
    },
    /** The newest first. */
    all() {
      return Object.keys(localStorage)
        .filter((key) => key.startsWith(`${prefix}:`))
        .map((key) => parsed(localStorage.getItem(key)))
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
