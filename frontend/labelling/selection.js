/** Selected words of a text, as the places that the server counts: in code points. */

/** {start, end, quote} of the selection inside `node`, whose text is `text`; null without one. */
export function selectedIn(node, text) {
  const selection = document.getSelection();
  if (selection.rangeCount === 0 || selection.isCollapsed) return null;
  const range = selection.getRangeAt(0);
  if (!range.intersectsNode(node)) return null;
  return spanOf(text, offset(node, range.startContainer, range.startOffset, 0),
    offset(node, range.endContainer, range.endOffset, text.length));
}

/** The words from `start` to `end` (UTF-16 units) without the space around them, or null. */
export function spanOf(text, start, end) {
  const quote = text.slice(start, end);
  const words = quote.trim();
  if (words === "") return null;
  const from = start + (quote.length - quote.trimStart().length);
  return { start: codePoints(text.slice(0, from)), end: codePoints(text.slice(0, from + words.length)), quote: words };
}

/** Units of text before a place; `outside` for a place that is not in the node. */
function offset(node, container, at, outside) {
  if (!node.contains(container)) return outside;
  const before = document.createRange();
  before.setStart(node, 0);
  before.setEnd(container, at);
  return before.toString().length;
}

function codePoints(text) {
  return Array.from(text).length;
}
