/** The edge of the pane, which is moved with the mouse or the arrow keys. */

import { browser } from "../storage.js";

const KEPT_AS = "atlas-reader-width";
const LEAST = 25; // per cent of the desk
const MOST = 70;
const STEP = 2;

/** Lets `edge`, a separator, set the width of the reader in `desk`. */
export function openEdge(edge, desk) {
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
    const wanted = {
      ArrowLeft: now + STEP,
      ArrowRight: now - STEP,
      Home: MOST,
      End: LEAST,
    }[event.key];
    if (wanted === undefined) return;
    event.preventDefault();
    set(wanted);
  });
  edge.addEventListener("focus", show);
  show();
}
