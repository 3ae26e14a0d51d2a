/** The panel in which sources are chosen, sent and reported. What runs goes on when it is closed. */

import { cancelJob, getJson, ingest, jobEvents, messageOf, sendJson } from "../api.js";
import { alertIn, at, choice, disclosure, element, linkButton, onSubmit, plainButton, withLabel } from "../dom.js";
import { language, say, told } from "../language.js";
import { tab } from "../storage.js";
import { JOBS, TRY } from "./offer.js";

const CONFLICT = 409;
const shares = new Intl.NumberFormat(language, { style: "percent" });
const megabytes = new Intl.NumberFormat(language, { maximumFractionDigits: 1 });

/** Makes the panel; `button` opens it, and says while it is closed that something runs. */
export function openPanel(button) {
  const groups = new Map(); // by corpus: {files: by path, name, date}
  const dialog = element("dialog", { id: "sources", "aria-labelledby": "sources-title" });
  const chosen = element("div", { id: "sources-chosen" });
  const bar = element("progress", { "aria-labelledby": "sources-step", hidden: "" });
  const step = element("p", { id: "sources-step", role: "status" });
  const share = element("p", { class: "place", "aria-hidden": "true" }); // the bar says it aloud
  const alert = element("p", { role: "alert", hidden: "" });
  const reports = element("div", { id: "sources-reports", "aria-live": "polite" });
  const zotero = element("div", { class: "zotero" });
  const fromZotero = plainButton(say("sources.zotero"), () => offerZotero(true), { hidden: "" });
  const files = picker({ multiple: "" });
  const folder = picker({ webkitdirectory: "" });
  const replace = element("input", { type: "checkbox" });
  const words = element("span", {}, say("sources.replace"));
  const replacing = element("label", { class: "choice", hidden: "" }, replace, words);
  const add = element("button", { class: "primary", type: "submit" }, say("sources.send"));
  const stop = element("button", { type: "button", hidden: "" }, say("page.cancel"));
  const close = plainButton(say("page.close"), leave);
  const form = element(
    "form",
    {},
    element("h2", { id: "sources-title" }, say("sources.add")),
    element("p", {}, say("sources.kinds")),
    element(
      "div",
      { class: "drop" },
      element("p", {}, say("sources.here")),
      element(
        "div",
        { class: "buttons" },
        plainButton(say("sources.files"), () => files.click()),
        plainButton(say("sources.folder"), () => folder.click()),
        fromZotero,
      ),
      zotero,
      files,
      folder,
    ),
    chosen,
    replacing,
    alert,
    step,
    bar,
    share,
    reports,
    element("div", { class: "buttons" }, add, stop, close),
  );
  let running = false;
  let added = false;

  const renaming = element("div", {});
  onSubmit(form, () => running || run(upload));
  dialog.append(form, renaming);
  dialog.addEventListener("close", () => {
    if (!running) button.textContent = say("sources.add");
  });
  document.body.append(dialog);
  draw();
  if (begun().length > 0) run(follow);

  function picker(attributes) {
    const input = element("input", { type: "file", hidden: "", ...attributes });
    input.addEventListener("change", () => {
      for (const file of input.files) choose(file, file.webkitRelativePath || file.name);
      input.value = "";
      draw();
    });
    return input;
  }

  function choose(file, path) {
    const parts = path.split("/").filter(Boolean);
    if (parts.some((part) => part.startsWith("."))) return;
    const corpus = parts.length > 1 ? parts.shift() : "";
    if (!groups.has(corpus)) groups.set(corpus, groupOf(corpus));
    groups.get(corpus).files.set(parts.join("/"), file);
  }

  /** Shows that Zotero is offered, if it is to this reader; if it `isChosen` its collections, or why
   * there are none. */
  async function offerZotero(isChosen) {
    const { offered, problem, collections } = await getJson("api/ingest/zotero");
    fromZotero.hidden = !offered;
    if (!isChosen) return;
    const all = { key: "library", name: say("sources.zoteroAll") };
    const fields = problem
      ? [element("p", { role: "alert" }, told(problem))]
      : zoteroFields([...collections, all], chooseZotero);
    zotero.replaceChildren(...fields);
    zotero.querySelector("select")?.focus();
  }

  function chooseZotero({ key, name }) {
    groups.set(`zotero ${key}`, { ...groupOf(name.split(" > ").at(-1)), zotero: { key, name } });
    zotero.replaceChildren();
    draw();
  }

  /** Takes what was dropped: entries of files, and of folders with all that is in them. */
  async function take(entries) {
    for (const entry of entries) await walk(entry);
    draw();
  }

  async function walk(entry) {
    if (entry.isFile) {
      const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
      return choose(file, entry.fullPath);
    }
    const reader = entry.createReader();
    for (;;) {
      const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
      if (some.length === 0) return; // a browser gives a hundred at a time
      for (const inner of some) await walk(inner);
    }
  }

  function draw() {
    const flat = groups.get("");
    if (flat && !flat.name) flat.name = nameOf(flat.files.keys());
    chosen.replaceChildren(...[...groups].map(drawGroup));
    add.hidden = groups.size === 0;
    alert.hidden = true;
  }

  function drawGroup([key, group], index) {
    const name = element("input", { id: `sources-name-${index}`, type: "text", required: "" });
    name.maxLength = 100;
    name.value = group.name;
    name.addEventListener("input", () => (group.name = name.value));
    const more = noteFields(`sources-${index}`, group);
    const sum = [...group.files.values()].reduce((bytes, { size }) => bytes + size, 0);
    const total = group.zotero
      ? say("sources.zoteroChosen", group.zotero)
      : say("sources.chosen", { count: group.files.size, size: sizeOf(sum) });
    const items = [...group.files].map(([path, { size }]) =>
      element("li", {}, path, " ", element("span", { class: "place" }, sizeOf(size))),
    );
    const without = () => {
      groups.delete(key);
      draw();
      close.focus();
    };
    return element(
      "fieldset",
      {},
      element("legend", {}, total),
      ...withLabel(say("sources.name"), name),
      ...more,
      group.zotero
        ? null
        : disclosure(say("sources.list"), {}, element("ul", {}, ...items)),
      linkButton(say("sources.without"), without),
    );
  }

  async function upload() {
    reports.replaceChildren();
    for (const [key, group] of groups) {
      const words = say(group.zotero ? "sources.zoteroFetching" : "sources.sending");
      tell(words);
      const given = { label: group.name, date: group.date, description: group.description };
      const said = Object.entries(given).map(([field, value]) => [field, value.trim()]);
      const note = Object.fromEntries(said.filter(([, value]) => value)); // the rest stays
      const stopped = new AbortController();
      stop.onclick = () => stopped.abort();
      const sending = sent(group, note, (...done) => tell(words, ...done), stopped.signal);
      const job = await sending.catch((error) => {
        if (!stopped.signal.aborted) throw error;
      });
      if (!job) break;
      remember([...begun(), job.id]);
      groups.delete(key);
    }
    draw();
    await follow();
  }

  function sent(group, note, told, signal) {
    if (group.zotero) {
      // a key names one thing of Zotero, so what is there is an older form of it
      const body = { zotero: group.zotero.key, replace: true, ...note };
      return sendJson("POST", "api/ingest", body, signal);
    }
    const body = new FormData();
    for (const [field, value] of Object.entries(note)) body.append(field, value);
    body.append("replace", replace.checked);
    for (const [path, file] of group.files) body.append("files", file, path);
    return ingest(body, told, signal);
  }

  /** Follows jobs, one after the other as they are done, and reports each. */
  async function follow() {
    for (const id of begun()) {
      stop.onclick = () => cancelJob(id);
      for await (const { name, data: job } of jobEvents(id)) {
        if (name !== "done") {
          tell(...stepOf(job));
          continue;
        }
        added ||= job.state === "done";
        reports.append(reportOf(job, await about(job), ask));
      }
      remember(begun().filter((other) => other !== id));
    }
  }

  async function run(work) {
    running = true;
    add.disabled = true;
    alert.hidden = true;
    replacing.hidden = true;
    try {
      await work();
    } catch (error) {
      const message = messageOf(error);
      if (error.status === 404) remember([]); // the server does not
      draw();
      alertIn(alert, message);
      replacing.hidden = error.status !== CONFLICT;
    } finally {
      running = false;
      add.disabled = false;
      bar.hidden = true;
      stop.hidden = true;
      step.textContent = "";
      share.textContent = "";
      button.textContent = say(dialog.open ? "sources.add" : "sources.over");
    }
  }

  function tell(words, done, total) {
    bar.hidden = false;
    stop.hidden = false;
    const isKnown = total > 1 && done > 0; // of passages the first are done after seconds
    if (isKnown) Object.assign(bar, { max: total, value: done });
    else bar.removeAttribute("value");
    share.textContent = isKnown ? shares.format(done / total) : "";
    if (step.textContent !== words) step.textContent = words;
    button.textContent = say("sources.running");
  }

  function ask(question) {
    tab.keep(TRY, JSON.stringify(question));
    location.reload();
  }

  function leave() {
    dialog.close();
    // the page offers what is there now, unless somebody would lose what stands in it
    const untouched = !at("empty").hidden && !at("question").value;
    if (added && !running && untouched) location.reload();
  }

  async function offerMore() {
    await Promise.all([offerRenaming(), offerZotero(false)]);
  }

  async function offerRenaming() {
    const step = async (begin) => {
      reports.replaceChildren();
      remember([...begun(), (await begin()).id]);
      await follow();
      await offerRenaming();
    };
    const offered = await renameForm((begin) => !running && run(() => step(begin)));
    renaming.replaceChildren(...[offered].filter(Boolean));
  }

  return {
    take,
    show() {
      if (document.querySelector("dialog[open]")) return;
      dialog.showModal();
      if (!running) run(offerMore);
    },
  };
}

