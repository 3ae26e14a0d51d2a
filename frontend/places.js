/** Places in sources, as the sources say them, and what stands above them. */

import { element } from "./dom.js";

/** `s 10(1)` of a source that has such, else `p. xii`, or `col. 345` of one cited by columns. */
export function shortPlace({ locator, page, printed_page: printed, metadata }) {
  return locator || `${unit(metadata)} ${printed || page}`;
}

/** The same, with the page of the file where another number is printed on it. */
export function fullPlace(passage) {
  const { locator, page, printed_page: printed } = passage;
  const differs = !locator && printed && printed !== String(page);
  return shortPlace(passage) + (differs ? ` (page ${page} of the file)` : "");
}

/** The section without the title of the document, which the first heading often repeats. */
export function sectionBelow({ title, section }) {
  if (!section || section === title) return null;
  return section.startsWith(`${title} > `) ? section.slice(title.length + 3) : section;
}

/** A line for above a text: the headings it stands under, and who speaks; null without either. */
export function contextLine({ section, speaker }) {
  if (!section && !speaker) return null;
  const headings = section ? section.split(" > ").join(" › ") : null;
  return element(
    "p",
    { class: "context" },
    headings && element("span", { class: "headings" }, headings),
    speaker && element("span", { class: "speaker" }, speaker),
  );
}

function unit(metadata) {
  return String(metadata?.pages_are ?? "").startsWith("columns") ? "col." : "p.";
}
