/** Every hit in its line, aligned on the hit; a line opens where it stands in its document.
 *
 * The lines are a grid: one row has the focus, arrow keys move it, Enter opens the passage.
 */

import { disclosure, element, linkButton, plainButton } from "../dom.js";
import { grouped, say } from "../language.js";
import { yearIn } from "../text.js";
import { askButton, pointName } from "./ask_about.js";
import { concordance } from "./counting.js";
import { actionButton, chooser, totals } from "../parts.js";
import { csvButton } from "./table.js";

const PAGE = 200; // lines
const MOST_AT_ONCE = 1000; // that the server gives
const MOST_IN_FILE = 10_000;
const SORTS = ["document", "left", "right", "hit", "date", "-date", "corpus"];
const COLUMNS = [
  ...["corpus", "document_id", "passage_id", "title", "date", "start", "end", "left", "hit"],
  ...["right", "page", "locator", "section", "speaker", "url"],
];
const ROWS_OF_A_PAGE = 10; // that PageUp and PageDown go

/** {summary, nodes} of the lines. */
export async function lines(state, tools) {
  const first = await concordance(state, tools, 0, PAGE);
  const grid = newGrid(first.listed, tools);
  const documents = element("ul", {});
  const count = element("span");
  const inDocuments = disclosure(count, { class: "in-documents" }, documents);
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
    return { summary: summaryOf(first, tools), nodes: [pointNote(state, tools), none] };
  }
  const draw = () => tools.go({ seed: (state.seed + 1) % 1_000_000 });
  const bar = element(
    "div",
    { class: "words-bar" },
    chooser("sort", SORTS.map((sort) => [sort, say(`words.sort_${sort}`)]), state.sort, tools.go),
    state.sample > 0 ? plainButton(say("words.drawAgain"), draw) : null,
    askButton(state, tools),
    download(state, tools, first.listed),
  );
  const nodes = [
    pointNote(state, tools),
    bar,
    element("p", { class: "hint" }, say("words.linesHint")),
    grid.node,
    element("div", { class: "words-bar" }, more, shown),
    inDocuments,
  ];
  return { summary: summaryOf(first, tools), nodes };
}

function summaryOf(found, { label }) {
  const parts = totals(found);
  const each = Object.entries(found.per_corpus).filter(([, number]) => number > 0);
  if (each.length > 1) {
    const said = ([id, count]) => say("words.perCorpus", { label: label(id), hits: count });
    parts.push(each.map(said).join(" · "));
  }
  if (found.listed < found.hits) parts.push(say("words.drawn", { count: found.listed }));
  for (const [typed, read] of Object.entries(found.read_as)) parts.push(say("words.readAs", { typed, read }));
  return [parts.join(". ") + "."];
}

/** Says which point of a trend the lines are of, with the way back to all of them. */
function pointNote({ point }, { go, label }) {
  if (point === null) return null;
  const where = element("span", {}, say("words.narrowed", { where: pointName(point, label) }), " ");
  const all = linkButton(say("words.everywhere"), () => go({ point: null }));
  return element("p", { class: "notice" }, where, all);
}

function documentItem({ document_id: documentId, title, date, lines: number, first }, { page }) {
  const { passage_id: passageId, start, end, hit: quote } = first;
  const open = () => page.open({ documentId, passageId, start, end, quote });
  const said = [date, say("words.hits", { count: number })].filter(Boolean).join(" · ");
  return element("li", {}, linkButton(title, open), " ", element("span", { class: "place" }, said));
}

function download(state, tools, listed) {
  const key = listed > MOST_IN_FILE ? "words.csvSome" : "words.csv";
  const text = say(key, { most: grouped(MOST_IN_FILE) });
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

/** {node, add(lines), length(), documents()} of a grid that will have `total` rows. */
function newGrid(total, { page, label }) {
  const rows = [];
  const found = [];
  const body = element("div", { role: "rowgroup" });
  const [before, hit, after, place] = ["before", "hit", "after", "place"].map((name) =>
    element("span", { role: "columnheader", class: `line-${name}` }, say(`words.${name}`)),
  );
  const rest = element("span", { role: "none", class: "line-rest" }, hit, after);
  const heads = element("div", { role: "row", class: "line head" }, place, before, rest);
  const named = { role: "grid", class: "lines", "aria-label": say("words.lines") };
  const node = element(
    "div",
    { ...named, "aria-rowcount": total + 1 },
    element("div", { role: "rowgroup" }, heads),
    body,
  );

  function add(lines) {
    for (const line of lines) {
      const row = rowOf(line, rows.length, label);
      found.push(line);
      rows.push(row);
      body.append(row);
    }
    if (rows.length > 0 && !rows.some((row) => row.tabIndex === 0)) rows[0].tabIndex = 0;
  }

  function focus(index) {
    const to = Math.min(Math.max(index, 0), rows.length - 1);
    for (const row of rows) row.tabIndex = -1;
    rows[to].tabIndex = 0;
    rows[to].focus();
  }

  function open(index) {
    const { document_id: documentId, passage_id: passageId, start, end, hit } = found[index];
    for (const row of rows) row.removeAttribute("aria-selected");
    rows[index].setAttribute("aria-selected", "true");
    focus(index);
    // a long hit is cut short in its line
    const quote = [...hit].length === end - start ? { quote: hit } : {};
    page.open({ documentId, passageId, start, end, ...quote });
  }

  body.addEventListener("click", ({ target }) => {
    const index = rows.indexOf(target.closest(".line"));
    if (index >= 0) open(index);
  });
  body.addEventListener("keydown", (event) => {
    const at = rows.indexOf(event.target);
    if (at < 0) return;
    const to = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      PageDown: at + ROWS_OF_A_PAGE,
      PageUp: at - ROWS_OF_A_PAGE,
      Home: 0,
      End: rows.length - 1,
    };
    if (event.key === "Enter") open(at);
    else if (Object.hasOwn(to, event.key)) focus(to[event.key]);
    else return;
    event.preventDefault();
  });
  return { node, add, length: () => rows.length, documents: () => documentsOf(found) };
}

function rowOf(line, index, label) {
  const { left, hit, right, title, date, corpus } = line;
  const whole = [title, date, label(corpus)].filter(Boolean).join(" · ");
  return element(
    "div",
    { role: "row", class: "line", tabindex: "-1", "aria-rowindex": index + 2 },
    element(
      "span",
      { role: "gridcell", class: "line-place", title: whole, "aria-label": whole },
      element("span", { class: "line-title" }, title),
      element("span", {}, yearIn(date)),
    ),
    element("span", { role: "gridcell", class: "line-before" }, element("bdi", {}, onOneLine(left))),
    // one beside the other in one column, so that all hits begin at the same place
    element(
      "span",
      { role: "none", class: "line-rest" },
      element("span", { role: "gridcell", class: "line-hit" }, element("mark", {}, onOneLine(hit))),
      element("span", { role: "gridcell", class: "line-after" }, onOneLine(right)),
    ),
  );
}

function onOneLine(text) {
  return text.replace(/\s+/g, " ");
}

/** The documents of some lines in their order, each with how many lines it has and the first. */
function documentsOf(lines) {
  const found = new Map();
  for (const line of lines) {
    const known = found.get(line.document_id);
    if (known) known.lines += 1;
    else found.set(line.document_id, { ...line, lines: 1, first: line });
  }
  return [...found.values()];
}
