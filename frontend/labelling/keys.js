/** Single keys as commands, except where somebody writes. */

import { at } from "../dom.js";
import { browser } from "../storage.js";

const WRITTEN = "textarea, select, input:not([type=radio], [type=checkbox])";

const OFF = "atlas-no-keys"; // of this browser: single keys are no commands
const HELD = ["j", "k"]; // what may go on while a key is held

/** Calls `commands[key]` with the event; `save` also for Ctrl+S and ⌘+S, wherever the focus is. */
export function listenToKeys(commands, save) {
  const single = at("single-keys");
  single.checked = browser.find(OFF) === null;
  single.addEventListener("change", () => remember(single.checked));
  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "s") {
      event.preventDefault();
      if (!event.repeat) save();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || !single.checked) return;
    if (event.repeat && !HELD.includes(event.key)) return;
    if (event.target.closest(WRITTEN) || document.querySelector("dialog[open]")) return;
    const command = commands[event.key];
    if (command === undefined) return;
    event.preventDefault();
    command(event);
  });
}

function remember(on) {
  if (on) browser.forget(OFF);
  else browser.keep(OFF, "yes");
}

/** Moves the focus by `step` among `nodes`, to the first one if none of them has it. */
export function moveFocus(nodes, step) {
  const at = nodes.findIndex((node) => node.contains(document.activeElement));
  const next = at < 0 ? 0 : Math.min(Math.max(at + step, 0), nodes.length - 1);
  nodes[next]?.focus();
  nodes[next]?.scrollIntoView({ block: "nearest" });
}
