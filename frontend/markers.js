/** Citation tokens such as `[legal_uk.act p2]` in a text that is still being written. */

const MARKER = String.raw`\[[^[\]\s]+ p\d+\]`;
const ROW = String.raw`${MARKER}(?:[\s,;]*${MARKER})*`;
const GROUP = String.raw`\(${ROW}\)|${ROW}`;

/** `text` with titles in place of its tokens; a token whose end has not come yet is left out. */
export function readable(text, passages) {
  return passages.reduce(
    (written, { marker, title, page }) => written.replaceAll(marker, `(${title}, p. ${page})`),
    text.replace(/\[[^[\]\s]*(?: p?\d*)?$/, ""),
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
