/** Citation tokens such as `[uk.case p2]`, `[nz.act s10(1)]` in a text that is being written. */

import { shortPlace } from "../places.js";

// the places of `backend/atlas_search/core/locator.py`; a test holds them against it
const PLACE = String.raw`(?:p\d+|(?:s|r|reg|art|cl|para|sch|o|sch(?:s|r|reg|art|cl|para))[\dA-Z][^\[\]\s]*)`;
const BEGUN_PLACE = String.raw`(?:p\d*|[a-z]*(?:[\dA-Z][^\[\]\s]*)?)`;
const MARKER = String.raw`\[[^[\]\s]+ ${PLACE}\]`;
const BEGUN = new RegExp(String.raw`\[[^[\]\s]*(?: ${BEGUN_PLACE})?$`);
const ROW = String.raw`${MARKER}(?:[\s,;]*${MARKER})*`;
const GROUP = String.raw`\(${ROW}\)|${ROW}`;

/** `text` with titles and places for its tokens; a token whose end has not come is left out. */
export function readable(text, passages) {
  return passages.reduce(
    // by a function: a `$` in a title stands for itself
    (written, passage) =>
      written.replaceAll(passage.marker, () => `(${passage.title}, ${shortPlace(passage)})`),
    text.replace(BEGUN, ""),
  );
}

export function withoutMarkers(text) {
  return text.replace(new RegExp(String.raw`\s*(?:${GROUP})`, "g"), "").trim();
}

/** Where `sentence`, given without tokens, ends in `text`, its tokens included; 0 if absent. */
export function sentenceEnd(text, sentence) {
  const blanked = text.replace(new RegExp(GROUP, "g"), (group) => " ".repeat(group.length));
  const solid = blanked.replace(/\s/g, "");
  const wanted = sentence.replace(/\s/g, "");
  const at = solid.indexOf(wanted);
  if (at < 0) return 0;
  const offsets = Array.from(blanked.matchAll(/\S/g), (match) => match.index);
  const end = offsets[at + wanted.length - 1] + 1;
  const behind = new RegExp(String.raw`^\s*(?:${GROUP})`).exec(text.slice(end));
  return end + (behind?.[0].length ?? 0);
}
