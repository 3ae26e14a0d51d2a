/** The exact count that a question asked for, in place of an answer from passages. */

import { setScope } from "../ask/scope.js";
import { element } from "../dom.js";
import { say } from "../language.js";

/** What an answer has `counted`, with a way to the lines; `asked` is the request it was asked with. */
export function countNote({ words, query, documents: count }, asked, page) {
  const said = { count, query: `“${words}”`, documents: say("page.documents", { count }) };
  const text = count > 0 ? say("words.countInstead", said) : say("words.countNone", said);
  const show = () => {
    setScope(asked); // elsewhere there are other lines
    page.showWords(query);
  };
  const button = { type: "button", class: "link", onclick: show };
  const lines = count > 0 ? element("button", button, say("words.countShow")) : null;
  return element("p", { class: "counted notice" }, `${text} `, lines);
}
