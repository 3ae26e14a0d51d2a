/** Citation tokens such as `[uk.case p2]`, `[nz.act s10(1)]` in a text. */

import { shortPlace } from "../places.js";

// the places of `backend/atlas_search/core/locator.py`; a test holds them against it
const PLACE = String.raw`(?:p\d+|(?:s|r|reg|art|cl|para|sch|o|sch(?:s|r|reg|art|cl|para))[\dA-Z][^\[\]\s]*)`;
const MARKER = String.raw`\[[^[\]\s]+ ${PLACE}\]`;
const ROW = String.raw`${MARKER}(?:[\s,;]*${MARKER})*`;
const GROUP = String.raw`\(${ROW}\)|${ROW}`;

/** `text` with titles and places for its tokens. */
export function readable(text, passages) {
  return passages.reduce(
    // by a function: a `$` in a title stands for itself
    (written, passage) =>
      written.replaceAll(passage.marker, () => `(${passage.title}, ${shortPlace(passage)})`),
    text,
  );
}

export function withoutMarkers(text) {
  return text.replace(new RegExp(String.raw`\s*(?:${GROUP})`, "g"), "").trim();
}
