/** Passages and selections in the form of citations, as answers have them. */

import { getJson, Problem } from "../api.js";
import { say } from "../language.js";

const FIELDS = [
  "marker",
  "passage_id",
  "document_id",
  "corpus",
  "title",
  "locator",
  "page",
  "printed_page",
  "line",
  "section",
  "speaker",
  "date",
  "url",
  "start",
  "end",
  "metadata",
];

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

/** The place of a citation for the reader. */
export function placeIn(citation) {
  const { passage_id: passageId, document_id: documentId, start, end, quote, locator } = citation;
  return { passageId, documentId, start, end, quote, locator: locator ?? undefined };
}
