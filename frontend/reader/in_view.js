/** What is in view while a text is scrolled: the place of its uppermost line. */

const BELOW = 76; // pixels; a little more than are left above what one goes to
const BAND = `-${BELOW}px 0px -70% 0px`; // of the pane, in which a block counts as being read
const LONG = 1500; // characters of a block in which the line is looked for

/** Calls `tell(place)` whenever another block comes to the top of `pane`; {follow(), close()}. */
export function watchView(pane, text, tell) {
  const inBand = new Set();
  let known = new Map();
  const observer = new IntersectionObserver(seen, { root: pane, rootMargin: BAND });
  let frame = 0;

  function seen(entries) {
    for (const { target, isIntersecting } of entries) {
      if (isIntersecting) inBand.add(known.get(target));
      else inBand.delete(known.get(target));
    }
    look();
  }

  function look() {
    let first = null;
    for (const block of inBand) {
      if (block && (first === null || block.start < first.start)) first = block;
    }
    first ??= lastAbove();
    if (first) tell(first.end - first.start > LONG ? lineIn(first) : first.start);
  }

  /** The last block that begins above the band, as at the end of a text. */
  function lastAbove() {
    const blocks = text.blocks();
    const line = pane.getBoundingClientRect().top + BELOW;
    let low = 0;
    let high = blocks.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (blocks[middle].node.getBoundingClientRect().top <= line) low = middle + 1;
      else high = middle;
    }
    return blocks[Math.max(0, low - 1)];
  }

  /** The place of the uppermost line in a long block. */
  function lineIn(block) {
    const { top } = pane.getBoundingClientRect();
    const { left } = block.node.getBoundingClientRect();
    const [container, offset] = pointAt(left + 4, top + BELOW + 8);
    const place = container && text.placeAt(container, offset);
    return place !== null && place >= block.start && place < block.end ? place : block.start;
  }

  function scrolled() {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(look);
  }

  /** Observes the blocks that the text has now. */
  function follow() {
    observer.disconnect();
    inBand.clear();
    known = new Map(text.blocks().map((block) => [block.node, block]));
    for (const node of known.keys()) observer.observe(node);
  }

  pane.addEventListener("scroll", scrolled, { passive: true });
  return {
    follow,
    close() {
      observer.disconnect();
      pane.removeEventListener("scroll", scrolled);
      cancelAnimationFrame(frame);
    },
  };
}

function pointAt(x, y) {
  if (document.caretPositionFromPoint) {
    const found = document.caretPositionFromPoint(x, y);
    return found ? [found.offsetNode, found.offset] : [null, 0];
  }
  const range = document.caretRangeFromPoint?.(x, y);
  return range ? [range.startContainer, range.startOffset] : [null, 0];
}
