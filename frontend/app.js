/** Wiring: one search box, and the views that answer what is in it. */

import { Problem } from "./api.js";
import { newConversation } from "./ask/asking.js";
import { openCatalogue } from "./ask/catalogue.js";
import { element } from "./dom.js";
import { LANGUAGES, language, say, speak } from "./language.js";
import { keepSelections } from "./keep/menu.js";
import { placeInAddress } from "./reader/address.js";
import { createReader } from "./reader/reader.js";
import { openViews } from "./views.js";

const at = (id) => document.getElementById(id);
const form = at("ask-form");
const question = at("question");

document.documentElement.lang = language;
offerLanguages();

const known = openCatalogue();
const page = { ...known, selectionActions: [] };
page.open = createReader(at("reader"), page);
const conversation = newConversation(page);
const views = openViews({
  ask: () => conversation,
  words: async () => (await import("./words/view.js")).openWords(page),
  about: async () => (await import("./about/view.js")).openAbout(page),
  kept: async () => (await import("./keep/view.js")).openKept(page),
});
page.show = views.show;
page.selectionActions = keepSelections(at("page-told"));
page.showWords = async (query) =>
  (await views.show("words")).look({ tab: "lines", query, point: null });
page.loaded = conversation.loaded;

function offerLanguages() {
  const options = Object.entries(LANGUAGES).map(([tag, name]) =>
    element("option", { value: tag, lang: tag }, name),
  );
  at("language").append(...options);
  at("language").value = language;
  at("language").addEventListener("change", () => {
    if (speak(at("language").value)) return;
    at("language").value = language;
    at("keep-notice").hidden = false;
    at("keep-notice").textContent = say("page.languageUnkept");
  });
}

async function submit(event) {
  event.preventDefault();
  question.value = question.value.trim();
  if (form.reportValidity()) (await views.chosen()).submit(question.value);
}

/** Opens the place in a document that the page's address names. */
function openLinked() {
  const place = placeInAddress();
  if (place) page.open(place, { record: false });
  if (location.hash.startsWith("#ask=")) openSent();
}

/** Shows the question, and the answer, that a link brings. */
async function openSent() {
  const { openShared } = await import("./keep/shared.js");
  openShared(page);
}

form.addEventListener("submit", submit);
question.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
});
at("ask").disabled = false; // before, a press would be lost
page.loaded.finally(openLinked).catch((error) => {
  at("page-alert").hidden = false;
  at("page-alert").textContent = say("page.reload", { problem: error.message });
  if (!(error instanceof Problem)) throw error;
});
