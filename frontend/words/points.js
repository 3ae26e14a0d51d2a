/** The points of a trend: what they are called, and what finds their documents. */

import { fieldName, valueName as fieldValue } from "../ask/fields.js";
import { say } from "../language.js";

/** A cell of what was counted `by`, as something that lines can be asked of. */
export function pointOf(by, { value, corpus, filters }) {
  return { by, value, corpus: by === "corpus" ? null : corpus, filters };
}

/** `1990s, Legal UK` */
export function pointName({ by, value, corpus }, label) {
  const parts = [valueName(by, value, label), ...(corpus ? [label(corpus)] : [])];
  return parts.join(", ");
}

/** The value of a cell in words. */
export function valueName(by, value, label) {
  const isTime = by === "year" || by === "decade";
  if (value === null) return isTime ? say("words.undated") : say("words.unstated");
  if (by === "corpus") return label(value);
  return isTime ? value : `${fieldName(by)}: ${fieldValue(by, value)}`;
}
