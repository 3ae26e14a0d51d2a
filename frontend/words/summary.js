/** What was counted, in a sentence. */

import { say } from "../language.js";
import { rateOf } from "./parts.js";

/** The total of a trend, or of counts by a field, as nodes. */
export function countSummary({ total }) {
  const said = say("words.summary", {
    hits: say("words.hits", { count: total.hits ?? 0 }),
    documents: say("page.documents", { count: total.documents }),
    passages: say("page.passages", { count: total.passages }),
    words: say("words.wordCount", { count: total.words }),
  });
  const rate = total.hits ? ` ${say("words.rate", { rate: rateOf(total.per_million) })}.` : "";
  return [`${said}.${rate}`];
}
