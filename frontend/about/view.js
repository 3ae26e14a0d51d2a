/** The view of the collection: its corpora in figures and over time, its documents, how it was made,
 * and what the builds refused of the files they were given. */

import { getJson, messageOf } from "../api.js";
import { fieldName, valueName } from "../ask/fields.js";
import { chart } from "../charts/chart.js";
import { at, choice, definitions, disclosure, element, linkButton, plainButton, styled, withLabel } from "../dom.js";
import { language, say, told } from "../language.js";
import { dateWords, heading, yearWords } from "../text.js";
import { actionButton } from "../parts.js";
import { sortable } from "../words/table.js";

const SHEETS = ["words/words.css", "charts/charts.css", "about/about.css"];
const moments = new Intl.DateTimeFormat(language, { dateStyle: "long", timeStyle: "short" });
const shares = new Intl.NumberFormat(language, { style: "percent", maximumFractionDigits: 1 });
const UNITS = { year: 1, decade: 10 };
const MOST_BARS = 120; // years; more are drawn by decade at first
const PAGE = 50;
const PAUSE = 250; // ms after the last letter
const ORDERS = ["id", "title", "date", "-date"];

/** The view, {submit(question), shown()}; `page` is that of app.js. */
export async function openAbout(page) {
  await Promise.all([...SHEETS.map(styled), page.loaded.catch(() => {})]);
  const place = at("about");
  let version = null;

  async function shown() {
    if (version === null) place.replaceChildren(element("p", { role: "status" }, say("about.loading")));
    try {
      const [stats, sources] = await Promise.all([getJson("api/stats"), getJson("api/sources")]);
      if (stats.version === version) return; // what is there stays as the reader left it
      version = stats.version;
      place.replaceChildren(...parts(stats, sources, page));
    } catch (error) {
      version = null;
      place.replaceChildren(element("p", { role: "alert" }, messageOf(error)));
    }
  }

  /** A question that is typed here is one like any other. */
  async function submit(question) {
    (await page.show("ask")).submit(question);
  }

  return { submit, shown };
}

function parts(stats, sources, page) {
  const list = documentList(stats, page);
  return [
    element("h2", { class: "about-title" }, say("about.heading")),
    overview(stats),
    part("corpora", ...sizes(stats), corporaTable(stats), ...kindsTable(stats)),
    part("overTime", ...documentsOverTime(stats, list.narrow)),
    part("list", ...list.nodes),
    part("report", ...refused(sources)),
    part("made", madeOf(stats)),
  ];
}

function part(name, ...nodes) {
  const title = element("h3", { id: `about-${name}` }, say(`about.${name}`));
  return element("section", { class: "about-part", "aria-labelledby": title.id }, title, ...nodes);
}

function overview({ all, corpora }) {
  const { first, last, undated } = all.dates;
  const sentences = [
    say("about.holds", {
      documents: say("page.documents", { count: all.documents }),
      corpora: say("page.corpora", { count: corpora.length }),
      passages: say("page.passages", { count: all.passages }),
      words: say("words.wordCount", { count: all.words }),
    }),
    ...(first && last ? [say("about.dates", { first: yearOf(first), last: yearOf(last) })] : []),
    ...(undated > 0 ? [say("about.undated", { count: undated })] : []),
  ];
  return element("p", { class: "about-overview" }, sentences.join(" "));
}

/** A row for each corpus. */
function corporaTable({ corpora }) {
  const columns = [
    { head: say("ask.field_corpus"), cell: named, sort: ({ label }) => label },
    { head: say("words.documentsHead"), number: ({ documents }) => documents },
    { head: say("words.passagesHead"), number: ({ passages }) => passages },
    { head: say("views.words"), number: ({ words }) => words },
    { head: say("ask.yearFrom"), cell: ({ dates }) => yearOf(dates.first) },
    { head: say("ask.yearTo"), cell: ({ dates }) => yearOf(dates.last) },
    { head: say("about.undatedHead"), number: ({ dates }) => dates.undated },
    { head: fieldName("language"), cell: (corpus) => valueName("language", corpus.language) },
  ];
  return sortable(columns, corpora);
}

