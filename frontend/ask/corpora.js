/** Which corpora are looked through: all, one, or several that are ticked. */

import { element } from "../dom.js";
import { say } from "../language.js";
import { changeScope, chosenScope, onScopeChange } from "./scope.js";

const SEVERAL = "several:"; // an id of a corpus holds no colon

const at = (id) => document.getElementById(id);

/** Fills the dropdown, the boxes of "Several …" and the choice to compare. */
export function offerCorpora({ corpora, all }) {
  const select = at("collection");
  const box = at("several");
  const boxes = new Map();

  const options = corpora.map(({ id, label, documents }) =>
    element("option", { value: id }, corpusOption(label, documents)),
  );
  if (all.length < corpora.length) {
    select.options[0].textContent = say("ask.allOfSome", {
      some: all.length,
      corpora: say("page.corpora", { count: corpora.length }),
    });
  }
  // of two corpora the only several are all
  if (corpora.length > 2 || all.length < corpora.length) {
    options.push(element("option", { value: SEVERAL }, say("ask.several")));
  }
  select.append(...options);
  for (const { id, label, documents } of corpora) addBox(id, corpusOption(label, documents));

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
