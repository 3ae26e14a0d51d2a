/** The choices of the form: collections, corpora, targets and questions to begin with. It knows
 * labels, writers and the place of traces too. */

import { chosenCollection, getJson, messageOf, showCaller } from "../api.js";
import { at, choice, element, plainButton, svg } from "../dom.js";
import { keepFor } from "../keep/database.js";
import { say } from "../language.js";
import { offerSources } from "../sources/offer.js";
import { yearWords } from "../text.js";
import { offerFilters } from "./filters.js";
import { offerPrivacy } from "./privacy.js";
import { changeScope, chosenScope, onScopeChange } from "./scope.js";

const QUOTING = "extractive"; // answers with sentences of the sources

const SUGGESTED = 3;
const BARS = 50; // at most, of the drawing of a corpus
const SEVERAL = "several:"; // an id of a corpus holds no colon

/** Look-ups that work at once and know more when `loaded` has resolved. */
export function openCatalogue() {
  const labels = new Map();
  const writers = new Map();
  let traces = null;
  let caller = "";

  async function load() {
    const stores = getJson("api/collections").then(offerCollections);
    const paths = ["api/corpora", "api/targets", "api/config"];
    const [catalogue, targets, config] = await Promise.all([...paths.map(getJson), stores]);
    for (const { id, label } of catalogue.corpora) labels.set(id, label);
    caller = config.caller;
    showCaller(caller);
    keepFor(catalogue.collection, caller);
    offerPrivacy(config);
    if (config.tracing) traces = config.phoenix_url;
    for (const { name, settings } of targets.targets) {
      const { LLM_PROVIDER: provider, LLM_MODEL: model } = settings;
      writers.set(name, model ? `${provider} (${model})` : provider);
    }
    if (config.takes_sources) offerSources();
    if (catalogue.corpora.length === 0) return showNone(config.takes_sources);
    showServed(catalogue);
    offerCorpora(catalogue);
    offerFilters(catalogue);
    offerTargets(targets, config);
    offerSuggestions();
    drawOverTime(catalogue);
  }

  return {
    hasName: () => caller !== "",
    label: (corpus) => labels.get(corpus) ?? corpus,
    writer: (target) => writers.get(target) ?? say("answer.someModel"),
    traceUrl: (id) => traces && id && `${traces}/redirects/traces/${id}`,
    loaded: load(),
  };
}

/** Lets choose between collections where several are served; the page is loaded anew for another. */
function offerCollections({ default: own, collections }) {
  if (collections.length < 2) return;
  const names = collections.map(({ name, documents }) => [name, documents ? corpusOption(name, documents) : name]);
  const select = choice({ id: "store" }, names);
  select.value = chosenCollection ?? own;
  select.addEventListener("change", () => {
    const query = select.value === own ? "" : `?${new URLSearchParams({ collection: select.value })}`;
    location.assign(location.pathname + query);
  });
  const corpora = document.querySelector("label[for=collection]");
  corpora.before(element("label", { for: "store" }, say("ask.store")), select);
}

function showServed({ corpora }) {
  const documents = corpora.reduce((sum, corpus) => sum + corpus.documents, 0);
  at("served").textContent = say("page.served", {
    documents: say("page.documents", { count: documents }),
    corpora: say("page.corpora", { count: corpora.length }),
  });
}

/** Says in the middle that nothing can be asked yet, and what to do. */
function showNone(mayAdd) {
  const title = element("h2", {}, say("sources.none"));
  const what = element("p", {}, say(mayAdd ? "sources.first" : "sources.others"));
  const add = () => at("add-sources").click();
  const button = mayAdd ? plainButton(say("sources.add"), add, { class: "primary" }) : null;
  at("empty").prepend(element("div", { id: "no-sources" }, title, what, button));
}

