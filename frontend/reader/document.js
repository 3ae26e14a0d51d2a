/** A document in the pane: its contents, its text with the marks, and the place that is in view. */

import { at, definitions, element, linkButton, placeLine, plainButton } from "../dom.js";
import { say, sayNodes } from "../language.js";
import { contextLine, countBefore, dateWords, fullPlace, heading, lastBefore, offsetsOf, warningStatus } from "../text.js";
import { digestOf } from "./address.js";
import { isMarkdown } from "./blocks.js";
import { openFind } from "./find.js";
import { openPictures } from "./pictures.js";
import { openSelection } from "./selection.js";
import { openText, scrollTo } from "./text_view.js";

const SHOWN_ELSEWHERE = new Set(["title", "date", "url", "page_urls", "superseded_by"]);
const BELOW = 76; // pixels; a little more than are left above what one goes to
const BAND = `-${BELOW}px 0px -70% 0px`; // of the pane, in which a block counts as being read
const LONG = 1500; // characters of a block in which the line is looked for
const MOST_ENTRIES = 3000; // of the contents
const DEEPEST = 6;

/** Shows a document at a place in the parts of the pane; {close()}.
 *
 * `page` gives `label`, `open` and `actions`.
 */
export function showDocument({ pane, warning, tools, body, side, foot }, found, place, page) {
  const { text, document_id: documentId } = found;
  const offsets = offsetsOf(text);
  const span = spanOf(place, offsets);
  const numbered = pagesOf(found, offsets);
  const pages = numbered.length > 1 ? numbered : []; // of one page nothing needs to be said
  const segments = found.segments.map((each) => ({ ...each, start: offsets.toUnits(each.start) }));
  const marks = span && isAsLinked(text, span, place) ? [span] : [];
  const view = openText(text, marks, pages, { table: say("reader.table") });
  const markdown = isMarkdown(text, found.metadata.content_type);
  let inView = 0;

  const where = element("p", { class: "in-view" });
  const contents = openContents(segments, pages, say("reader.contents"), (at) => {
    goTo(at);
    if (!matchMedia("(min-width: 60rem)").matches) toggleContents(false);
    body.focus({ preventScroll: true });
  });
  const hits = (place.hits ?? []).map((each) => spanOf(each, offsets));
  const find = openFind(
    text,
    { rangeOf: view.rangeOf, goTo, toggled: (on) => press(findButton, on) },
    { hits, question: asked(), start: () => inView },
  );
  const pictures = ["pdf", "scan"].includes(found.metadata.content_type)
    ? openPictures({
        documentId,
        title: found.title,
        pages: numbered,
        cited: marks.length > 0 ? { start: place.start, end: place.end } : null,
        goTo,
      })
    : null;
  const selection = openSelection({
    documentId,
    text,
    view,
    offsets,
    actions: page.actions,
    source: (point) => named(found, offsets.toUnits(point)),
  });
  const watch = watchView(body, view, showInView);

  const contentsButton = contents && toggle(say("reader.contents"), () => toggleContents());
  const findButton = toggle(say("reader.findButton"), () => find.toggle());
  const pictureButton = pictures && toggle(say("reader.showPicture"), () => togglePicture());
  const writtenButton = markdown ? toggle(say("reader.asWritten"), () => render(!isRendered)) : null;
  let isRendered = false;

  const buttons = [contentsButton, findButton, pictureButton, writtenButton].filter(Boolean);
  tools.append(
    element("div", { class: "buttons" }, ...buttons),
    ...[contents?.node, find.node, where].filter(Boolean),
  );
  showWarning(warning, found, page.open);
  const above = [...alerts(text, span, place), ...about(found, page.label), ...whereNodes(found, place)];
  body.append(...above, view.node);
  if (pictures) side.append(pictures.node);
  foot.append(selection.node);
  render(markdown);
  showInView(span?.start ?? 0);
  bringIntoView();
  begin();

  function render(asMarkdown) {
    const at = inView;
    isRendered = asMarkdown;
    view.render(asMarkdown);
    if (writtenButton) press(writtenButton, !asMarkdown);
    watch.follow();
    find.refresh();
    if (at > 0) view.goTo(at);
  }

  /** Finds what the place asks for, as where the quoted words have moved. */
  function begin() {
    if (span && marks.length === 0 && place.words) find.lookFor(place.words);
    else if (place.find) find.lookFor(place.find);
    else if (hits.length > 0) find.takeGiven();
  }

  function goTo(at) {
    view.goTo(at);
    showInView(at);
  }

  function toggleContents(wanted = contents.node.hidden) {
    contents.node.hidden = !wanted;
    press(contentsButton, wanted);
    contents.bringIntoView();
  }

  function togglePicture(wanted = pictures.node.hidden) {
    const at = markIsSeen() ? span.start : inView;
    pane.classList.toggle("with-picture", wanted);
    press(pictureButton, wanted);
    pictures.toggle(wanted, at);
    goTo(at); // the lines of the text have become shorter, or longer
  }

  function markIsSeen() {
    const { top, bottom } = body.getBoundingClientRect();
    const mark = body.querySelector("mark")?.getBoundingClientRect();
    return mark !== undefined && mark.bottom > top && mark.top < bottom;
  }

  /** Says who speaks, in what section and on which page, at a place of the text. */
  function showInView(at) {
    inView = at;
    const segment = lastBefore(segments, at);
    const said = placeWords(segment, lastBefore(pages, at));
    if (where.textContent !== said) where.textContent = said;
    where.hidden = said === "";
    contents?.show(at);
    pictures?.follow(at);
  }

  /** Moves to what is marked, or to the beginning. */
  function bringIntoView() {
    body.scrollTop = 0;
    const mark = body.querySelector("mark");
    mark?.setAttribute("tabindex", "0");
    if (mark) scrollTo(mark, body);
    (mark ?? body).focus({ preventScroll: true });
    if (mark) getSelection().collapse(mark.firstChild, 0); // Shift and the arrow keys select from there
  }

  return {
    close() {
      watch.close();
      find.close();
      selection.close();
      pictures?.close();
      pane.classList.remove("with-picture");
    },
  };
}

