/** The text of a document in the page, in which every character knows its place in the source:
 * blocks, and the emphasis, code and links inside them. */

import { element, externalLink } from "../dom.js";
import { countBefore, lastBefore } from "../text.js";
import { markdownBlocks, plainBlocks } from "./blocks.js";

const LONG = 60_000; // characters from which what is out of sight is not laid out
const CHUNK = 6000; // characters that are laid out together
const ABOVE = 72; // pixels above what one goes to
const DEEP = 0.6; // of the pane: what is further down in its paragraph is gone to by itself
const LINE = 70; // characters, about
const LINE_REM = 1.6;
const LINK = /\[([^[\]\n]{1,300})\]\(([^\s()]{1,1000})\)/y;
const ESCAPED = /[!-/:-@[-`{-~]/;
const WORD = /[\p{L}\p{N}]/u;
const KINDS = { 1: "em", 2: "strong" };

/** {node, render, rangeOf, placeAt, startIn, goTo, blocks} of a text.
 *
 * `marks` are spans to mark, in order; `pages` are {start, label} of where a page begins. All
 * places are UTF-16 units of `text`. `says` names a region for a table that can be scrolled.
 */
export function openText(text, marks, pages, says) {
  const node = element("div", { class: "document-text" });
  let pieces = []; // text nodes with their spans, in order
  let places = new WeakMap(); // of text nodes their pieces
  let blocks = []; // {start, end, node}, in order
  const cuts = [...new Set([...marks.flatMap(({ start, end }) => [start, end]), ...pages.map((page) => page.start)])]
    .sort((a, b) => a - b);
  const labels = new Map(pages.map(({ start, label }) => [start, label]));
  const marked = (at) => marks.some(({ start, end }) => start <= at && at < end);

  /** The characters from `start` to `end` as nodes. */
  function written(start, end) {
    const nodes = [];
    for (let from = start, next = countBefore(cuts, (cut) => cut <= start); from < end; next += 1) {
      const to = Math.min(cuts[next] ?? end, end);
      if (labels.has(from)) nodes.push(element("span", { class: "page-start", "data-label": labels.get(from) }));
      const piece = document.createTextNode(text.slice(from, to));
      const known = { start: from, end: to, node: piece, number: pieces.length };
      pieces.push(known);
      places.set(piece, known);
      nodes.push(marked(from) ? element("mark", {}, piece) : piece);
      from = to;
    }
    return nodes;
  }

  function inline(spans) {
    return inlineParts(text, spans).flatMap(function part(each) {
      if (each.text) return written(...each.text);
      if (each.tag) return [element(each.tag, {}, ...each.parts.flatMap(part))];
      const link = externalLink(each.link, "", { title: each.link });
      if (link === null) return each.written.flatMap(part);
      link.append(...each.parts.flatMap(part));
      return [link];
    });
  }

  const forms = {
    title: ({ start, end }) => element("p", { class: "paragraph title" }, ...written(start, end)),
    paragraph: ({ start, end, spans, goesOn }) => {
      const kind = goesOn ? "paragraph goes-on" : "paragraph";
      return element("p", { class: kind }, ...(spans ? inline(spans) : written(start, end)));
    },
    // the page's own headings come above those of a text
    heading: ({ level, spans }) => element(`h${Math.min(6, level + 2)}`, {}, ...inline(spans)),
    rule: () => element("hr"),
    code: ({ spans }) =>
      element("pre", {}, element("code", {}, ...spans.flatMap(({ start, end }) => written(start, end)))),
    quote: ({ paragraphs }) =>
      element("blockquote", {}, ...paragraphs.map((spans) => element("p", {}, ...inline(spans)))),
    list: ({ list }) => listNode(list),
    table: ({ head, rows }) => {
      const row = (tag, cells, rest = {}) =>
        element("tr", {}, ...cells.map((cell) => element(tag, rest, ...inline([cell]))));
      const table = element(
        "table",
        {},
        element("thead", {}, row("th", head, { scope: "col" })),
        element("tbody", {}, ...rows.map((cells) => row("td", cells))),
      );
      const frame = { class: "table", role: "region", tabindex: "0", "aria-label": says.table };
      return element("div", frame, table);
    },
  };

  function listNode({ items, ordered, first }) {
    const node = element(ordered ? "ol" : "ul", ordered && first !== 1 ? { start: first } : {});
    for (const { spans, lists } of items) {
      node.append(element("li", {}, ...inline(spans), ...lists.map(listNode)));
    }
    return node;
  }

  /** Shows the text anew: as Markdown, or as it is written. */
  function render(asMarkdown) {
    pieces = [];
    places = new WeakMap();
    node.classList.toggle("as-markdown", asMarkdown);
    blocks = (asMarkdown ? markdownBlocks(text) : plainBlocks(text)).map((block) => {
      const { kind, start, end } = block;
      return { start, end, node: forms[kind](block) };
    });
    node.replaceChildren(...(text.length > LONG ? chunks(blocks) : blocks.map((block) => block.node)));
  }

  /** The text node and place in it of a character, or of the next one that is shown. */
  function pointOf(at) {
    const piece = lastBefore(pieces, at);
    if (piece && at < piece.end) return { node: piece.node, offset: at - piece.start };
    const next = pieces[piece ? piece.number + 1 : 0];
    return next && { node: next.node, offset: 0 };
  }

  /** Gives the range from `start` to `end`, to be highlighted; null if none of it is shown. */
  function rangeOf(start, end) {
    const from = pointOf(start);
    const last = lastBefore(pieces, end - 1);
    if (!from || !last || last.end <= start) return null;
    return new StaticRange({
      startContainer: from.node,
      startOffset: from.offset,
      endContainer: last.node,
      endOffset: Math.min(end, last.end) - last.start,
    });
  }

  /** The place in the source of a point in the page, as of a selection; null outside the text. */
  function placeAt(container, offset) {
    if (!node.contains(container)) return null;
    const known = places.get(container);
    if (known) return known.start + offset;
    const child = container.childNodes[offset];
    if (child) {
      const next = pieces.find((piece) => isIn(child, piece.node, Node.DOCUMENT_POSITION_FOLLOWING));
      return next ? next.start : text.length;
    }
    const before = (piece) => isIn(container, piece.node, Node.DOCUMENT_POSITION_PRECEDING);
    return pieces.findLast(before)?.end ?? 0;
  }

  /** Scrolls so that a character is in view, with the beginning of its paragraph if there is room. */
  function goTo(at) {
    const point = pointOf(Math.min(at, text.length - 1));
    const holder = point?.node.parentElement.closest("mark, p, li, h3, h4, h5, h6, td, th, pre");
    if (!holder) return;
    const pane = node.parentElement;
    scrollTo(holder, pane);
    const character = document.createRange();
    character.setStart(point.node, point.offset);
    character.setEnd(point.node, Math.min(point.offset + 1, point.node.length));
    const below = character.getBoundingClientRect().top - pane.getBoundingClientRect().top;
    if (below > pane.clientHeight * DEEP) scrollTo(character, pane);
  }

  return { node, render, rangeOf, placeAt, goTo, blocks: () => blocks };
}

/** Scrolls `pane`, and nothing else, so that a node or range comes near its upper end. */
export function scrollTo(node, pane) {
  // twice: what came into view only now may be higher than was guessed
  for (let time = 0; time < 2; time += 1) {
    const here = node.getBoundingClientRect().top - pane.getBoundingClientRect().top;
    pane.scrollTop += here - ABOVE;
  }
}

/** Tells if a text node is in `node`, or on this side of it. */
function isIn(node, piece, side) {
  return node.contains(piece) || (node.compareDocumentPosition(piece) & side) !== 0;
}

/** Blocks in groups that the browser lays out when they come near, with a guess of their height. */
function chunks(blocks) {
  const groups = [];
  let room = 0;
  for (const { node, start, end } of blocks) {
    if (room <= 0) {
      groups.push({ nodes: [], lines: 0 });
      room = CHUNK;
    }
    groups.at(-1).nodes.push(node);
    groups.at(-1).lines += 1 + Math.ceil((end - start) / LINE);
    room -= end - start + LINE;
  }
  return groups.map(({ nodes, lines }) => {
    const chunk = element("div", { class: "chunk" }, ...nodes);
    chunk.style.containIntrinsicBlockSize = `auto ${Math.round(lines * LINE_REM)}rem`;
    return chunk;
  });
}

/** The parts of the text in `spans`, in order.
 *
 * {text: [start, end]}, {tag, parts} or {link, parts, whole: [start, end]}.
 */
function inlineParts(text, spans) {
  const line = new Line(text, spans);
  return treeOf(matched(tokensOf(line.said)), line);
}

/** Spans of a text, read as one. */
class Line {
  constructor(text, spans) {
    this.spans = spans.filter(({ start, end }) => start < end);
    this.said = this.spans.map(({ start, end }) => text.slice(start, end)).join("");
  }

  /** Parts for the characters `from` to `to` of what is said. */
  parts(from, to) {
    const found = [];
    let at = 0;
    for (const { start, end } of this.spans) {
      const left = Math.max(from, at);
      const right = Math.min(to, at + end - start);
      if (left < right) found.push({ text: [start + left - at, start + right - at] });
      at += end - start;
    }
    return found;
  }
}

function tokensOf(said) {
  const tokens = [];
  const closing = codeRuns(said);
  let plain = 0;
  let at = 0;
  const take = (token, from, to) => {
    if (plain < from) tokens.push({ kind: "text", from: plain, to: from });
    if (token) tokens.push({ ...token, from, to });
    plain = at = to;
  };
  while (at < said.length) {
    const sign = said[at];
    if (sign === "\\" && ESCAPED.test(said[at + 1] ?? "")) {
      take(null, at, at + 1);
      at += 1;
    } else if (sign === "`") {
      const { length } = /^`+/.exec(said.slice(at, at + 100))[0];
      const end = closing(length, at + length);
      if (end < 0) at += length;
      else take({ kind: "code", inner: [at + length, end] }, at, end + length);
    } else if (sign === "[") {
      LINK.lastIndex = at;
      const link = LINK.exec(said);
      if (link === null) at += 1;
      else {
        const inner = [at + 1, at + 1 + link[1].length];
        take({ kind: "link", address: link[2], inner }, at, at + link[0].length);
      }
    } else if (sign === "*" || sign === "_") {
      let end = at;
      while (said[end] === sign) end += 1;
      take(run(said, at, end), at, end);
    } else at += 1;
  }
  take(null, said.length, said.length);
  return tokens;
}

/** Asks where the next run of so many backticks begins, from a place on; each is looked at once. */
function codeRuns(said) {
  const runs = new Map();
  for (const { index, 0: found } of said.matchAll(/`+/g)) {
    if (!runs.has(found.length)) runs.set(found.length, []);
    runs.get(found.length).push(index);
  }
  return (length, from) => {
    const own = runs.get(length) ?? [];
    while (own.length > 0 && own[0] < from) own.shift();
    return own[0] ?? -1;
  };
}