/** A corpus by its name, and what it holds. */
function named({ label, description }) {
  return description ? element("div", {}, label, element("div", { class: "place" }, description)) : label;
}

/** Words by corpus and, of several, by language, as bars; their figures stand beside them. */
function sizes({ corpora }) {
  const languages = new Map();
  for (const { language: code, words } of corpora) languages.set(code, (languages.get(code) ?? 0) + words);
  const byCorpus = bars(say("about.bySize"), corpora.map(({ label, words }) => [label, words]));
  const named = Array.from(languages, ([code, words]) => [valueName("language", code), words]);
  return named.length > 1 ? [byCorpus, bars(say("about.byLanguage"), named)] : [byCorpus];
}

function bars(title, rows) {
  const most = Math.max(1, ...rows.map(([, words]) => words));
  const listed = rows.map(([name, words]) => {
    const bar = element("span", { class: "bar", "aria-hidden": "true" });
    bar.style.setProperty("--share", words / most);
    return element("li", {}, element("span", {}, name), bar, element("span", {}, say("words.wordCount", { count: words })));
  });
  return element("figure", { class: "bars" }, element("figcaption", {}, title), element("ul", {}, ...listed));
}

/** A row for each kind of source, under a heading, and what is not read whole. */
function kindsTable({ kinds, truncated_share: truncated }) {
  const columns = [
    { head: say("about.kind"), cell: ({ name }) => heading(name) },
    { head: say("words.documentsHead"), number: ({ documents }) => documents },
    { head: say("words.passagesHead"), number: ({ passages }) => passages },
    { head: say("about.cut"), cell: (kind) => say("about.cutValue", kind) },
  ];
  const rows = Object.entries(kinds).map(([name, kind]) => ({ name, ...kind }));
  const found = [element("h4", {}, say("about.kinds")), sortable(columns, rows)];
  const share = say("about.truncated", { share: shares.format(truncated) });
  return truncated > 0 ? [...found, element("p", { class: "hint" }, share)] : found;
}

/** Version, model and digests. */
function madeOf({ version, created, embedding, content_digest: digest, corpora }) {
  const digests = [
    [say("about.digest"), digest],
    ...corpora.map((corpus) => [say("about.corpusDigest", { label: corpus.label }), corpus.digest]),
    [say("about.modelDigest"), embedding.digest],
  ];
  const written = digests.filter(([, text]) => text).map(([name, text]) => [name, element("code", {}, text)]);
  return element(
    "div",
    { class: "about-made" },
    definitions([
      [say("about.version"), version],
      [say("about.built"), moments.format(new Date(created))],
      [say("about.model"), `${embedding.name} (${embedding.provider})`],
      ...written,
    ]),
    element("p", { class: "hint" }, say("about.digestHint")),
  );
}

/** The nodes; `narrow({from, to, label})` is called with the time of a bar that is chosen. */
function documentsOverTime({ years, corpora }, narrow) {
  if (years.length === 0) return [element("p", { class: "hint" }, say("charts.none"))];
  const span = Number(years.at(-1).year) - Number(years[0].year);
  const unit = choice({ id: "about-unit" }, Object.keys(UNITS).map((name) => [name, say(`words.${name}`)]));
  unit.value = span > MOST_BARS ? "decade" : "year";
  const every = [["", say("ask.all")], ...corpora.map(({ id, label }) => [id, label])];
  const corpus = choice({ id: "about-time-corpus" }, every);
  const drawing = element("div", {});

  function draw() {
    const own = years.filter((each) => corpus.value === "" || each.corpus === corpus.value);
    const label = corpus.selectedOptions[0].textContent;
    drawing.replaceChildren(...drawn(own, UNITS[unit.value], unit.value, label, narrow));
  }

  for (const control of [unit, corpus]) control.addEventListener("change", draw);
  draw();
  const bar = controls({ "words.unit": unit, "ask.field_corpus": corpus });
  return [bar, drawing, element("p", { class: "hint" }, say("about.manyYears"))];
}

