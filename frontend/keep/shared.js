/** A link to a question or an answer: it fills the form and shows the answer. */

import { getJson, messageOf } from "../api.js";
import { newAnswer } from "../answer/answer.js";
import { restoreForm } from "../ask/scope.js";
import { at, element, plainButton } from "../dom.js";
import { language, say } from "../language.js";
import { KNOWN, NAME } from "./exports.js";

const LONGEST = 4000; // characters of a question

/** Restores what the page's address holds, once the form can be filled. Asks nothing by itself. */
export async function openShared(page) {
  const state = sharedState();
  if (state === null) return;
  const { shared, ...form } = state;
  restoreForm(form);
  const notice = element("div", { class: "notice shared" });
  at("answers").prepend(notice);
  at("empty").hidden = true;
  const again = () => {
    notice.remove();
    page.ask(form.question);
  };
  const offer = plainButton(say("keep.askThis"), again);
  const lead = element("p", {}, say("keep.sharedQuestion", { question: form.question }));
  notice.append(lead, offer);
  if (typeof shared !== "string") return;
  try {
    const answer = await getJson(`api/shared/${encodeURIComponent(shared)}`);
    const when = new Date(answer.created).toLocaleDateString(language, { dateStyle: "long" });
    lead.textContent = say("keep.sharedAnswer", { when });
    show(answer, form, notice, page);
  } catch (error) {
    lead.after(element("p", { role: "alert" }, messageOf(error)));
  }
}

function show(answer, form, notice, page) {
  const { article, on } = newAnswer(answer.question, page, form);
  if (answer.passages) on.references({ passages: answer.passages });
  on.complete(answer);
  notice.after(article);
}

/** Reads the address, or null; anybody can have written it. */
function sharedState() {
  const written = new URLSearchParams(location.hash.slice(1)).get(NAME);
  if (written === null) return null;
  let state;
  try {
    state = JSON.parse(written);
  } catch {
    return null;
  }
  if (typeof state?.question !== "string" || state.question.length > LONGEST) return null;
  const fields = Object.fromEntries(KNOWN.map((name) => [name, state[name]]).filter(isGood));
  return { ...fields, shared: state.shared };
}

function isGood([name, value]) {
  if (name === "filters") return typeof value === "object" && value !== null && !Array.isArray(value);
  if (name === "k") return Number.isInteger(value);
  if (["require", "exclude"].includes(name)) return isWords(value);
  if (name === "corpus_filter") return typeof value === "string" || isWords(value);
  return typeof value === "string";
}

function isWords(value) {
  return Array.isArray(value) && value.every((word) => typeof word === "string");
}
