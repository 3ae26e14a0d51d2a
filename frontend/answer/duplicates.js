/** Passages that were left out because they say nearly the same as one that is shown. */

import { element } from "../dom.js";
import { say } from "../language.js";

/** A folded list of them, each of which can be opened; null without any. */
export function duplicateList(ids, page) {
  if (ids.length === 0) return null;
  const items = ids.map((id) => {
    const open = { type: "button", class: "link", onclick: () => page.open({ passageId: id }) };
    return element("li", {}, element("button", open, id.slice(0, id.lastIndexOf(":"))));
  });
  return element(
    "details",
    { class: "duplicates" },
    element("summary", {}, say("answer.duplicates", { count: ids.length })),
    element("ul", {}, ...items),
  );
}