function offerTargets({ default: preselected, targets, unusable }, config) {
  const select = at("target");
  const byName = new Map(targets.map((target) => [target.name, target]));
  const describe = () => {
    const target = byName.get(select.value);
    const { settings, in_force: inForce } = target;
    at("target-hint").textContent = say("ask.targetHint", {
      passages: say("page.passages", { count: settings.SEARCH_K }),
    });
    const provider = settings.LLM_PROVIDER;
    at("model").textContent =
      provider === QUOTING ? say("ask.noModel") : `${provider} (${inForce.model})`;
    at("k").placeholder = settings.SEARCH_K;
    at("target-all").querySelector("dl").replaceChildren(...detailsOf(target, config));
  };
  select.append(
    ...targets.map(({ name }) => element("option", { value: name }, name)),
    ...Object.entries(unusable).map(([name, why]) =>
      element("option", { disabled: "", title: why }, say("ask.targetUnusable", { name })),
    ),
  );
  select.dataset.default = preselected;
  select.value = preselected;
  select.addEventListener("change", describe);
  describe();
}

/** Each thing that a target and its collection decide, with its value and a sentence on it. */
function detailsOf({ settings, in_force: inForce, system_prompt: rules }, config) {
  const cuts = Object.values(config.sources).map((cut) => say("ask.cut", cut));
  const values = {
    rules,
    embedding: config.embedding_model,
    pooling: config.pooling,
    chunks: [...new Set(cuts)].join("; "),
    search: settings.SEARCH_TYPE,
    index: inForce.vector_search,
    depth: say("ask.depth", {
      all: settings.LARGE_RETRIEVAL_SIZE_ALL_CORPUS,
      single: settings.LARGE_RETRIEVAL_SIZE_SINGLE_CORPUS,
    }),
    near: settings.SCORE_THRESHOLD,
    reranker: settings.RERANKER,
    balance: settings.BALANCE,
    kept: settings.SEARCH_K,
    evidence: say("ask.evidence", {
      cosine: settings.SIMILARITY_THRESHOLD,
      share: settings.OVERLAP_THRESHOLD,
    }),
    threshold: inForce.answer_threshold,
    likelihood: inForce.answer_likelihood,
    citations: settings.CITATION_LIMIT,
    memory: settings.CHAT_MEMORY_TOKENS,
  };
  return Object.entries(values).map(([name, value]) =>
    element(
      "div",
      {},
      element("dt", {}, say(`targetNames.${name}`)),
      element("dd", {}, String(value)),
      element("dd", { class: "hint" }, say(`targetNotes.${name}`)),
    ),
  );
}

/** Fills the dropdown, the boxes of "Several …" and the choice to compare. */
function offerCorpora({ corpora, all }) {
  const select = at("collection");
  const box = at("several");
  const boxes = new Map();

  const named = corpora.map(({ id, label, documents }) => [id, corpusOption(label, documents)]);
  if (all.length < corpora.length) {
    select.options[0].textContent = say("ask.allOfSome", {
      some: all.length,
      corpora: say("page.corpora", { count: corpora.length }),
    });
  }
  select.append(...named.map(([value, words]) => element("option", { value }, words)));
  // of two corpora the only several are all
  if (corpora.length > 2 || all.length < corpora.length) {
    select.append(element("option", { value: SEVERAL }, say("ask.several")));
  }
  for (const [id, words] of named) addBox(id, words);

  function addBox(id, label) {
    const tick = element("input", { type: "checkbox", value: id });
    boxes.set(id, tick);
    box.append(element("label", { class: "choice" }, tick, element("span", {}, label)));
  }

  function choose() {
    const { corpus_filter: before } = chosenScope();
    if (select.value !== SEVERAL) {
      box.hidden = true;
      tell(true);
      return changeScope({ corpus_filter: select.value });
    }
    for (const [id, tick] of boxes) {
      tick.checked = before === "all" ? all.includes(id) : [before].flat().includes(id);
    }
    box.hidden = false;
    take();
  }

  /** Takes over what is ticked; without any tick the form waits for one. */
  function take() {
    const ticked = [...boxes.values()].filter((tick) => tick.checked).map((tick) => tick.value);
    tell(ticked.length > 0);
    if (ticked.length > 0) changeScope({ corpus_filter: ticked });
  }

  function tell(some) {
    select.setCustomValidity(some ? "" : say("ask.noneTicked"));
    at("none-ticked").hidden = some;
  }

  function show({ corpus_filter: chosen }) {
    const ids = chosen === "all" ? all : [chosen].flat();
    // one that is ticked alone stays among the boxes, and one that is not offered is seen there
    const ticked = !box.hidden || !boxes.has(ids[0]) || Array.isArray(chosen);
    const several = chosen !== "all" && ticked;
    if (several) for (const id of ids) if (!boxes.has(id)) addBox(id, id);
    select.value = several ? SEVERAL : chosen;
    if (several) for (const [id, tick] of boxes) tick.checked = ids.includes(id);
    box.hidden = !several;
    at("corpus-description").textContent =
      corpora.find(({ id }) => id === select.value)?.description ?? "";
    // comparing takes at least two
    at("compare").disabled = ids.length < 2;
  }

  select.addEventListener("change", choose);
  box.addEventListener("change", take);
  onScopeChange(show);
  show(chosenScope());
}

