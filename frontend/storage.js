/** Short texts that the browser keeps by name: in all its tabs, or in this one until it is closed.
 *
 * A browser may have no room left, or keep nothing and refuse even to be asked. What it does not
 * keep holds until the page is left. The key of the reader is one of them.
 */

export const browser = storage("localStorage");
export const tab = storage("sessionStorage");
const KEY = "atlas-key"; // of the reader: asked for once, and kept until the tab is closed

/** The headers that show who asks; none without a key. */
export function credentials() {
  const key = tab.find(KEY);
  return key === null ? {} : { Authorization: `Bearer ${key}` };
}

/** Send this key with every request from now on; true if also after a reload. */
export function keepKey(text) {
  // what came along from where it was copied cannot stand in a header
  return tab.keep(KEY, text.replace(/[^\x21-\x7e]/g, ""));
}

export function forgetKey() {
  tab.forget(KEY);
}

function storage(area) {
  const held = new Map(); // by name what the browser did not take; null where it did not let go

  /** Runs `step` on the browser's part; undefined if it refuses. */
  function attempt(step) {
    try {
      return step(window[area]);
    } catch (error) {
      if (error instanceof DOMException) return undefined; // such as SecurityError
      throw error;
    }
  }

  function write(name, text, step) {
    const isKept = attempt((kept) => (step(kept), true)) ?? false;
    if (isKept) held.delete(name);
    else held.set(name, text);
    return isKept;
  }

  return {
    /** The text, or null. */
    find(name) {
      return held.has(name) ? held.get(name) : attempt((kept) => kept.getItem(name)) ?? null;
    },
    /** Keeps a text; whether the browser did. */
    keep(name, text) {
      return write(name, text, (kept) => kept.setItem(name, text));
    },
    /** Lets go of a text; whether the browser did. */
    forget(name) {
      return write(name, null, (kept) => kept.removeItem(name));
    },
    /** All names with a text. */
    names() {
      const kept = attempt((found) => Object.keys(found)) ?? [];
      return [...new Set([...kept, ...held.keys()])].filter((name) => this.find(name) !== null);
    },
  };
}
