/** The choice not to be recorded: the reader's in this browser, or the browser's own for all. */

import { at } from "../dom.js";
import { say } from "../language.js";
import { browser } from "../storage.js";

const KEPT_AS = "atlas-unrecorded";

const box = at("unrecorded");

/** The field of a question that is not to be recorded; none for others. */
export function telemetryChoice() {
  return box.checked ? { telemetry: false } : {};
}

/** Offers the choice where questions are recorded at all. */
export function offerPrivacy({ tracing }) {
  at("privacy").hidden = !tracing;
}

function keep() {
  const isKept = box.checked ? browser.keep(KEPT_AS, "1") : browser.forget(KEPT_AS);
  at("unrecorded-hint").textContent = say(isKept ? "ask.unrecordedHint" : "keep.unkeptChoice");
}

box.checked = navigator.globalPrivacyControl === true || browser.find(KEPT_AS) !== null;
if (navigator.globalPrivacyControl === true) {
  // the server follows the browser too
  box.disabled = true;
  at("unrecorded-hint").textContent = say("ask.unrecordedByBrowser");
}
box.addEventListener("change", keep);
