/** The blocks of a text as spans of its characters: paragraphs, or what Markdown makes of it. */

const BLANK_LINES = /\n(?:[^\S\n]*\n)+/g;
const LONGEST = 8000; // characters of a paragraph that is laid out at once
const DEEPEST = 6; // lists in lists

const HEADING = /^ {0,3}(#{1,6})[ \t]+/;
const FENCE = /^ {0,3}(```+|~~~+)/;
const RULE = /^ {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$/;
const ITEM = /^([ \t]*)([-*+]|\d{1,9}[.)])[ \t]+/;
const QUOTE = /^ {0,3}> ?/;
const TABLE_RULE = /^[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/;

/** Tells if a text is to be shown as Markdown: by its type, or by tables and headings in it. */
export function isMarkdown(text, type) {
  if (type === "md" || type === "markdown") return true;
  return /^#{1,6} \S/m.test(text) || /^ *\|.*\|[ \t]*\n *\|(?: *:?-{3,}:? *\|)+[ \t]*$/m.test(text);
}

/** Paragraphs that keep the blank lines after them: together they are the text, unchanged. */
export function plainBlocks(text) {
  const ends = [...text.matchAll(BLANK_LINES)].map((gap) => gap.index + gap[0].length);
  const starts = [0, ...ends].filter((start, at) => at === 0 || start < text.length);
  return starts.flatMap((start, at) => cut(text, start, starts[at + 1] ?? text.length));
}

/** A paragraph; one that is very long in pieces, at the ends of lines or words. */
function cut(text, start, end) {
  const pieces = [];
  let from = start;
  while (end - from > LONGEST) {
    const window = text.slice(from, from + LONGEST);
    const gap = Math.max(window.lastIndexOf("\n"), window.lastIndexOf(" ") - LONGEST / 2) + 1;
    const to = from + (gap > 0 ? gap : LONGEST);
    pieces.push({ kind: "paragraph", start: from, end: to, goesOn: true });
    from = to;
  }
  const kind = isHeading(text.slice(from, end).trim()) ? "title" : "paragraph";
  return [...pieces, { kind, start: from, end }];
}

/** A Markdown heading, or a short line in capitals. */
function isHeading(line) {
  const inCapitals = line === line.toUpperCase() && line !== line.toLowerCase();
  return /^#{1,6} [^\n]*$/.test(line) || (inCapitals && /^[^\n]{1,80}$/.test(line));
}

/** Reads a text as Markdown. Each block has `start` and `end`, and `spans` of what it says. */
export function markdownBlocks(text) {
  const lines = linesOf(text);
  const blocks = [];
  for (let at = 0; at < lines.length; ) {
    const found = blockAt(lines, at);
    if (found.block) blocks.push(found.block);
    at = found.next;
  }
  return blocks;
}

/** Lines as {start, end, next, text}; `next` is where the following one begins. */
function linesOf(text) {
  const lines = [];
  for (let start = 0; start < text.length; ) {
    const found = text.indexOf("\n", start);
    const end = found < 0 ? text.length : found;
    lines.push({ start, end, next: Math.min(end + 1, text.length), text: text.slice(start, end) });
    start = end + 1;
  }
  return lines;
}

function blockAt(lines, at) {
  const { text } = lines[at];
  if (text.trim() === "") return { next: at + 1 };
  if (FENCE.test(text)) return code(lines, at);
  if (HEADING.test(text)) return heading(lines, at);
  if (isTable(lines, at)) return table(lines, at);
  if (RULE.test(text)) return { block: whole("rule", [lines[at]]), next: at + 1 };
  if (QUOTE.test(text)) return quote(lines, at);
  if (ITEM.test(text)) return list(lines, at);
  return paragraph(lines, at);
}

function whole(kind, lines, rest = {}) {
  return { kind, start: lines[0].start, end: lines.at(-1).next, ...rest };
}

function heading(lines, at) {
  const line = lines[at];
  const [mark, { length: level }] = HEADING.exec(line.text);
  const tail = /(?:[ \t]+#+)?[ \t]*$/.exec(line.text.slice(-200))[0].length;
  const spans = [{ start: line.start + mark.length, end: Math.max(line.start + mark.length, line.end - tail) }];
  return { block: whole("heading", [line], { level, spans }), next: at + 1 };
}

function code(lines, at) {
  const [, fence] = FENCE.exec(lines[at].text);
  let last = at + 1;
  while (last < lines.length && !lines[last].text.trimStart().startsWith(fence)) last += 1;
  const own = lines.slice(at, Math.min(last + 1, lines.length));
  const inner = lines.slice(at + 1, last);
  const spans = inner.length > 0 ? [{ start: inner[0].start, end: inner.at(-1).end }] : [];
  return { block: whole("code", own, { spans }), next: at + own.length };
}

function isTable(lines, at) {
  const below = lines[at + 1]?.text ?? "";
  const isRule = below.length < 2000 && below.includes("-") && TABLE_RULE.test(below);
  return isRule && lines[at].text.includes("|") && below.includes("|");
}

function table(lines, at) {
  let last = at + 2;
  while (last < lines.length && lines[last].text.includes("|")) last += 1;
  const [head, , ...rows] = lines.slice(at, last);
  const columns = cells(head);
  const below = rows.map((row) => cells(row).slice(0, columns.length));
  const rest = { head: columns, rows: below };
  return { block: whole("table", lines.slice(at, last), rest), next: last };
}

/** The cells of a row, without blanks at their ends. */
function cells({ start, text }) {
  const found = [];
  let from = 0;
  for (const { index } of `${text}|`.matchAll(/(?<!\\)\|/g)) {
    const cell = text.slice(from, index);
    const left = from + cell.length - cell.trimStart().length;
    const right = Math.max(left, from + cell.trimEnd().length);
    found.push({ start: start + left, end: start + right });
    from = index + 1;
  }
  if (/^[ \t]*\|/.test(text)) found.shift();
  if (/\|[ \t]*$/.test(text)) found.pop();
  return found;
}

function quote(lines, at) {
  let last = at;
  while (last < lines.length && QUOTE.test(lines[last].text)) last += 1;
  const paragraphs = [[]];
  for (const line of lines.slice(at, last)) {
    const start = line.start + QUOTE.exec(line.text)[0].length;
    if (line.text.slice(start - line.start).trim() === "") paragraphs.push([]);
    else paragraphs.at(-1).push({ start, end: line.next });
  }
  const said = paragraphs.filter((spans) => spans.length > 0);
  return { block: whole("quote", lines.slice(at, last), { paragraphs: said }), next: last };
}

/** Items with the lines that go on with them; what is indented further is a list in the item. */
function list(lines, at) {
  const root = { items: [], indent: -1, ordered: isOrdered(lines[at]), first: numberOf(lines[at]) };
  const open = [root];
  let last = at;
  for (; last < lines.length; last += 1) {
    const line = lines[last];
    const item = ITEM.exec(line.text);
    if (item && !RULE.test(line.text)) {
      if (isAnother(root, line, item)) break;
      place(open, line, item);
    } else if (goesOn(lines, last)) {
      const blank = line.text.length - line.text.trimStart().length;
      open.at(-1).items.at(-1).spans.push({ start: line.start + blank, end: line.next });
    } else if (line.text.trim() !== "" || !ITEM.test(lines[last + 1]?.text ?? "")) break;
  }
  return { block: whole("list", lines.slice(at, last), { list: root }), next: last };
}

/** Tells if an item begins another list, numbered where this one is not. */
function isAnother(root, line, item) {
  return root.items.length > 0 && item[1].length <= root.indent && isOrdered(line) !== root.ordered;
}

/** Puts an item into the list that its indentation says. */
function place(open, line, item) {
  const indent = item[1].replaceAll("\t", "    ").length;
  if (open[0].items.length === 0) open[0].indent = indent;
  while (open.length > 1 && indent < open.at(-1).indent) open.pop();
  if (indent > open.at(-1).indent + 1 && open.length < DEEPEST) {
    const inner = { items: [], indent, ordered: isOrdered(line), first: numberOf(line) };
    open.at(-1).items.at(-1).lists.push(inner);
    open.push(inner);
  }
  const spans = [{ start: line.start + item[0].length, end: line.next }];
  open.at(-1).items.push({ spans, lists: [] });
}

function isOrdered({ text }) {
  return /^\s*\d/.test(text);
}

function numberOf({ text }) {
  return Number(/^\s*(\d+)/.exec(text)?.[1] ?? 1);
}

/** Tells if a line belongs to the paragraph or item above it. */
function goesOn(lines, at) {
  const { text } = lines[at];
  const begins = [FENCE, HEADING, RULE, QUOTE].some((kind) => kind.test(text));
  return text.trim() !== "" && !begins && !isTable(lines, at);
}

function paragraph(lines, at) {
  let last = at + 1;
  while (last < lines.length && goesOn(lines, last) && !ITEM.test(lines[last].text)) {
    if (/^ {0,3}(?:=+|-{2,})[ \t]*$/.test(lines[last].text)) return underlined(lines, at, last);
    last += 1;
  }
  // a line of dashes below a paragraph makes a heading of it
  if (last < lines.length && /^ {0,3}-{3,}[ \t]*$/.test(lines[last].text)) {
    return underlined(lines, at, last);
  }
  const own = lines.slice(at, last);
  return { block: whole("paragraph", own, { spans: spansOf(own) }), next: last };
}

function underlined(lines, at, rule) {
  const own = lines.slice(at, rule);
  const level = lines[rule].text.includes("=") ? 1 : 2;
  const rest = { level, spans: spansOf(own) };
  return { block: whole("heading", lines.slice(at, rule + 1), rest), next: rule + 1 };
}

/** The lines of a block; the last without its end. */
function spansOf(lines) {
  return lines.map(({ start, next, end }, at) => ({ start, end: at < lines.length - 1 ? next : end }));
}
