/** Scales as groups of numbers. */

import { element } from "../dom.js";

/** `changed` is called when a number is chosen by a key. */
export function createScales(place, scales, changed) {
  const groups = scales.map((scale) => ({ name: scale.name, node: group(scale) }));
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
    /** Chooses on the scale that has the focus. */
    choose(number) {
      const found = groups.find(({ node }) => node.contains(document.activeElement));
      const input = found?.node.querySelector(`input[value="${number}"]`);
      if (!input) return;
      input.checked = true;
      changed();
    },
  };
}

function group({ name, low, high, description }) {
  const numbers = Array.from({ length: high - low + 1 }, (_, step) => low + step);
  const id = `scale-${name.replaceAll(/\W/g, "-")}`;
  const choices = numbers.map((number) =>
    element("label", {}, element("input", { type: "radio", name: id, value: String(number) }), String(number)),
  );
  return element(
    "fieldset",
    { class: "rated-scale", tabindex: "-1", "aria-describedby": id },
    element("legend", {}, name),
    element("p", { class: "hint", id, ...(description === "" && { hidden: "" }) }, description),
    element("div", { class: "points" }, ...choices),
  );
}
