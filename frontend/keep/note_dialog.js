/** Writing a note on a quotation. */

import { messageOf } from "../api.js";
import { element, linkButton, onSubmit, plainButton, withLabel } from "../dom.js";
import { asJson } from "./files.js";
import { keepNote } from "./kept.js";
import { say } from "../language.js";
import { download } from "../parts.js";

const LONGEST = 20_000;

/** Opens a note, or a new one on `citation`; resolves once it is closed, to whether it was kept.
 * While a dialog is open no second one opens: a button may be pressed twice while this loads. */
export async function writeNote({ text = "", tags = [], ...note }) {
  if (document.querySelector("dialog[open]")) return false;
  const area = element("textarea", { id: "note-text", rows: 5, maxlength: LONGEST });
  const field = element("input", { id: "note-tags", type: "text", autocomplete: "off" });
  field.setAttribute("aria-describedby", "note-tags-hint");
  const alert = element("div", { role: "alert", hidden: "" });
  const close = plainButton(say("page.cancel"), () => dialog.close());
  const form = element(
    "form",
    {},
    element("h2", { id: "note-title" }, say(note.id ? "keep.editNote" : "keep.newNote")),
    element("blockquote", { tabindex: "0" }, note.citation.quote),
    ...withLabel(say("keep.note"), area),
    ...withLabel(say("feedback.tags"), field),
    element("p", { class: "hint", id: "note-tags-hint" }, say("keep.tagsHint")),
    alert,
    element("div", { class: "buttons" }, element("button", { class: "primary" }, say("keep.save")), close),
  );
  const dialog = element("dialog", { class: "note-dialog", "aria-labelledby": "note-title" }, form);
  area.value = text;
  field.value = tags.join(", ");
  let kept = false;

  onSubmit(form, async () => {
    const written = { ...note, text: area.value.trim(), tags: tagsIn(field.value) };
    try {
      await keepNote(written);
      kept = true;
      dialog.close();
    } catch (error) {
      const message = messageOf(error);
      const save = () => download(asJson([{ id: "unkept", ...written }], []));
      alert.replaceChildren(element("p", {}, message), linkButton(say("keep.takeHome"), save));
      alert.hidden = false;
    }
  });
  document.body.append(dialog);
  dialog.showModal(); // closing it gives the focus back
  area.focus();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(kept);
    });
  });
}

/** Tags between commas, each once. */
function tagsIn(text) {
  const words = text.split(",").map((tag) => tag.trim().replaceAll(/\s+/g, " "));
  return [...new Set(words.filter(Boolean))];
}