/** A run of stars or underscores, which may open or close emphasis. */
function run(said, from, to) {
  const before = said[from - 1] ?? " ";
  const after = said[to] ?? " ";
  const inWord = said[from] === "_";
  return {
    kind: "run",
    sign: said[from],
    opens: /\S/.test(after) && !(inWord && WORD.test(before)),
    closes: /\S/.test(before) && !(inWord && WORD.test(after)),
  };
}

/** The tokens with runs paired that open and close; what found no other stays as it is written. */
function matched(tokens) {
  const open = [];
  const waiting = new Map(); // of each key, how many wait
  const found = [];
  const wait = (token, by) => waiting.set(token.key, (waiting.get(token.key) ?? 0) + by);

  function close(token) {
    let { from } = token;
    for (;;) {
      const left = token.to - from;
      const keys = [1, 2].filter((length) => length <= left).map((length) => token.sign + length);
      if (!keys.some((key) => waiting.get(key) > 0)) break;
      let opening;
      do {
        opening = open.pop();
        wait(opening, -1);
      } while (!keys.includes(opening.key));
      opening.role = "open";
      const { key, length } = opening;
      found.push({ kind: "run", key, length, role: "close", from, to: from + length });
      from += length;
    }
    return from;
  }

  for (const token of tokens) {
    const isRun = token.kind === "run" && token.to - token.from <= 3;
    const from = isRun && token.closes ? close(token) : token.from;
    if (from > token.from) {
      if (from < token.to) found.push({ kind: "text", from, to: token.to });
    } else if (isRun && token.opens) {
      // three are an emphasis around another
      const lengths = token.to - from === 3 ? [1, 2] : [token.to - from];
      let at = from;
      for (const length of lengths) {
        const key = token.sign + length;
        const opening = { kind: "run", key, length, from: at, to: at + length };
        at += length;
        open.push(opening);
        wait(opening, 1);
        found.push(opening);
      }
    } else found.push(token);
  }
  return found;
}

function treeOf(tokens, line) {
  const root = [];
  const open = [root];
  for (const token of tokens) {
    const parts = open.at(-1);
    if (token.role === "open") {
      const inner = [];
      parts.push({ tag: KINDS[token.length], parts: inner });
      open.push(inner);
    } else if (token.role === "close") open.pop();
    else if (token.kind === "code") parts.push({ tag: "code", parts: line.parts(...token.inner) });
    else if (token.kind === "link") {
      const written = line.parts(token.from, token.to);
      parts.push({ link: token.address, parts: line.parts(...token.inner), written });
    } else parts.push(...line.parts(token.from, token.to));
  }
  return root;
}