/** The ids of the jobs that were begun in this tab, and are not reported yet. */
function begun() {
  return JSON.parse(tab.find(JOBS) ?? "[]");
}

function remember(ids) {
  if (ids.length > 0) tab.keep(JOBS, JSON.stringify(ids));
  else tab.forget(JOBS);
}

function groupOf(name) {
  return { files: new Map(), name, date: "", description: "" };
}

/** A field to choose one of the collections of Zotero. */
function zoteroFields(collections, choose) {
  const names = collections.map(({ key, name }) => [key, name]);
  const select = choice({ id: "zotero-collection" }, names);
  const take = () => choose(collections.find(({ key }) => key === select.value));
  return [
    ...withLabel(say("sources.zoteroWhich"), select),
    plainButton(say("sources.zoteroTake"), take),
  ];
}

/** The name of a corpus of files that lie in no folder. */
function nameOf([only, ...others]) {
  const isZip = others.length === 0 && /\.zip$/i.test(only);
  return isZip ? only.slice(0, -".zip".length) : say("sources.mine");
}

function sizeOf(bytes) {
  const size = megabytes.format(Math.max(bytes / 1e6, 0.1));
  return say("sources.megabytes", { size });
}

/** The step of a job in words, and how far it is. */
function stepOf({ state, progress }) {
  if (state === "queued") return [say("sources.waiting")];
  const { name, done, total } = progress.at(-1) ?? {};
  if (!name) return [say("sources.starting")]; // a process and a model are loaded
  if (name === "Reading files") return [say("sources.reading", { done, total }), done, total];
  return [say("sources.preparing"), done, total];
}

