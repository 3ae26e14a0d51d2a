/** Whether questions are recorded: what the reader chose in this browser, or what it asks of all. */

import { say } from "../language.js";

const KEPT_AS = "atlas-unrecorded";

const at = (id) => document.getElementById(id);
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
  if (box.checked) localStorage.setItem(KEPT_AS, "1");
  else localStorage.removeItem(KEPT_AS);
}

box.checked = navigator.globalPrivacyControl === true || localStorage.getItem(KEPT_AS) !== null;
if (navigator.globalPrivacyControl === true) {
  // the server follows the browser too
  box.disabled = true;
  at("unrecorded-hint").textContent = say("ask.unrecordedByBrowser");
}
box.addEventListener("change", keep);
