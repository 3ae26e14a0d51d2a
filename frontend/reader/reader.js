/** The pane that shows a document with the cited characters marked. What it shows is loaded when
 * it is first opened. */

import { getJson, Problem } from "../api.js";
import { at, element } from "../dom.js";
import { say } from "../language.js";
import { browser } from "../storage.js";
import { addressOf, depth, forget, pageAddress, placeInHistory, remember } from "./address.js";

const SHEET = matchMedia("(max-width: 60rem)"); // then the pane covers the page
const KEPT_AS = "atlas-reader-width";
const LEAST = 25; // per cent of the desk
const MOST = 70;
const STEP = 2;

/** A function that opens the pane at {documentId, passageId, start, end, quote, locator}.
 *
 * Either id will do, and all else is optional: `hits` are spans that find goes through, `find` is
 * what it looks for. Each place is an entry of the history, unless `record` is false. `page` gives
 * labels, and may have `selectionActions`.
 */
export function createReader(pane, page) {
  const names = ["title", "warning", "link", "back", "close", "tools", "body", "side", "foot"];
  const parts = Object.fromEntries(names.map((name) => [name, at(`reader-${name}`)]));
  let latest = null; // the place that is shown, or about to be
  let opener = null; // what the focus goes back to
  let shown = null; // {close()} of the document

  openEdge(at("reader-edge"), pane.parentElement);
  parts.back.addEventListener("click", () => history.back());
  parts.close.addEventListener("click", () => close());
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || event.defaultPrevented) return;
    if (document.querySelector("dialog[open]") === null) close();
  });
  addEventListener("popstate", follow);
  SHEET.addEventListener("change", cover);
  addEventListener("scroll", fit, { passive: true });
  addEventListener("resize", fit);

  /** Shows what the present entry of the history says. */
  function follow() {
    const place = placeInHistory();
    if (place === null) close({ record: false });
    else if (latest === null || addressOf(place) !== addressOf(latest)) {
      open(place, { record: false });
    }
  }

  function close({ record = true } = {}) {
    if (pane.hidden) return;
    pane.hidden = true;
    latest = null;
    clear();
    cover();
    if (record) forget();
    if (opener?.isConnected) opener.focus();
  }

  function clear() {
    shown?.close();
    shown = null;
    for (const part of [parts.tools, parts.body, parts.side, parts.foot]) part.replaceChildren();
  }

  /** As a sheet the pane is all there is. */
  function cover() {
    const covers = SHEET.matches && !pane.hidden;
    const others = document.querySelectorAll(".skip, .masthead, .ask, #views");
    for (const other of others) other.inert = covers;
    document.documentElement.classList.toggle("covered", covers);
  }

  /** As high as there is room below what stands above the desk. */
  function fit() {
    if (pane.hidden || SHEET.matches) return;
    const above = Math.max(0, pane.parentElement.getBoundingClientRect().top);
    pane.style.setProperty("--above", `${Math.round(above)}px`);
  }

  function head(text, passageId = undefined) {
    parts.title.textContent = text;
    parts.link.hidden = passageId === undefined;
    if (!parts.link.hidden) parts.link.href = pageAddress({ passage: passageId });
    parts.warning.hidden = true;
    parts.back.hidden = depth() < 2;
  }

  async function open(place, { record = true } = {}) {
    if (!pane.contains(document.activeElement)) opener = document.activeElement;
    if (record) remember(place, pane.hidden ? 0 : depth());
    latest = place;
    clear();
    head(say("page.loading"));
    pane.hidden = false;
    cover();
    fit();
    try {
      const [{ showDocument }, found] = await Promise.all([import("./document.js"), located(place)]);
      const document = await getJson(`api/documents/${encodeURIComponent(found.documentId)}`);
      if (latest !== place) return;
      head(document.title, place.passageId);
      shown = showDocument({ pane, ...parts }, document, found, { ...page, actions: page.selectionActions, open });
    } catch (error) {
      const known = error instanceof Problem;
      if (latest === place) {
        const message = known ? error.message : say("page.viewFailed");
        head(say("reader.failed"));
        parts.body.replaceChildren(element("p", { role: "alert" }, message));
      }
      if (!known) throw error;
    }
  }

  return open;
}

/** The place with its document, looked up if only the passage is known. */
async function located(place) {
  if (place.documentId !== undefined) return place;
  const passage = await getJson(`api/passages/${encodeURIComponent(place.passageId)}`);
  const { document_id: documentId, start, end } = passage;
  return { ...place, documentId, start, end };
}

/** Lets `edge`, a separator, set the width of the reader in `desk`. */
function openEdge(edge, desk) {
  let share = Number(browser.find(KEPT_AS)) || null;

  function set(wanted) {
    share = Math.min(MOST, Math.max(LEAST, wanted));
    browser.keep(KEPT_AS, String(Math.round(share)));
    show();
  }

  function show() {
    if (share !== null) desk.style.setProperty("--reader-width", `${share}%`);
    edge.setAttribute("aria-valuemin", LEAST);
    edge.setAttribute("aria-valuemax", MOST);
    edge.setAttribute("aria-valuenow", Math.round(share ?? present()));
  }

  /** The share that the style sheet gives it. */
  function present() {
    const own = edge.parentElement.getBoundingClientRect().width;
    return own === 0 ? 40 : (100 * own) / desk.getBoundingClientRect().width;
  }

  function drag({ clientX, buttons }) {
    if (buttons === 0) return;
    const { right, width } = desk.getBoundingClientRect();
    set((100 * (right - clientX)) / width);
  }

  edge.addEventListener("pointerdown", (event) => {
    event.preventDefault();
    edge.focus();
    edge.setPointerCapture(event.pointerId);
    edge.addEventListener("pointermove", drag);
  });
  edge.addEventListener("lostpointercapture", () => edge.removeEventListener("pointermove", drag));
  edge.addEventListener("keydown", (event) => {
    const now = share ?? present();
    const wanted = { ArrowLeft: now + STEP, ArrowRight: now - STEP, Home: MOST, End: LEAST }[event.key];
    if (wanted === undefined) return;
    event.preventDefault();
    set(wanted);
  });
  edge.addEventListener("focus", show);
  show();
}