/** The label of the corpus of a job, and a question to try, as the form takes it, if there is one. */
async function about({ state, corpus }) {
  if (state !== "done") return {};
  const query = new URLSearchParams({ corpus });
  const paths = ["corpora", `suggestions?${query}`];
  const [{ corpora }, { suggestions }] = await Promise.all(paths.map((path) => getJson(`api/${path}`)));
  const { label = corpus } = corpora.find(({ id }) => id === corpus) ?? {};
  const [{ question } = {}] = suggestions;
  return { label, question: question && { question, corpus_filter: corpus } };
}

/** A section on a job that is over; `ask` asks the question, if there is one to try. */
function reportOf(job, { label, question }, ask) {
  const { corpus, files, left_out: leftOut, more_left_out: more, result, problem, state } = job;
  if (!result) {
    const cancelled = state === "cancelled";
    const failed = cancelled ? say("sources.cancelled") : say("sources.failed", { problem });
    return element("section", { class: "failed" }, element("p", {}, failed));
  }
  const title = element("h3", {}, label);
  if (files.length + leftOut.length === 0) {
    return element("section", {}, title, element("p", {}, say("sources.saved")));
  }
  const own = (remark) => ({ ...remark, source: remark.source.replace(`${corpus}/`, "") });
  const remarks = result.remarks.map(own);
  const refused = remarks.filter((remark) => remark.refused);
  const partly = remarks.filter((remark) => !remark.refused);
  const out = [...leftOut.map(({ name, reason }) => ({ source: name, remarks: [reason] })), ...refused];
  const read = files.length - refused.length;
  const missing = out.length + more;
  const sum = say("sources.sum", {
    files: say("page.files", { count: read + missing }),
    read,
    missing,
    documents: say("page.documents", { count: result.documents_added }),
  });
  return element(
    "section",
    {},
    title,
    element("p", { class: "sum" }, sum),
    missing > 0 ? list(say("sources.leftOut"), out) : null,
    more > 0 ? element("p", {}, say("sources.more", { count: more })) : null,
    partly.length > 0 ? list(say("sources.partly"), partly) : null,
    question ? tryIt(question, ask) : null,
  );
}

