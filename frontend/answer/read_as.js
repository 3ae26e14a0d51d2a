/** What a follow-up that points back to earlier questions was read as. */

import { element } from "../dom.js";

/** The question that was searched for, or the one that could have been, each with the other to ask;
 * null if there is only one. */
export function readAs({ question, standalone_question: searched, read_as: offered }, page) {
  if (searched !== null) {
    const again = control("Ask as written", () => page.askAsWritten(question));
    return line(`Read as: “${searched}” · `, again);
  }
  if (offered === null) return null;
  return line("Asked as written · ", control(`Ask “${offered}”`, () => page.ask(offered)));
}

function line(...content) {
  return element("p", { class: "hint read-as" }, ...content);
}

function control(label, onclick) {
  return element("button", { type: "button", class: "link", onclick }, label);
}
