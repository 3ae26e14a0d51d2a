/** What is written about a question: references, whether it is answered, category and split. */

import { element } from "../dom.js";

const at = (id) => document.getElementById(id);

/** Reads and shows the fields of a label; `changed` is called when somebody writes. */
export function createForm(changed) {
  const references = at("references");

  function add(text = "") {
    const number = references.children.length + 1;
    const id = `reference-${number}`;
    const field = element("textarea", { id, rows: "2", class: "reference" });
    field.value = text;
    const label = element("label", { for: id }, number === 1 ? "Answer" : `Answer ${number}`);
    references.append(element("div", {}, label, field));
    return field;
  }

  function choose(value) {
    const said = value === null ? "" : value ? "yes" : "no";
    document.querySelector(`input[name=should-answer][value="${said}"]`).checked = true;
  }

  function chooseSplit(split) {
    const select = at("split");
    if (![...select.options].some((option) => option.value === split)) {
      select.append(element("option", { value: split }, split));
    }
    select.value = split;
  }

  at("add-reference").addEventListener("click", () => add().focus());
  for (const id of ["search-form", "label-form"]) at(id).addEventListener("input", changed);

  return {
    show({ question, answers, should_answer: answered, category, split }) {
      at("question").value = question;
      references.replaceChildren();
      (answers.length > 0 ? answers : [""]).forEach(add);
      choose(answered);
      at("category").value = category;
      chooseSplit(split);
    },
    read() {
      const said = document.querySelector("input[name=should-answer]:checked").value;
      return {
        question: at("question").value,
        answers: [...references.querySelectorAll("textarea")]
          .map((field) => field.value)
          .filter((text) => text.trim() !== ""),
        should_answer: said === "" ? null : said === "yes",
        category: at("category").value,
        split: at("split").value,
      };
    },
  };
}

/** Offers the categories that labels have already. */
export function offerCategories(labels) {
  const known = [...new Set(labels.map((label) => label.category))].sort();
  at("categories").replaceChildren(...known.map((value) => element("option", { value })));
}