function list(title, rows) {
  const items = rows.map(({ source, remarks }) => {
    const reasons = remarks.flatMap((reason, at) => [at === 0 ? ": " : "; ", told(reason)]);
    return element("li", {}, element("strong", {}, source), ...reasons);
  });
  return element("div", {}, element("h4", {}, title), element("ul", {}, ...items));
}

function tryIt(question, ask) {
  const button = plainButton(question.question, () => ask(question), { class: "primary" });
  return element("div", {}, element("h4", {}, say("sources.try")), button);
}

/** Fields for the date and the description of a corpus, which write into `note` what is typed. */
function noteFields(prefix, note) {
  const date = element("input", { id: `${prefix}-date`, type: "text", maxlength: 100 });
  const description = element("textarea", { id: `${prefix}-description`, rows: 2, maxlength: 1000 });
  date.setAttribute("aria-describedby", `${prefix}-hint`);
  for (const [name, field] of Object.entries({ date, description })) {
    field.value = note[name];
    field.addEventListener("input", () => (note[name] = field.value));
  }
  return [
    ...withLabel(say("sources.date"), date),
    element("p", { class: "hint", id: `${prefix}-hint` }, say("sources.dateHint")),
    ...withLabel(say("sources.description"), description),
  ];
}

/** The form, or null if there is no such corpus; `begin` is called with a step that gives a job. */
async function renameForm(begin) {
  const [{ jobs }, { collection, corpora }] = await Promise.all(["api/jobs", "api/corpora"].map(getJson));
  const own = jobs.filter((job) => job.collection === collection && job.result);
  const offered = corpora.filter(({ id }) => own.some(({ corpus }) => corpus === id));
  if (offered.length === 0) return null;
  const corpus = choice({ id: "rename-corpus" }, offered.map(({ id, label }) => [id, label]));
  const label = element("input", { id: "rename-label", type: "text", required: "", maxlength: 100 });
  const more = element("div", { class: "fields" });
  let note = null;
  const fill = () => {
    note = { ...offered.find(({ id }) => id === corpus.value) };
    label.value = note.label;
    more.replaceChildren(...noteFields("rename", note));
  };
  corpus.addEventListener("change", fill);
  fill();

  const form = element(
    "form",
    {},
    ...withLabel(say("sources.which"), corpus),
    ...withLabel(say("ask.newName"), label),
    more,
    element("div", { class: "buttons" }, element("button", {}, say("keep.save"))),
  );
  onSubmit(form, () => {
    const [date, description] = [note.date.trim(), note.description.trim()];
    const said = { corpus: corpus.value, label: label.value.trim(), date, description };
    begin(() => sendJson("POST", "api/ingest", { path: collection, ...said }));
  });
  return disclosure(say("sources.rename"), {}, form);
}
