/** The pages of a PDF or scan as pictures beside the text, with the cited characters marked on them. */

import { getJson, getPicture, messageOf } from "../api.js";
import { alertIn, element, signButton } from "../dom.js";
import { grouped, say } from "../language.js";
import { lastBefore } from "../text.js";

const WIDTHS = [600, 1000, 1400]; // pixels; few, so that the server can keep what it drew
const KEPT = 8; // pictures

/** {node, toggle(), follow(place), close()} of a document.
 *
 * `pages` are {start, number, label}; `cited` is {start, end} as the server counts, or null.
 */
export function openPictures({ documentId, title, pages, cited, goTo }) {
  const kept = new Map();
  let shown = null; // the page
  let asked = null;
  let waiting = 0;

  const id = encodeURIComponent(documentId);
  const label = element("span", { class: "count", "aria-live": "polite" });
  const problem = element("p", { role: "alert", hidden: "" });
  const image = element("img", { alt: "", hidden: "" });
  const sheet = element("div", { class: "sheet" }, image);
  const before = signButton("‹", say("reader.pageBefore"), () => turn(-1));
  const after = signButton("›", say("reader.pageAfter"), () => turn(1));
  const bar = element("div", { class: "buttons" }, before, label, after);
  const frame = { class: "sheet-frame", tabindex: "0", role: "region", "aria-label": say("reader.picture") };
  const framed = element("div", frame, sheet);
  const node = element("div", { class: "picture", hidden: "" }, bar, problem, framed);

  function turn(by) {
    const page = pages[shown.number - 1 + by];
    if (!page) return;
    show(page);
    goTo(page.start);
  }

  /** Shows the page that a place of the text is on, once the text has come to rest. */
  function follow(at) {
    if (node.hidden) return;
    const page = lastBefore(pages, at) ?? pages[0];
    clearTimeout(waiting);
    if (page === shown) return;
    waiting = setTimeout(() => show(page), shown === null ? 0 : 250);
  }

  async function show(page) {
    shown = page;
    asked?.abort();
    const own = (asked = new AbortController());
    label.textContent = say("reader.pageOf", { page: page.label, of: grouped(pages.length) });
    before.disabled = page.number === 1;
    after.disabled = page.number === pages.length;
    sheet.setAttribute("aria-busy", "true");
    try {
      const { address, boxes } = await drawn(page, own.signal);
      if (own.signal.aborted) return;
      alertIn(problem);
      image.hidden = false;
      image.src = address;
      image.alt = say("reader.pictureOf", { page: page.label, title });
      sheet.replaceChildren(image, ...boxes.map(boxNode));
      showBox();
    } catch (error) {
      if (error.name === "AbortError") return;
      alertIn(problem, messageOf(error));
      image.hidden = true;
      sheet.replaceChildren(image);
    } finally {
      if (asked === own) sheet.removeAttribute("aria-busy");
    }
  }

  /** Scrolls the frame, and nothing else, to the first mark. */
  function showBox() {
    const box = sheet.querySelector(".box");
    if (box) sheet.parentElement.scrollTop = box.offsetTop - sheet.parentElement.clientHeight / 3;
  }

  async function drawn({ number, start }, signal) {
    if (!kept.has(number)) {
      const next = pages[number]?.start ?? Infinity;
      const isCited = cited && cited.start < next && cited.end > start;
      const wanted = sheet.clientWidth * devicePixelRatio;
      const width = WIDTHS.find((each) => each >= wanted) ?? WIDTHS.at(-1);
      const span = isCited && new URLSearchParams({ page: number, start: cited.start, end: cited.end });
      const [address, found] = await Promise.all([
        getPicture(`api/page-image/${id}?page=${number}&width=${width}`, signal),
        span ? getJson(`api/page-boxes/${id}?${span}`) : { boxes: [] },
      ]);
      kept.set(number, { address, boxes: found.boxes });
      if (kept.size > KEPT) kept.delete(kept.keys().next().value);
    }
    return kept.get(number);
  }

  return {
    node,
    /** Shows or hides the pictures, first that of the page on which `place` is. */
    toggle(wanted, place) {
      node.hidden = !wanted;
      shown = null;
      follow(place);
    },
    follow,
    close() {
      clearTimeout(waiting);
      asked?.abort();
    },
  };
}

function boxNode({ left, top, width, height }) {
  const box = element("span", { class: "box", "aria-hidden": "true" });
  const sides = { left, top, width, height };
  for (const [side, share] of Object.entries(sides)) box.style[side] = `${100 * share}%`;
  return box;
}
