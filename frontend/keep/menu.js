/** The menu of a quotation: it is copied, noted on, put onto the reading list. */

import { asCitation, citeSelection, citedQuotation, citedReferences, copy } from "./citing.js";
import { element, linkButton } from "../dom.js";
import { keepReading } from "./kept.js";
import { say } from "../language.js";
import { newOutcome } from "../parts.js";

/** Resolves to what to say of a note once it is written, or of none. */
async function noted(citation) {
  const { writeNote } = await import("./note_dialog.js");
  return (await writeNote({ citation })) ? say("keep.noted") : "";
}

/** Adds a menu to each passage that an answer's article shows: of what is quoted first, or of all of it. */
export function offerKeeping(article, { citations, closest }, passages) {
  for (const item of article.querySelectorAll(".sources li[data-passage]")) {
    const isOf = ({ passage_id: id }) => id === item.dataset.passage;
    const found = [...citations, ...closest, ...passages].find(isOf);
    item.querySelector(".tools").append(keepMenu(found));
  }
}

/** The folded menu of one citation or passage. */
function keepMenu(found) {
  const citation = asCitation(found);
  const { node, attempt } = newOutcome();
  const actions = [
    ["copyQuotation", () => copy(citedQuotation(citation))],
    ["copyReference", () => copy(citedReferences([citation]))],
    ["addNote", () => noted(citation)],
    ["addReading", () => listed(citation)],
  ];
  const buttons = actions.map(([name, step]) =>
    element("li", {}, linkButton(say(`keep.${name}`), () => attempt(step))),
  );
  const summary = { "aria-label": say("keep.keepNamed", { title: citation.title }) };
  return element(
    "details",
    { class: "keep-menu" },
    element("summary", summary, say("keep.keep")),
    element("ul", {}, ...buttons),
    node,
  );
}

function listed(citation) {
  return keepReading(citation).then(() => say("keep.listed"));
}

/** Lists actions on selected words, {label, run(selection)}; what comes of them is told
 * in `place`. */
export function keepSelections(place) {
  const { node, attempt } = newOutcome();
  place.append(node);
  const actions = {
    addNote: async (selection) => noted(await citeSelection(selection)),
    copyCited: (selection) => copy(citeSelection(selection).then(citedQuotation)),
    addReading: async (selection) => listed(await citeSelection(selection)),
  };
  return Object.entries(actions).map(([name, step]) => ({
    label: say(`keep.${name}`),
    run: (selection) => attempt(() => step(selection)),
  }));
}
