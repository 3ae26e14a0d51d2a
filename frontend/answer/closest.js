/** The quotes that come closest to a question that is not answered, shown as what they are. */

import { quoteItem } from "./citations.js";
import { element } from "../dom.js";
import { say } from "../language.js";

/** A region of its own with these quotes, or null. */
export function closestSection({ qa_id: id, closest }, page) {
  if (closest.length === 0) return null;
  const heading = `closest-${id}`;
  return element(
    "section",
    { class: "closest", "aria-labelledby": heading },
    element("h3", { id: heading }, say("answer.closest")),
    // without numbers, which are those of citations
    element("ul", { class: "citations" }, ...closest.map((quote) => quoteItem(quote, page))),
  );
}
