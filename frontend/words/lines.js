/** Every hit in its line, aligned on the hit; a line opens where it stands in its document. */

import { element } from "../dom.js";
import { grouped, say } from "../language.js";
import { askButton } from "./ask_about.js";
import { concordance } from "./counting.js";
import { csvButton } from "./csv.js";
import { newGrid } from "./line_grid.js";
import { actionButton, chooser, rateOf } from "./parts.js";
import { pointName } from "./points.js";

const PAGE = 200; // lines
const MOST_AT_ONCE = 1000; // that the server gives
const MOST_IN_FILE = 10_000;
const SORTS = ["document", "left", "right", "hit", "date", "-date", "corpus"];
const COLUMNS = [
  ...["corpus", "document_id", "passage_id", "title", "date", "start", "end", "left", "hit"],
  ...["right", "page", "locator", "section", "speaker", "url"],
];

/** {summary, nodes} of the lines. */
export async function lines(state, tools) {
  const first = await concordance(state, tools, 0, PAGE);
  const grid = newGrid(first.listed, tools);
  const documents = element("ul", {});
  const count = element("summary", {});
  const more = actionButton(say("words.more_lines"), async () =>
    add(await concordance(state, tools, grid.length(), PAGE)),
  );
  const shown = element("p", { class: "hint", role: "status" });

  function add(found) {
    grid.add(found.lines);
    more.hidden = grid.length() >= found.listed;
    shown.textContent = say("words.shown", { shown: grid.length(), all: found.listed });
    documents.replaceChildren(...grid.documents().map((each) => documentItem(each, tools)));
    count.textContent = say("words.inDocuments", { count: grid.documents().length });
  }

  add(first);
  if (first.hits === 0) {
    const none = element("p", { class: "notice" }, say("words.nothing"));
    const nodes = [pointNote(state, tools), none].filter((node) => node !== null);
    return { summary: summaryOf(first, tools), nodes };
  }
  const bar = element(
    "div",
    { class: "words-bar" },
    chooser("sort", SORTS, state, tools.go),
    state.sample > 0 ? drawAgain(state, tools) : null,
    askButton(state, tools),
    download(state, tools, first.listed),
  );
  const nodes = [
    pointNote(state, tools),
    bar,
    element("p", { class: "hint" }, say("words.linesHint")),
    grid.node,
    element("div", { class: "words-bar" }, more, shown),
    element("details", { class: "in-documents" }, count, documents),
  ];
  return { summary: summaryOf(first, tools), nodes: nodes.filter((node) => node !== null) };
}

function summaryOf(found, { label }) {
  const { hits, documents, passages, words, per_million: rate, per_corpus: perCorpus } = found;
  const parts = [
    say("words.summary", {
      hits: say("words.hits", { count: hits }),
      documents: say("page.documents", { count: documents }),
      passages: say("page.passages", { count: passages }),
      words: say("words.wordCount", { count: words }),
    }),
  ];
  if (rate !== null && hits > 0) parts.push(say("words.rate", { rate: rateOf(rate) }));
  const each = Object.entries(perCorpus).filter(([, number]) => number > 0);
  if (each.length > 1) {
    const said = ([id, count]) => say("words.perCorpus", { label: label(id), hits: count });
    parts.push(each.map(said).join(" · "));
  }
  if (found.listed < hits) parts.push(say("words.drawn", { count: found.listed }));
  return [parts.join(". ") + "."];
}

/** Says which point of a trend the lines are of, with the way back to all of them. */
function pointNote({ point }, { go, label }) {
  if (point === null) return null;
  const all = { type: "button", class: "link", onclick: () => go({ point: null }) };
  return element(
    "p",
    { class: "notice" },
    element("span", {}, say("words.narrowed", { where: pointName(point, label) }), " "),
    element("button", all, say("words.everywhere")),
  );
}

function drawAgain({ seed }, { go }) {
  const draw = () => go({ seed: (seed + 1) % 1_000_000 });
  return element("button", { type: "button", onclick: draw }, say("words.drawAgain"));
}

function documentItem({ document_id: documentId, title, date, lines: number, first }, { page }) {
  const open = () => page.open({ documentId, passageId: first.passage_id, ...span(first) });
  const button = element("button", { type: "button", class: "link", onclick: open }, title);
  const said = [date, say("words.hits", { count: number })].filter(Boolean).join(" · ");
  return element("li", {}, button, " ", element("span", { class: "place" }, said));
}

function span({ start, end, hit }) {
  return { start, end, quote: hit };
}

function download(state, tools, listed) {
  const text =
    listed > MOST_IN_FILE
      ? say("words.csvSome", { most: grouped(MOST_IN_FILE) })
      : say("words.csv");
  return csvButton(text, "lines", COLUMNS, async () => {
    const rows = [];
    while (rows.length < Math.min(listed, MOST_IN_FILE)) {
      const found = await concordance(state, tools, rows.length, MOST_AT_ONCE);
      if (found.lines.length === 0) break;
      rows.push(...found.lines);
    }
    return rows;
  });
}
