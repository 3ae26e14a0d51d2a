/** Citations of passages and selections in the style that the reader chose, for the clipboard. */

import { getJson, Problem, sendJson } from "../api.js";
import { choice, element } from "../dom.js";
import { say } from "../language.js";
import { browser } from "../storage.js";

const KEPT_AS = "atlas-style";
const STYLES = ["plain", "chicago", "apa", "mla", "oscola", "bluebook", "mcgill"];
const FIELDS = [
  ...["marker", "passage_id", "document_id", "corpus", "title", "locator", "page", "printed_page"],
  ...["line", "section", "speaker", "date", "url", "start", "end", "metadata"],
];

/** The chosen style; the browser remembers it. */
function style() {
  const kept = browser.find(KEPT_AS);
  return STYLES.includes(kept) ? kept : "plain";
}

/** A labelled choice of the style; all choices on the page show the same. */
export function styleChooser() {
  const names = STYLES.map((name) => [name, say(`keep.style_${name}`)]);
  const select = choice({ class: "style-choice" }, names);
  select.value = style();
  select.addEventListener("change", () => {
    browser.keep(KEPT_AS, select.value);
    for (const other of document.querySelectorAll(".style-choice")) other.value = select.value;
  });
  return element("label", { class: "style" }, `${say("keep.style")} `, select);
}

/** Each citation as {reference, in_text}, both {text, html}; `in_text` is null of footnotes. */
async function styled(citations) {
  if (citations.length === 0) return [];
  return (await sendJson("POST", "api/citations", { style: style(), citations })).citations;
}

/** An answer with numbered notes, or with places in the text and a list of works. */
export async function citedAnswer({ sentences, citations }) {
  const found = await styled(citations);
  const inText = found.some(({ in_text: place }) => place !== null);
  const lines = sentences.map(({ text, citations: indices }) => {
    const marks = indices.map((index) => (inText ? found[index].in_text : numbered(index)));
    return joined(marks.length > 0 && inText ? " " : "", [asText(text), ...marks]);
  });
  const body = joined(" ", lines);
  if (found.length === 0) return body;
  const references = found.map(({ reference }) => reference);
  const list = inText
    ? unique(references).sort((a, b) => a.text.localeCompare(b.text))
    : references.map((reference, at) => joined(" ", [asText(`[${at + 1}]`), reference]));
  return { text: [body.text, "", ...list.map(({ text }) => text)].join("\n"), html: page([body, ...list]) };
}

/** A quotation with its place and its reference. */
export async function citedQuotation(citation) {
  const [{ reference, in_text: place }] = await styled([citation]);
  const quoted = asText(say("keep.quoted", { quote: citation.quote.replaceAll(/\s+/g, " ") }));
  const first = place === null ? quoted : joined(" ", [quoted, place]);
  return { text: `${first.text}\n\n${reference.text}`, html: page([first, reference]) };
}

/** References alone, each on a line of its own. */
export async function citedReferences(citations) {
  const references = unique((await styled(citations)).map(({ reference }) => reference));
  return { text: references.map(({ text }) => text).join("\n"), html: page(references) };
}

function numbered(index) {
  return { text: `[${index + 1}]`, html: `<sup>[${index + 1}]</sup>` };
}

/** Plain words in both forms. */
export function asText(text) {
  const html = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  return { text, html };
}

function joined(between, parts) {
  const [text, html] = ["text", "html"].map((form) => parts.map((part) => part[form]).join(between));
  return { text, html };
}

function page(parts) {
  return parts.map(({ html }) => `<p>${html}</p>`).join("");
}

function unique(references) {
  return [...new Map(references.map((reference) => [reference.text, reference])).values()];
}

/** Puts what `making` resolves to into the clipboard, and resolves to `words` that say so. Raises what
 * it raises, and a TypeError. */
export async function copy(making, words = say("keep.copied")) {
  const part = (form, type) => making.then((made) => new Blob([made[form]], { type }));
  if (navigator.clipboard?.write) {
    // given as promises, or a slow server would outlast the permission of the click
    const item = { "text/plain": part("text", "text/plain"), "text/html": part("html", "text/html") };
    making.catch(() => {});
    try {
      await navigator.clipboard.write([new ClipboardItem(item)]);
      return words;
    } catch {
      // below once more; a failure of `making` says more
    }
  }
  if (!copyOld((await making).text)) throw new TypeError("nothing was copied");
  return words;
}

/** For plain http, where browsers offer nothing newer; tells if it was possible. */
export function copyOld(text) {
  const field = element("textarea", { class: "spoken", readonly: "" }, text);
  field.style.position = "fixed"; // nothing scrolls to it
  const focused = document.activeElement;
  document.body.append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  focused?.focus();
  return done;
}

/** A citation, or a passage quoted whole, with the fields of a citation alone. */
export function asCitation(found) {
  const kept = Object.fromEntries(FIELDS.map((name) => [name, found[name] ?? null]));
  return { ...kept, metadata: found.metadata ?? {}, quote: found.quote ?? found.text };
}

/** Words selected in a document, cited by the passage in which they begin. */
export async function citeSelection({ documentId, start, end, text }) {
  const found = await getJson(`api/documents/${encodeURIComponent(documentId)}`);
  const passage =
    found.passages.findLast((each) => each.start <= start && start < each.end) ?? found.passages[0];
  if (passage === undefined) throw new Problem(say("keep.noPlace"));
  return asCitation({ ...passage, start, end, quote: text });
}
