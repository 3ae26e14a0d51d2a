/** Other names and dates for corpora that were added here before. */

import { getJson, sendJson } from "../api.js";
import { element } from "../dom.js";
import { say } from "../language.js";

/** The form, or null if there is no such corpus; `begin` is called with a step that gives a job. */
export async function renameForm(begin) {
  const [{ jobs }, { collection, corpora }] = await Promise.all(
    ["api/jobs", "api/corpora"].map(getJson),
  );
  const own = new Set(
    jobs.filter((job) => job.collection === collection && job.result).map((job) => job.corpus),
  );
  const offered = corpora.filter(({ id }) => own.has(id));
  if (offered.length === 0) return null;
  const options = offered.map(({ id, label }) => element("option", { value: id }, label));
  const corpus = element("select", { id: "rename-corpus" }, ...options);
  const label = element("input", { id: "rename-label", type: "text", required: "", maxlength: 100 });
  const date = element("input", { id: "rename-date", type: "text", maxlength: 100 });
  date.setAttribute("aria-describedby", "rename-hint");
  const fill = () => (label.value = corpus.selectedOptions[0].textContent);
  corpus.addEventListener("change", fill);
  fill();

  function submit(event) {
    event.preventDefault();
    const said = { corpus: corpus.value, label: label.value.trim(), date: date.value.trim() };
    begin(() => sendJson("POST", "api/ingest", { path: collection, ...said }));
  }

  return element(
    "details",
    {},
    element("summary", {}, say("sources.rename")),
    element(
      "form",
      { onsubmit: submit },
      element("label", { for: corpus.id }, say("sources.which")),
      corpus,
      element("label", { for: label.id }, say("sources.newName")),
      label,
      element("label", { for: date.id }, say("sources.newDate")),
      date,
      element("p", { class: "hint", id: "rename-hint" }, say("sources.dateHint")),
      element("div", { class: "buttons" }, element("button", { type: "submit" }, say("keep.save"))),
    ),
  );
}
