/** Spans of text as the server counts them, and how the page marks and words things. */

import { element } from "./dom.js";

/** Spans counted in code points (Python) as spans in UTF-16 units (JavaScript), in order. */
export function unitSpans(text, spans) {
  return spans
    .map(({ start, end }) => ({ start: unitIndex(text, start), end: unitIndex(text, end) }))
    .sort((a, b) => a.start - b.start || a.end - b.end);
}

function unitIndex(text, codePoints) {
  let index = 0;
  for (let seen = 0; seen < codePoints && index < text.length; seen += 1) {
    index += text.codePointAt(index) > 0xffff ? 2 : 1;
  }
  return index;
}

/** The text from `start` to `end` as nodes, with whatever lies in `spans` marked. */
export function marked(text, spans, start = 0, end = text.length) {
  const nodes = [];
  let at = start;
  for (const span of spans) {
    const from = Math.max(span.start, at);
    const to = Math.min(span.end, end);
    if (from >= to) continue;
    nodes.push(text.slice(at, from), element("mark", {}, text.slice(from, to)));
    at = to;
  }
  return [...nodes, text.slice(at, end)];
}

/** `superseded_by` as `Superseded by`. */
export function heading(name) {
  const words = name.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** The status of a source that must not be read as good law, or an empty string. */
export function warningStatus(metadata) {
  const status = String(metadata?.status ?? "");
  return status.toLowerCase() === "current" ? "" : status;
}

export function duration(milliseconds) {
  return milliseconds < 1000
    ? `${Math.round(milliseconds)} ms`
    : `${(milliseconds / 1000).toFixed(1)} s`;
}

/** `1 document`, `2 documents`. */
export function counted(number, noun, plural = `${noun}s`) {
  return `${number.toLocaleString("en")} ${number === 1 ? noun : plural}`;
}
