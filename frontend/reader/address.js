/** Places in documents as addresses of the page, so that they can be sent, and gone back to. */

import { chosenCollection } from "../api.js";

const OWN = ["passage", "document", "start", "end", "digest", "words"];
const KEPT = ["passageId", "documentId", "start", "end", "quote", "locator", "digest", "words"];
const LONGEST_WORDS = 80; // characters of the beginning of a quotation that a link carries

/** The place that the page's address names, or null. */
export function placeInAddress() {
  const query = new URLSearchParams(location.search);
  const documentId = query.get("document");
  if (!documentId) {
    const passageId = query.get("passage");
    return passageId ? { passageId } : null;
  }
  const [start, end] = ["start", "end"].map((name) => whole(query.get(name)));
  const span = start !== undefined && end > start ? { start, end } : {};
  const [digest, words] = ["digest", "words"].map((name) => query.get(name) ?? undefined);
  return { documentId, ...span, digest, words };
}

/** The address of a place; what else the page's own says, such as its collection, stays. */
export function addressOf({ passageId, documentId: document, start, end, digest, words }) {
  const named = document === undefined ? { passage: passageId } : { document, start, end, digest, words };
  return addressWith(named, OWN);
}

/** The address of the page with these values in place of its `own`; those undefined are left out. */
export function addressWith(values, own) {
  const query = new URLSearchParams(location.search);
  for (const name of own) query.delete(name);
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined) query.set(name, value);
  }
  return location.pathname + (query.size > 0 ? `?${query}` : "");
}

/** The link to `quote` at a place, which finds it again where the document has changed. */
export function linkTo({ documentId, start, end }, quote) {
  const words = quote.trim().replace(/\s+/g, " ").slice(0, LONGEST_WORDS);
  const named = { document: documentId, start, end, digest: digestOf(quote), words };
  return pageAddress(named);
}

/** The whole address of the page with these values, in the collection that it is about. */
export function pageAddress(values) {
  const query = new URLSearchParams({ ...(chosenCollection && { collection: chosenCollection }), ...values });
  return new URL(`?${query}`, location.href).href;
}

/** A short digest of a quotation: it tells whether the text is still the one that was linked. */
export function digestOf(quote) {
  // FNV-1a; crypto.subtle is missing on plain http, and nothing secret hangs on it
  let hash = 0x811c9dc5;
  for (let at = 0; at < quote.length; at += 1) {
    hash = Math.imul(hash ^ quote.charCodeAt(at), 0x01000193);
  }
  return (hash >>> 0).toString(16).padStart(8, "0");
}

/** Counts the documents that were opened in a row to come to this entry of the history. */
export function depth() {
  return history.state?.depth ?? 0;
}

/** A new entry of the history for this place, unless it is the present one. */
export function remember(place, before) {
  const address = addressOf(place);
  const said = Object.entries(place).filter(([name]) => KEPT.includes(name));
  const state = { reader: Object.fromEntries(said), depth: before + 1 };
  if (address === location.pathname + location.search) history.replaceState(state, "", address);
  else history.pushState(state, "", address);
}

/** A new entry of the history without a document. */
export function forget() {
  history.pushState(null, "", addressWith({}, OWN));
}

/** The place of the present entry of the history, or null. */
export function placeInHistory() {
  return history.state?.reader ?? placeInAddress();
}

function whole(text) {
  return /^\d{1,10}$/.test(text ?? "") ? Number(text) : undefined;
}
