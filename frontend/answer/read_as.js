/** What a follow-up that points back to earlier questions was read as, and can be read as instead. */

import { element } from "../dom.js";
import { say, sayNodes } from "../language.js";

/** The question that was searched for, or the one that could have been, each with the other to ask;
 * null if there is only one. */
export function readAs({ question, qa_id: id, standalone_question: searched, read_as: offered }, page) {
  if (searched !== null) {
    const asWritten = control(say("ask.askAsWritten"), () => page.askAsWritten(question, id));
    const change = control(say("ask.changeReading"), () => changeReading(whole, searched, id, page));
    const whole = line(sayNodes("ask.readAs", { reading: searched, asWritten, change }));
    return whole;
  }
  if (offered === null) return null;
  const again = control(say("ask.askReading", { reading: offered }), () => page.ask(offered));
  return line(sayNodes("ask.askedAsWritten", { again }));
}

/** A field in place of the line, to ask for what was meant. */
function changeReading(whole, searched, id, page) {
  const field = element("input", {
    type: "text",
    maxlength: "4000",
    required: "",
    "aria-label": say("ask.reading"),
  });
  field.value = searched;
  const form = element(
    "form",
    { class: "read-as" },
    field,
    element(
      "div",
      { class: "buttons" },
      element("button", { class: "primary" }, say("ask.askThis")),
      control(say("ask.keepReading"), end),
    ),
  );

  function end() {
    form.replaceWith(whole);
    whole.querySelector("button:last-of-type").focus();
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const meant = field.value.trim();
    if (meant === "") return;
    page.askAsWritten(meant, id);
    end();
  });
  form.addEventListener("keydown", (event) => {
    if (event.key === "Escape") end();
  });
  whole.replaceWith(form);
  field.focus();
}

function line(content) {
  return element("p", { class: "hint read-as" }, ...content);
}

function control(label, onclick) {
  return element("button", { type: "button", class: "link", onclick }, label);
}
