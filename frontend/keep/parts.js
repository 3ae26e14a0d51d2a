/** Small things that all of keeping is made of. */

import { Problem } from "../api.js";
import { element } from "../dom.js";
import { say } from "../language.js";

/** A line that tells what came of an action, aloud too: {node, tell(words), attempt(step)}. */
export function newOutcome() {
  const node = element("span", { class: "hint outcome", role: "status" });
  const tell = (words) => (node.textContent = words);

  /** Runs `step` and tells the words it resolves to, or what stood in the way. */
  async function attempt(step) {
    tell("");
    try {
      tell((await step()) ?? "");
    } catch (error) {
      if (error instanceof Problem) return tell(error.message);
      if (!(error instanceof TypeError || error instanceof DOMException)) throw error;
      tell(say("keep.notCopied"));
    }
  }

  return { node, tell, attempt };
}

/** Hands a file to the browser. */
export function download({ name, content }) {
  const href = URL.createObjectURL(content);
  element("a", { href, download: name }).click();
  URL.revokeObjectURL(href);
}

/** A file of this text. */
export function textFile(name, type, text) {
  return { name, content: new Blob([text], { type: `${type};charset=utf-8` }) };
}
