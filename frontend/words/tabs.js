/** A row of tabs over one panel. */

import { element } from "../dom.js";
import { say } from "../language.js";

/** {list, panel, show(name)}; `choose` is called with the name of a tab that is picked. */
export function newTabs(names, choose) {
  const buttons = names.map((name) =>
    element(
      "button",
      { type: "button", role: "tab", id: `words-tab-${name}`, "aria-controls": "words-panel" },
      say(`words.${name}`),
    ),
  );
  const label = { class: "tabs", role: "tablist", "aria-label": say("words.tabs") };
  const list = element("div", label, ...buttons);
  const panel = element("div", { id: "words-panel", role: "tabpanel", tabindex: "-1" });

  function show(chosen) {
    for (const [index, button] of buttons.entries()) {
      const is = names[index] === chosen;
      button.setAttribute("aria-selected", String(is));
      button.tabIndex = is ? 0 : -1;
      if (is) panel.setAttribute("aria-labelledby", button.id);
    }
  }

  list.addEventListener("click", ({ target }) => {
    const index = buttons.indexOf(target.closest("[role=tab]"));
    if (index >= 0) choose(names[index]);
  });
  list.addEventListener("keydown", (event) => {
    const present = buttons.indexOf(document.activeElement);
    const to = { ArrowLeft: present - 1, ArrowRight: present + 1, Home: 0, End: names.length - 1 };
    if (present < 0 || !Object.hasOwn(to, event.key)) return;
    event.preventDefault();
    const index = (to[event.key] + names.length) % names.length;
    buttons[index].focus();
    choose(names[index]);
  });
  return { list, panel, show };
}
