/** Emphasis, code and links inside a block, as a tree of spans of the text. */

const LINK = /\[([^[\]\n]{1,300})\]\(([^\s()]{1,1000})\)/y;
const ESCAPED = /[!-/:-@[-`{-~]/;
const WORD = /[\p{L}\p{N}]/u;
const KINDS = { 1: "em", 2: "strong" };

/** The parts of the text in `spans`, in order.
 *
 * {text: [start, end]}, {tag, parts} or {link, parts, whole: [start, end]}.
 */
export function inlineParts(text, spans) {
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
