/** A folded menu of files to take answers home in. */

import { exported, Problem, runBundle } from "../api.js";
import { element } from "../dom.js";

const FORMATS = [
  ["markdown", "Markdown"],
  ["json", "JSON"],
  ["csv", "CSV"],
  ["bibtex", "BibTeX"],
  ["ris", "RIS"],
  ["csl-json", "CSL-JSON"],
];

/** The menu for one finished answer. */
export function answerExport(answer) {
  const bundle = ["Run bundle", () => runBundle(answer.qa_id)];
  return menu("Export", [...inFormats(() => [answer]), bundle]);
}

/** The menu for a conversation; `answers` gives those so far. */
export function conversationExport(answers) {
  return menu("Export conversation", inFormats(answers));
}

function inFormats(answers) {
  return FORMATS.map(([format, label]) => [label, () => exported(format, answers())]);
}

function menu(title, files) {
  const alert = element("p", { role: "alert", hidden: "" });
  const items = files.map(([label, load]) => {
    const button = { type: "button", class: "link", onclick: () => save(load, alert) };
    return element("li", {}, element("button", button, label));
  });
  const list = element("ul", { "aria-label": `${title} as` }, ...items);
  return element("details", { class: "export" }, element("summary", {}, title), list, alert);
}

async function save(load, alert) {
  alert.hidden = true;
  try {
    download(await load());
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    alert.hidden = false;
    alert.textContent = error.message;
  }
}

function download({ name, content }) {
  const href = URL.createObjectURL(content);
  element("a", { href, download: name }).click();
  URL.revokeObjectURL(href);
}
