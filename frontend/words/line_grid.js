/** The lines as a grid: one row has the focus, arrow keys move it, Enter opens the passage. */

import { element } from "../dom.js";
import { say } from "../language.js";

const ROWS_OF_A_PAGE = 10; // that PageUp and PageDown go

/** {node, add(lines), length(), documents()} of a grid that will have `total` rows. */
export function newGrid(total, { page, label }) {
  const rows = [];
  const found = [];
  const body = element("div", { role: "rowgroup" });
  const [before, hit, after, place] = ["before", "hit", "after", "place"].map((name) =>
    element("span", { role: "columnheader", class: `line-${name}` }, say(`words.${name}`)),
  );
  const rest = element("span", { role: "none", class: "line-rest" }, hit, after);
  const heads = element("div", { role: "row", class: "line head" }, before, rest, place);
  const named = { role: "grid", class: "lines", "aria-label": say("words.table") };
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
    for (const row of body.querySelectorAll("[tabindex='0']")) row.tabIndex = -1;
    rows[to].tabIndex = 0;
    rows[to].focus();
  }

  function open(index) {
    const { document_id: documentId, passage_id: passageId, start, end, hit } = found[index];
    for (const row of body.querySelectorAll("[aria-selected=true]")) {
      row.removeAttribute("aria-selected");
    }
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
  const place = [title, date, label(corpus)].filter(Boolean).join(" · ");
  return element(
    "div",
    { role: "row", class: "line", tabindex: "-1", "aria-rowindex": index + 2 },
    element("span", { role: "gridcell", class: "line-before" }, element("bdi", {}, onOneLine(left))),
    // one beside the other in one column, so that all hits begin at the same place
    element(
      "span",
      { role: "none", class: "line-rest" },
      element("span", { role: "gridcell", class: "line-hit" }, element("mark", {}, onOneLine(hit))),
      element("span", { role: "gridcell", class: "line-after" }, onOneLine(right)),
    ),
    element("span", { role: "gridcell", class: "line-place", title: place }, place),
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
