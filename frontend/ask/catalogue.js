/** What can be chosen: fills the form, and knows labels, writers and the place of traces. */

import { getJson } from "../api.js";
import { element } from "../dom.js";
import { keepFor } from "../keep/database.js";
import { showCaller } from "../key.js";
import { say } from "../language.js";
import { offerStores } from "../store.js";
import { offerCorpora } from "./corpora.js";
import { offerFilters } from "./filters.js";
import { offerPrivacy } from "./privacy.js";
import { offerSuggestions } from "./suggestions.js";

const QUOTING = "extractive"; // answers with sentences of the sources

const at = (id) => document.getElementById(id);

/** Look-ups that work at once and know more when `loaded` has resolved. */
export function openCatalogue() {
  const labels = new Map();
  const writers = new Map();
  let traces = null;
  let caller = "";

  async function load() {
    const stores = getJson("api/collections").then(offerStores);
    const paths = ["api/corpora", "api/targets", "api/config"];
    const [catalogue, targets, config] = await Promise.all([...paths.map(getJson), stores]);
    for (const { id, label } of catalogue.corpora) labels.set(id, label);
    caller = config.caller;
    showCaller(caller);
    keepFor(catalogue.collection, caller);
    offerPrivacy(config);
    if (config.tracing) traces = config.phoenix_url;
    showServed(catalogue);
    offerCorpora(catalogue);
    offerFilters(catalogue);
    for (const { name, settings } of targets.targets) writers.set(name, writerOf(settings));
    offerTargets(targets);
    offerSuggestions();
  }

  return {
    hasName: () => caller !== "",
    label: (corpus) => labels.get(corpus) ?? corpus,
    writer: (target) => writers.get(target) ?? say("answer.someModel"),
    traceUrl: (id) => traces && id && `${traces}/redirects/traces/${id}`,
    loaded: load(),
  };
}

function showServed({ collection, corpora }) {
  const documents = corpora.reduce((sum, corpus) => sum + corpus.documents, 0);
  at("served").textContent = say("page.served", {
    collection,
    documents: say("page.documents", { count: documents }),
    corpora: say("page.corpora", { count: corpora.length }),
  });
}

function offerTargets({ default: preselected, targets }) {
  const select = at("target");
  const byName = new Map(targets.map((target) => [target.name, target]));
  const describe = () => {
    const { settings, in_force: inForce } = byName.get(select.value);
    at("target-hint").textContent = summary(settings);
    at("model").textContent = modelOf(settings, inForce);
    at("k").placeholder = settings.SEARCH_K;
  };
  select.append(...targets.map(({ name }) => element("option", { value: name }, name)));
  select.dataset.default = preselected;
  select.value = preselected;
  select.addEventListener("change", describe);
  describe();
}

/** `openai (gpt-4o-mini)` */
function writerOf({ LLM_PROVIDER: provider, LLM_MODEL: model }) {
  return model ? `${provider} (${model})` : provider;
}

/** What writes the answers of a target, in words. */
function modelOf({ LLM_PROVIDER: provider }, { model }) {
  return provider === QUOTING ? say("ask.noModel") : `${provider} (${model})`;
}

function summary({ SEARCH_K: passages, RERANKER: reranker, BALANCE: balance }) {
  const found = say("page.passages", { count: passages });
  return say("ask.targetHint", { passages: found, reranker, balance });
}