function corpusOption(label, count) {
  return say("ask.corpusOption", { label, documents: say("page.documents", { count }) });
}

/** Offers them before the first question, and others when other corpora are chosen. */
function offerSuggestions() {
  let shown = null;

  async function show({ corpus_filter: chosen }) {
    const corpora = chosen === "all" ? [] : [chosen].flat();
    const query = String(new URLSearchParams(corpora.map((id) => ["corpus", id])));
    if (query === shown || at("empty").hidden) return;
    shown = query;
    const suggestions = await found(`api/suggestions?${query}`, "suggestions");
    if (query === shown) fill(suggestions);
  }

  onScopeChange(show);
  show(chosenScope());
}

/** What a path lists, or nothing: what goes wrong is said when something is asked. */
async function found(path, name) {
  try {
    return (await getJson(path))[name];
  } catch (error) {
    messageOf(error);
    return [];
  }
}

function fill(suggestions) {
  const items = suggestions.slice(0, SUGGESTED).map(({ question, language }) => {
    const choose = () => {
      at("question").value = question;
      at("ask-form").requestSubmit();
    };
    return element("li", {}, plainButton(question, choose, { lang: language }));
  });
  at("examples").querySelector("ul").replaceChildren(...items);
  at("examples").hidden = items.length === 0;
}

/** Draws how many documents each corpus has over the years; the page is whole without it. */
async function drawOverTime({ corpora }) {
  const years = await found("api/stats", "years");
  if (years.length === 0) return;
  const dated = years.map(({ year, ...rest }) => ({ year: Number(year), ...rest }));
  const first = Math.min(...dated.map(({ year }) => year));
  const last = Math.max(...dated.map(({ year }) => year));
  const width = Math.ceil((last - first + 1) / BARS);
  const bars = Math.ceil((last - first + 1) / width);
  const counts = new Map(corpora.map(({ id }) => [id, new Array(bars).fill(0)]));
  for (const { year, corpus, documents } of dated) {
    counts.get(corpus)[Math.floor((year - first) / width)] += documents;
  }
  const most = Math.max(...[...counts.values()].flat());
  const rows = corpora.map(({ id, label, documents: count }) => {
    const documents = element("span", { class: "place" }, say("page.documents", { count }));
    return element("li", {}, element("span", {}, label, documents), barsOf(counts.get(id), most));
  });
  const ends = [first, last].map((year) => element("span", {}, yearWords(year)));
  at("over-time").append(
    element("h2", {}, say("ask.overTime")),
    element("ul", {}, ...rows),
    element("p", { class: "place ends" }, ...ends),
  );
}

function barsOf(counts, most) {
  const bars = counts.map((count, x) => {
    const height = count === 0 ? 0.02 : Math.max(count / most, 0.08);
    return svg("rect", { x: x + 0.1, y: 1 - height, width: 0.8, height });
  });
  // the words beside it say how many
  const attributes = { preserveAspectRatio: "none", "aria-hidden": "true" };
  return svg("svg", { viewBox: `0 0 ${counts.length} 1`, ...attributes }, ...bars);
}