function toggle(label, run) {
  return plainButton(label, run, { class: "quiet", "aria-pressed": "false" });
}

function press(button, isPressed) {
  button.setAttribute("aria-pressed", String(isPressed));
}

/** Finds the question that was asked last, whose words may stand in a document. */
function asked() {
  const last = document.querySelector("article.answer h2")?.textContent;
  return last || at("question").value;
}

function spanOf({ start, end }, offsets) {
  if (start === undefined || end === undefined) return null;
  return { start: offsets.toUnits(start), end: offsets.toUnits(end) };
}

/** Where pages begin, with the numbers that name them. */
function pagesOf({ pages, printed_pages: printed, metadata }, offsets) {
  return pages.map((start, index) => {
    const number = index + 1;
    const name = fullPlace({ page: number, printed_page: printed[index], metadata });
    return { start: offsets.toUnits(start), number, label: name };
  });
}

/** Tells if a link's digest, if it has one, is that of the characters it names. */
function isAsLinked(text, { start, end }, { digest }) {
  return digest === undefined || digestOf(text.slice(start, end)) === digest;
}

/** Says so if what is marked is not what was cited, as after a rebuild of the collection. */
function alerts(text, span, place) {
  if (span === null) return [];
  const isChanged = place.quote !== undefined && text.slice(span.start, span.end) !== place.quote;
  const isMoved = !isAsLinked(text, span, place);
  if (!isChanged && !isMoved) return [];
  const said = isMoved && place.words ? "reader.moved" : "reader.changed";
  return [element("p", { role: "alert" }, say(said))];
}

function about({ corpus, title, metadata, source }, label) {
  const rest = Object.entries(metadata).filter(([name]) => !SHOWN_ELSEWHERE.has(name));
  return [
    element("p", {}, placeLine([label(corpus), dateWords(metadata.date)], metadata.url, title)),
    definitions([
      ...rest.map(([name, value]) => [heading(name), [value].flat().map((one) => dateWords(String(one))).join(", ")]),
      [say("reader.file"), source],
    ]),
  ];
}

/** Where in the document the cited text stands, for above it. */
function whereNodes({ passages }, { passageId, start, locator }) {
  const holds = (passage) => passage.start <= start && start < passage.end;
  const passage = passages.find((each) => each.passage_id === passageId) ?? passages.find(holds);
  if (passage === undefined) return [];
  const where = fullPlace({ ...passage, locator: locator ?? passage.locator });
  const nodes = [element("p", { class: "where" }, where), contextLine(passage)];
  return nodes.filter((node) => node !== null);
}

/** `Part 2 › Levy of dues · Ms Marlowe · s 10(1) · p. 3`, as far as the source says it. */
function placeWords(segment, page) {
  const { section, speaker, locator } = segment ?? {};
  const parts = [section?.split(" > ").join(" › "), speaker, locator, page?.label];
  return parts.filter(Boolean).join(" · ");
}

/** The words that name a place of the document below a quotation. */
function named(found, at) {
  const { title, metadata, passages } = found;
  const passage = passages.findLast((each) => each.start <= at) ?? passages[0];
  const place = passage && fullPlace(passage);
  return [passage?.speaker, title, dateWords(metadata.date), place].filter(Boolean).join(", ");
}

/** Shows why the document is not to be relied on, with the way to what took its place. */
function showWarning(node, { metadata, passages: [first] }, open) {
  const successors = first?.successors ?? []; // a document may have no passage
  const status = warningStatus(metadata) || (successors.length > 0 && "superseded");
  node.hidden = !status;
  if (!status) return;
  const word = element("strong", {}, heading(status));
  if (successors.length === 0) return node.replaceChildren(word);
  const by = successors.flatMap(({ document_id: documentId, title }, index) => [
    index > 0 ? ", " : "",
    documentId === null
      ? title
      : linkButton(title, () => open({ documentId })),
  ]);
  node.replaceChildren(...sayNodes("answer.supersededBy", { status: word, successor: element("span", {}, ...by) }));
}

/** Calls `tell(place)` whenever another block comes to the top of `pane`; {follow(), close()}. */
function watchView(pane, text, tell) {
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
    const above = countBefore(blocks, ({ node }) => node.getBoundingClientRect().top <= line);
    return blocks[Math.max(0, above - 1)];
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

/** {node, show(place)} that jumps by `goTo(place)`; null of a document without parts.
 *
 * `segments` and `pages` are in order of `start`, in UTF-16 units.
 */
function openContents(segments, pages, label, goTo) {
  const root = segments.length > 0 ? sections(segments) : pageEntries(pages);
  const entries = [];
  if (root.length === 0) return null;
  const node = element("nav", { class: "contents", "aria-label": label, hidden: "" }, listNode(root));
  let current = null;

  function listNode(children) {
    return element("ul", {}, ...children.map(itemNode));
  }

  function itemNode({ label: text, start, kind, children }) {
    const button = linkButton(text, () => goTo(start), { class: `link ${kind}` });
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
    if (count >= MOST_ENTRIES) break;
  }
  return root;
}

function pageEntries(pages) {
  return pages.slice(0, MOST_ENTRIES).map(({ start, label }) => ({ label, start, kind: "part", children: [] }));
}
