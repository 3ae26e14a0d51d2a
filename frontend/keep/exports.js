/** Answers to be taken home: copied with citations, printed, linked to, as files.
 *
 * A link that restores a question has it behind `#`, where no server sees it.
 */

import { chosenCollection, exported, messageOf, runBundle, sendJson } from "../api.js";
import { alertIn, disclosure, element, linkButton } from "../dom.js";
import { say } from "../language.js";
import { asText, citedAnswer, copy, styleChooser } from "./citing.js";
import { download, newOutcome } from "../parts.js";

const FORMATS = [
  ["markdown", "Markdown"],
  ["json", "JSON"],
  ["csv", "CSV"],
  ["bibtex", "BibTeX"],
  ["ris", "RIS"],
  ["csl-json", "CSL-JSON"],
  ["web-annotation", "Web Annotation"],
];
export const NAME = "ask";
/** Fields of a question that a link may hold. */
export const KNOWN = [
  ...["question", "target", "k", "mode"],
  ...["corpus_filter", "filters", "require", "exclude"],
];

/** Everything for one finished answer; `asked` is its question as the form had it. */
export function answerExport(answer, asked) {
  const bundle = [say("keep.bundle"), () => runBundle(answer.qa_id)];
  const files = menu(say("keep.export"), [...inFormats(() => [answer]), bundle]);
  return element("div", { class: "take-home" }, copying(answer, asked), files);
}

/** The menu for a conversation; `answers` gives those so far. */
export function conversationExport(answers) {
  return menu(say("keep.exportConversation"), inFormats(answers));
}

function copying(answer, asked) {
  const { node, attempt } = newOutcome();
  const linked = async (href) => asText(await href);
  const buttons = [
    answer.decision === "ANSWER" && answer.comparison === null
      ? linkButton(say("keep.copyAnswer"), () => attempt(() => copy(citedAnswer(answer))))
      : null,
    answer.citations.length > 0 ? styleChooser() : null,
    linkButton(say("keep.linkQuestion"), () =>
      attempt(() => copy(linked(address(asked)), say("keep.linkCopied"))),
    ),
    linkButton(say("keep.linkAnswer"), () =>
      attempt(() => copy(linked(answerLink(answer, asked)), say("keep.answerLinkCopied"))),
    ),
    linkButton(say("keep.print"), (event) => printOne(event.target.closest("article"))),
  ];
  return element("div", { class: "copying" }, ...buttons, node);
}

/** Prints one answer of several. */
function printOne(article) {
  document.body.classList.add("printing-one");
  article.classList.add("printed");
  const over = () => {
    document.body.classList.remove("printing-one");
    article.classList.remove("printed");
  };
  addEventListener("afterprint", over, { once: true });
  print();
}

function inFormats(answers) {
  return FORMATS.map(([format, label]) => [label, () => exported(format, answers())]);
}

/** A folded menu of files: pairs of a label and what loads {name, content}. */
export function menu(title, files) {
  const alert = element("p", { role: "alert", hidden: "" });
  const items = files.map(([label, load]) => element("li", {}, linkButton(label, () => save(load, alert))));
  const list = element("ul", { "aria-label": say("keep.exportAs", { title }) }, ...items);
  return disclosure(title, { class: "export" }, list, alert);
}

async function save(load, alert) {
  alertIn(alert);
  try {
    download(await load());
  } catch (error) {
    alertIn(alert, messageOf(error));
  }
}

/** The address of an answer too, which the server keeps for a week. Raises Problem. */
async function answerLink(answer, asked) {
  const { url } = await sendJson("POST", `api/ask/${encodeURIComponent(answer.qa_id)}/link`, {});
  return address({ ...asked, shared: url.slice(url.lastIndexOf("/") + 1) });
}

/** The address of a question as it was asked. */
function address(state) {
  const own = new URL(location.pathname, location.href);
  if (chosenCollection) own.searchParams.set("collection", chosenCollection);
  const known = [...KNOWN, "shared"].filter((name) => state[name] != null);
  const said = Object.fromEntries(known.map((name) => [name, state[name]]));
  own.hash = new URLSearchParams({ [NAME]: JSON.stringify(said) });
  return own.href;
}
