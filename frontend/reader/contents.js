/** The contents of a document: its sections and speeches, or its pages, as a nested list. */

import { element } from "../dom.js";
import { lastBefore } from "./offsets.js";

const MOST = 3000; // entries
const DEEPEST = 6;

/** {node, show(place)} that jumps by `goTo(place)`; null of a document without parts.
 *
 * `segments` and `pages` are in order of `start`, in UTF-16 units.
 */
export function openContents(segments, pages, label, goTo) {
  const root = segments.length > 0 ? sections(segments) : pageEntries(pages);
  const entries = [];
  if (root.length === 0) return null;
  const node = element("nav", { class: "contents", "aria-label": label, hidden: "" }, listNode(root));
  let current = null;

  function listNode(children) {
    return element("ul", {}, ...children.map(itemNode));
  }

  function itemNode({ label: text, start, kind, children }) {
    const button = element(
      "button",
      { type: "button", class: `link ${kind}`, onclick: () => goTo(start) },
      text,
    );
    entries.push({ start, button });
    return element("li", {}, button, children.length > 0 ? listNode(children) : null);
  }

  /** Marks the entry that this place of the text stands under. */
  function show(place) {
    const found = lastBefore(entries, place)?.button ?? null;
    if (found === current) return;
    current?.removeAttribute("aria-current");
    found?.setAttribute("aria-current", "location");
    current = found;
    bringIntoView();
  }

  function bringIntoView() {
    if (current === null || node.hidden) return;
    const own = current.getBoundingClientRect();
    const frame = node.getBoundingClientRect();
    if (own.top < frame.top || own.bottom > frame.bottom) {
      node.scrollTop += own.top - frame.top - frame.height / 3;
    }
  }

  return { node, show, bringIntoView };
}

/** Entries of nested sections; below them speeches, or the parts that the source cites. */
function sections(segments) {
  const root = [];
  let path = []; // of the entries that are open
  let before = {};
  let count = 0;
  for (const segment of segments) {
    const { start, section, speaker, locator } = segment;
    const names = section ? section.split(" > ").slice(0, DEEPEST) : [];
    const same = path.findIndex(({ label }, at) => label !== names[at]);
    path = path.slice(0, same < 0 ? names.length : same);
    const isNew = path.length < names.length;
    for (const label of names.slice(path.length)) {
      const entry = { label, start, kind: "section", children: [] };
      (path.at(-1)?.children ?? root).push(entry);
      path.push(entry);
      count += 1;
    }
    const spoken = speaker && (isNew || speaker !== before.speaker || section !== before.section);
    const leaf = spoken ? speaker : !speaker && locator && locator !== before.locator ? locator : null;
    if (leaf) {
      const kind = spoken ? "speech" : "part";
      (path.at(-1)?.children ?? root).push({ label: leaf, start, kind, children: [] });
      count += 1;
    }
    before = segment;
    if (count >= MOST) break;
  }
  return root;
}

function pageEntries(pages) {
  return pages.slice(0, MOST).map(({ start, label }) => ({ label, start, kind: "part", children: [] }));
}
