/** Places in documents as addresses of the page, so that they can be sent, and gone back to. */

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
export function addressOf(place) {
  const query = new URLSearchParams(location.search);
  for (const name of OWN) query.delete(name);
  const { passageId, documentId, ...rest } = place;
  if (documentId === undefined) query.set("passage", passageId);
  else {
    query.set("document", documentId);
    for (const name of ["start", "end", "digest", "words"]) {
      if (rest[name] !== undefined) query.set(name, rest[name]);
    }
  }
  return `${location.pathname}?${query}`;
}

/** The link to `quote` at a place, which finds it again where the document has changed. */
export function linkTo({ documentId, start, end }, quote) {
  const words = quote.trim().replace(/\s+/g, " ").slice(0, LONGEST_WORDS);
  const query = new URLSearchParams();
  const collection = new URLSearchParams(location.search).get("collection");
  if (collection) query.set("collection", collection);
  const named = { document: documentId, start, end, digest: digestOf(quote), words };
  for (const [name, value] of Object.entries(named)) query.set(name, value);
  return new URL(`${location.pathname}?${query}`, location.href).href;
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
  const query = new URLSearchParams(location.search);
  for (const name of OWN) query.delete(name);
  const written = query.toString();
  history.pushState(null, "", location.pathname + (written ? `?${written}` : ""));
}

/** The place of the present entry of the history, or null. */
export function placeInHistory() {
  return history.state?.reader ?? placeInAddress();
}

function whole(text) {
  return /^\d{1,10}$/.test(text ?? "") ? Number(text) : undefined;
}
