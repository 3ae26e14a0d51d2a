/** Parts that several views share: what tells the outcome of an action, figures, files. */

import { messageOf, Problem } from "./api.js";
import { alertIn, choice, element, withLabel } from "./dom.js";
import { language, say } from "./language.js";

const figures = new Intl.NumberFormat(language, { maximumFractionDigits: 2 });
const rates = new Intl.NumberFormat(language, { maximumFractionDigits: 1 });

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

/** A figure that is no count. */
export function figure(value) {
  return figures.format(value);
}

/** Hits per million words. */
export function rateOf(value) {
  return rates.format(value);
}

/** The totals of hits, as parts of a sentence. */
export function totals({ hits, documents, passages, words, per_million: rate }) {
  const counts = say("words.summary", {
    hits: say("words.hits", { count: hits ?? 0 }),
    documents: say("page.documents", { count: documents }),
    passages: say("page.passages", { count: passages }),
    words: say("words.wordCount", { count: words }),
  });
  return hits && rate !== null ? [counts, say("words.rate", { rate: rateOf(rate) })] : [counts];
}

/** A button that does what may take a while, or fail: then it says why. */
export function actionButton(text, act) {
  const alert = element("p", { role: "alert", hidden: "" });
  const button = element("button", { type: "button" }, text);
  button.addEventListener("click", async () => {
    if (button.hasAttribute("aria-disabled")) return;
    button.setAttribute("aria-disabled", "true"); // `disabled` would drop the focus
    alertIn(alert);
    try {
      await act();
    } catch (error) {
      if (error.name === "AbortError") return; // something else is looked at by now
      alertIn(alert, messageOf(error));
    } finally {
      button.removeAttribute("aria-disabled");
    }
  });
  return element("div", { class: "action" }, button, alert);
}

/** A choice above the results, of the state's `name`; `choices` are pairs of a value and a text. */
export function chooser(name, choices, chosen, go) {
  const select = choice({ id: `words-choose-${name}` }, choices);
  select.value = chosen;
  select.addEventListener("change", () => go({ [name]: select.value }));
  return element("div", { class: "chooser" }, ...withLabel(say(`words.${name}`), select));
}
