/** Own sources: the button, and the page as a place to drop them. The panel is loaded when needed. */

import { restoreForm } from "../ask/scope.js";
import { at, element, styled } from "../dom.js";
import { say } from "../language.js";
import { tab } from "../storage.js";

export const JOBS = "atlas-sources"; // ids of jobs that this tab began and has not shown the end of
export const TRY = "atlas-try"; // a question to ask once the page is loaded anew

/** Lets somebody add sources; takes up what the panel was about before the page was loaded anew. */
export function offerSources() {
  const button = at("add-sources");
  const veil = element("p", { id: "sources-veil", hidden: "" }, say("sources.drop"));
  let panel = null;

  async function open() {
    panel ??= Promise.all([import("./panel.js"), styled("sources/sources.css")]).then(
      ([module]) => module.openPanel(button),
    );
    const opened = await panel;
    opened.show();
    return opened;
  }

  const brings = (event) => event.dataTransfer?.types.includes("Files");
  document.addEventListener("dragover", (event) => {
    if (!brings(event)) return;
    event.preventDefault();
    if (!document.querySelector("dialog[open]")) veil.hidden = false;
  });
  document.addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) veil.hidden = true; // out of the window
  });
  document.addEventListener("drop", async (event) => {
    veil.hidden = true;
    if (!brings(event)) return;
    event.preventDefault();
    // the browser lets go of what was dropped when this function first waits
    const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry());
    (await open()).take(entries.filter(Boolean));
  });
  document.body.append(veil);
  button.addEventListener("click", open);
  button.hidden = false;
  if (tab.find(JOBS)) open();
}

/** Asks the question that was chosen in the panel, now that the page knows the new corpus. */
export function askChosen() {
  const question = JSON.parse(tab.find(TRY));
  if (!question) return;
  tab.forget(TRY);
  restoreForm(question);
  at("ask-form").requestSubmit();
}
