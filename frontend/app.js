/** Wiring: one search box, and the views that answer what is in it. The address names the view. */

import { messageOf } from "./api.js";
import { newConversation } from "./ask/asking.js";
import { openCatalogue } from "./ask/catalogue.js";
import { alertIn, at, element, onSubmit, plainButton } from "./dom.js";
import { keepSelections } from "./keep/menu.js";
import { language, LANGUAGES, say, speak } from "./language.js";
import { addressWith, placeInAddress } from "./reader/address.js";
import { createReader } from "./reader/reader.js";
import { askChosen } from "./sources/offer.js";

const form = at("ask-form");
const question = at("question");
const DEFAULT = "ask";

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
page.arrange = views.arrange;
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
    alertIn(at("keep-notice"), say("page.languageUnkept"));
  });
}

async function submit() {
  question.value = question.value.trim();
  if (!form.reportValidity()) return;
  unfoldSettings(false);
  (await views.chosen()).submit(question.value);
}

/** Opens the place in a document that the page's address names. */
function openLinked() {
  const place = placeInAddress();
  if (place) page.open(place, { record: false });
  const named = new URLSearchParams(location.hash.slice(1));
  if (named.has("ask")) import("./keep/shared.js").then(({ openShared }) => openShared(page));
  if (named.has("q")) {
    // of a browser's own search field; to ask is the reader's: a link may be anybody's
    question.value = named.get("q").slice(0, question.maxLength);
    question.focus();
  }
  askChosen();
}

onSubmit(form, submit);
question.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  form.requestSubmit();
});
document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, textarea, select, dialog, [contenteditable]");
  if (event.key !== "/" || event.ctrlKey || event.metaKey || typing) return;
  event.preventDefault();
  question.focus();
});
at("settings-open").addEventListener("click", () => unfoldSettings(at("settings").hidden));
addEventListener("pointerdown", ({ target }) => {
  const box = form.closest("section"); // what unfolds above the bar covers the answers
  if (box.classList.contains("low") && !box.contains(target)) unfoldSettings(false);
});
// a field that is folded could not say what is wrong with it
at("settings").addEventListener("invalid", () => unfoldSettings(true), { capture: true });
at("settings").addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  event.preventDefault();
  unfoldSettings(false);
  at("settings-open").focus();
});

function unfoldSettings(unfolded) {
  at("settings").hidden = !unfolded;
  at("settings-open").setAttribute("aria-expanded", String(unfolded));
}

at("ask").disabled = false; // before, a press would be lost
page.loaded.finally(openLinked).catch((error) => {
  alertIn(at("page-alert"), say("page.reload", { problem: error.message }));
  messageOf(error);
});

/** `opening` gives each view {submit(question), shown()}, loaded when it is first shown.
 *
 * A view may also have `left()`, and `own`, names of the address that are its alone.
 */
function openViews(opening) {
  const opened = new Map();
  const coming = new Map(); // those on their way, so that two clicks do not open one twice
  const buttons = new Map();
  let current = null;
  let wanted = null; // while it is loaded, the reader may want another

  for (const name of Object.keys(opening)) {
    buttons.set(name, plainButton(say(`views.${name}`), () => show(name)));
  }
  at("views-nav").append(...buttons.values());

  /** Shows a view and resolves to it; what is in the search box stays. */
  async function show(name, { keepAddress = false } = {}) {
    wanted = name;
    if (!opened.has(name)) opened.set(name, await load(name));
    if (wanted !== name) return opened.get(name);
    if (current !== name) opened.get(current)?.left?.();
    current = name;
    for (const node of document.querySelectorAll("[data-view]")) {
      node.hidden = !node.dataset.view.split(" ").includes(name);
    }
    for (const [each, button] of buttons) {
      if (each === name) button.setAttribute("aria-current", "page");
      else button.removeAttribute("aria-current");
    }
    const others = [...opened].filter(([each]) => each !== name).map(([, view]) => view);
    arrange();
    if (!keepAddress) {
      const notIts = ["view", ...others.flatMap((view) => view.own ?? [])];
      const address = addressWith({ view: name === DEFAULT ? undefined : name }, notIts);
      history.pushState(null, "", address);
    }
    opened.get(name).shown?.();
    return opened.get(name);
  }

  /** Has the form stand above what it has no answers to yet, and above counts; else below. */
  function arrange() {
    const low = current !== "words" && !(current === DEFAULT && !at("empty").hidden);
    const box = form.closest("section");
    if (low === box.classList.contains("low")) return;
    const focused = box.contains(document.activeElement) ? document.activeElement : null;
    box.classList.toggle("low", low);
    if (low) at("views").after(box);
    else at("views").before(box);
    focused?.focus({ preventScroll: true });
  }

  async function load(name) {
    if (!coming.has(name)) coming.set(name, opening[name]());
    try {
      return await coming.get(name);
    } catch (error) {
      coming.delete(name);
      alertIn(at("page-alert"), say("page.viewFailed"));
      throw error;
    }
  }

  const named = () => {
    const asked = new URLSearchParams(location.search).get("view");
    return Object.hasOwn(opening, asked) ? asked : DEFAULT;
  };
  addEventListener("popstate", () => show(named(), { keepAddress: true }));
  opened.set(DEFAULT, opening[DEFAULT]());
  show(named(), { keepAddress: true });
  // the one that was chosen last, also while it is loaded: what is sent meanwhile is meant for it
  return { show, arrange, chosen: async () => opened.get(wanted) ?? load(wanted) };
}