function drawn(years, size, unit, label, narrow) {
  if (years.length === 0) return [element("p", { class: "hint" }, say("charts.none"))];
  const counts = new Map();
  for (const { year, documents } of years) {
    // there was no year 0: a decade is 300 to 291 BC
    const start = Math.floor((Number(year) - (size > 1 && year <= 0)) / size) * size;
    counts.set(start, (counts.get(start) ?? 0) + documents);
  }
  const [first, last] = [Math.min(...counts.keys()), Math.max(...counts.keys())];
  const starts = Array.from({ length: (last - first) / size + 1 }, (_, at) => first + at * size);
  const values = starts.map((start) => counts.get(start) ?? null);
  const labels = starts.map((start) => unitWords(start, size));
  const figure = chart({
    title: say("about.chart", { unit: say(`words.${unit}`).toLowerCase() }),
    gap: say("about.noDocument"),
    labels,
    series: [{ name: label, values }],
    describe(index) {
      const [value, count] = [labels[index], values[index]];
      if (count === null) return say("about.barNone", { label, value });
      return say("about.bar", { label, value, documents: say("page.documents", { count }) });
    },
    pick: (index) => narrow({ label: labels[index], ...endsOf(starts[index], size) }),
  });
  return [figure, missing(years), tableOf(labels, values)];
}

function yearOf(day) {
  return day ? yearWords(parseInt(day, 10)) : "–";
}

function endsOf(start, size) {
  const first = start + (size > 1 && start < 0);
  return { from: String(first), to: String(first + size - 1) };
}

function unitWords(start, size) {
  if (size === 1) return yearWords(start);
  if (start < 0) return `${-start}–${yearWords(start + size)}`;
  return start < 1000 ? say("page.yearAD", { year: `${start}s` }) : `${start}s`;
}

function tableOf(labels, values) {
  const rows = labels.map((label, index) => ({ label, documents: values[index] ?? 0 }));
  const columns = [
    { head: fieldName("date"), cell: ({ label }) => label },
    { head: say("words.documentsHead"), number: ({ documents }) => documents },
  ];
  return disclosure(say("charts.table"), { class: "data" }, sortable(columns, rows));
}

/** The years without a document between the first and the last, as runs. */
function missing(years) {
  const known = new Set(years.map(({ year }) => Number(year)));
  const [first, last] = [Math.min(...known), Math.max(...known)];
  const without = [];
  for (let year = first; year <= last; year += 1) if (!known.has(year)) without.push(year);
  const span = { first: yearWords(first), last: yearWords(last) };
  if (without.length === 0) return element("p", {}, say("about.noGaps", span));
  const runs = [];
  for (const year of without) {
    const run = runs.at(-1);
    if (run && run[1] === year - 1) run[1] = year;
    else runs.push([year, year]);
  }
  const written = runs.map(([from, to]) => (from === to ? yearWords(from) : `${yearWords(from)}–${yearWords(to)}`));
  return element("p", {}, say("about.gaps", { count: without.length, ...span, years: written.join(", ") }));
}

