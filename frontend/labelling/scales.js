/** Scales as groups of numbers. */

import { element } from "../dom.js";

/** `changed` is called when a number is chosen by a key. */
export function createScales(place, scales, changed) {
  const groups = scales.map((scale, index) => ({ name: scale.name, node: group(scale, index) }));
  place.replaceChildren(...groups.map(({ node }) => node));

  function chosen(node) {
    return node.querySelector("input:checked");
  }

  return {
    nodes: groups.map(({ node }) => node),
    show(scores) {
      for (const { name, node } of groups) {
        for (const input of node.querySelectorAll("input")) {
          input.checked = input.value === String(scores[name]);
        }
      }
    },
    read() {
      const given = groups.filter(({ node }) => chosen(node) !== null);
      return Object.fromEntries(given.map(({ name, node }) => [name, Number(chosen(node).value)]));
    },
    /** Chooses on the scale that has the focus; 0 is 10 where there is no 0. */
    choose(number) {
      const found = groups.find(({ node }) => node.contains(document.activeElement));
      const at = (value) => found?.node.querySelector(`input[value="${value}"]`);
      const input = at(number) ?? (number === 0 ? at(10) : null);
      if (!input) return;
      input.checked = true;
      changed();
    },
  };
}

function group({ name, low, high, description }, index) {
  const numbers = Array.from({ length: high - low + 1 }, (_, step) => low + step);
  const id = `scale-${index}`; // names may differ in signs alone
  const choices = numbers.map(String).map((value) => {
    const input = element("input", { type: "radio", name: id, value });
    return element("label", {}, input, value);
  });
  return element(
    "fieldset",
    { class: "rated-scale", tabindex: "-1", "aria-describedby": id },
    element("legend", {}, name),
    element("p", { class: "hint", id, ...(description === "" && { hidden: "" }) }, description),
    element("div", { class: "points" }, ...choices),
  );
}
