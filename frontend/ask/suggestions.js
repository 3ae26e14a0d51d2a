/** Questions to begin with, made by the server from what the chosen corpora hold. */

import { getJson, Problem } from "../api.js";
import { element } from "../dom.js";
import { chosenScope, onScopeChange } from "./scope.js";

const at = (id) => document.getElementById(id);

/** Offers them before the first question, and others when other corpora are chosen. */
export function offerSuggestions() {
  let shown = null;

  async function show({ corpus_filter: chosen }) {
    const corpora = chosen === "all" ? [] : [chosen].flat();
    const query = String(new URLSearchParams(corpora.map((id) => ["corpus", id])));
    if (query === shown || at("empty").hidden) return;
    shown = query;
    const found = await suggested(query);
    if (query === shown) fill(found);
  }

  onScopeChange(show);
  show(chosenScope());
}

/** The page is whole without them: what goes wrong is said when something is asked. */
async function suggested(query) {
  try {
    return (await getJson(`api/suggestions?${query}`)).suggestions;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return [];
  }
}

function fill(suggestions) {
  const items = suggestions.map(({ question, language }) => {
    const choose = () => {
      at("question").value = question;
      at("ask-form").requestSubmit();
    };
    const button = element("button", { type: "button", lang: language, onclick: choose }, question);
    return element("li", {}, button);
  });
  at("examples").querySelector("ul").replaceChildren(...items);
  at("examples").hidden = items.length === 0;
}