/** {nodes, narrow}: `narrow({label, from, to})` lists the documents of a time alone. */
function documentList({ corpora }, page) {
  const title = element("input", { id: "about-find", type: "text", maxlength: "200" });
  const corpus = choice({ id: "about-corpus" }, [["", say("ask.all")], ...corpora.map((c) => [c.id, c.label])]);
  const order = choice({ id: "about-order" }, ORDERS.map((name) => [name, say(`about.order_${name}`)]));
  const time = element("p", { class: "notice", hidden: "" });
  const found = element("p", { role: "status", class: "hint" });
  const list = element("ol", { class: "about-documents" });
  const previous = plainButton(say("about.previous"), () => turn(previous, -PAGE));
  const next = plainButton(say("about.next"), () => turn(next, PAGE));
  let offset = 0;
  let last = 0; // offset of the last page, as far as it is known
  let within = null;
  let latest = 0;
  let timer = 0;

  async function load() {
    latest += 1;
    const mine = latest;
    try {
      const query = new URLSearchParams({ limit: PAGE, offset, sort: order.value });
      if (title.value.trim()) query.set("title", title.value.trim());
      if (corpus.value) query.set("corpus", corpus.value);
      if (within) query.set("filters", JSON.stringify({ date: { from: within.from, to: within.to } }));
      const listing = await getJson(`api/documents?${query}`);
      if (mine === latest) show(listing);
    } catch (error) {
      const message = messageOf(error);
      if (mine === latest) list.replaceChildren(element("li", { role: "alert" }, message));
    }
  }

  function show({ total, documents, next_offset: following }) {
    const range = { from: offset + 1, to: offset + documents.length, all: total };
    last = Math.max(0, PAGE * Math.floor((total - 1) / PAGE));
    found.textContent = documents.length > 0 ? say("about.range", range) : say("page.documents", { count: total });
    list.start = offset + 1;
    list.replaceChildren(...documents.map((document) => documentItem(document, page)));
    // not `disabled`, which drops the focus
    mark(previous, offset > 0);
    mark(next, following !== null);
  }

  function restart() {
    offset = 0;
    load();
  }

  function turn(button, step) {
    if (button.hasAttribute("aria-disabled")) return;
    // pressed twice before the next page was there, it may be the last one already
    const wanted = Math.min(Math.max(offset + step, 0), last);
    if (wanted === offset) return;
    offset = wanted;
    load();
  }

  function narrow(chosen) {
    within = chosen;
    time.hidden = within === null;
    if (within !== null) {
      const all = linkButton(say("words.everywhere"), () => narrow(null));
      time.replaceChildren(`${say("words.narrowed", { where: within.label })} `, all);
      found.scrollIntoView({ block: "center" });
    }
    restart();
  }

  title.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(restart, PAUSE);
  });
  for (const control of [corpus, order]) control.addEventListener("change", restart);
  load();
  const bar = controls({ "about.find": title, "ask.field_corpus": corpus, "about.order": order });
  const pager = element("div", { class: "words-bar" }, previous, next);
  return { nodes: [bar, time, found, list, pager], narrow };
}

/** A row of controls; each has the words of its key. */
function controls(byKey) {
  const choosers = Object.entries(byKey).map(([key, control]) =>
    element("div", { class: "chooser" }, ...withLabel(say(key), control)),
  );
  return element("div", { class: "words-bar" }, ...choosers);
}

function mark(button, enabled) {
  if (enabled) button.removeAttribute("aria-disabled");
  else button.setAttribute("aria-disabled", "true");
}

function documentItem({ document_id: documentId, title, metadata, corpus, passages }, page) {
  const said = [dateWords(metadata.date), page.label(corpus), say("page.passages", { count: passages })];
  const place = element("span", { class: "place" }, said.filter(Boolean).join(" · "));
  return element("li", {}, linkButton(title, () => page.open({ documentId })), " ", place);
}

/** The nodes of the report, of which `sources` is the first page. */
function refused(sources) {
  const files = say("page.files", { count: sources.files });
  const key = sources.refused > 0 ? "about.reportSummary" : "about.nothingRefused";
  const said = say(key, { files, refused: sources.refused });
  if (sources.total === 0) return [element("p", {}, `${said} ${say("about.nothingLeft")}`)];
  const list = element("ul", { class: "about-refused" });
  let next = 0;

  function add({ sources: found, next_offset: following }) {
    list.append(...found.map(refusedItem));
    next = following;
    more.hidden = next === null;
  }

  const more = actionButton(say("about.next"), async () =>
    add(await getJson(`api/sources?offset=${next}`)),
  );
  add(sources);
  return [element("p", {}, said), list, more];
}

function refusedItem({ source, refused: none, documents, remarks, more_remarks: rest }) {
  const state = none ? say("about.refused") : `${say("about.partly")} (${say("page.documents", { count: documents })})`;
  const reasons = remarks.map((remark) => element("li", {}, told(remark)));
  if (rest > 0) reasons.push(element("li", {}, say("about.moreReasons", { count: rest })));
  const list = element("ul", { "aria-label": say("answer.reason") }, ...reasons);
  return element("li", {}, element("strong", {}, source), ` ${state}`, list);
}
