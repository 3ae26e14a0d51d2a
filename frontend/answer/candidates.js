/** Every candidate of every corpus, to the depth that was drawn: the balance between them. */

import { Problem } from "../api.js";
import { element } from "../dom.js";
import { say } from "../language.js";
import { legsOf } from "./why.js";

/** A folded section, loaded when it is first opened. */
export function candidateColumns(answer, explanation, page) {
  const body = element("div", { class: "candidates" });
  const details = element(
    "details",
    { class: "all-candidates" },
    element("summary", {}, say("answer.allCandidates")),
    body,
  );
  details.addEventListener("toggle", () => load(body, answer, explanation, page), { once: true });
  return details;
}

async function load(body, answer, explanation, page) {
  body.replaceChildren(element("p", { class: "hint", role: "status" }, say("answer.loading")));
  try {
    const found = await explanation.candidates();
    const kept = new Set(found.passages.map(({ passage_id: id }) => id));
    const cited = new Set(answer.citations.map(({ passage_id: id }) => id));
    const columns = found.retrieval.corpora.map((corpus) => {
      const own = found.candidates.filter((candidate) => candidate.corpus === corpus);
      return column(corpus, own, { kept, cited, page });
    });
    body.replaceChildren(
      element("p", { class: "hint" }, say("answer.candidatesHint", { count: found.retrieval.depth })),
      element("div", { class: "columns" }, ...columns),
    );
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    body.replaceChildren(element("p", { role: "alert" }, error.message));
  }
}

function column(corpus, candidates, known) {
  const id = `candidates-${corpus}-${crypto.getRandomValues(new Uint32Array(1))[0]}`;
  const items = candidates.map((candidate) => row(candidate, known));
  const kept = candidates.filter(({ passage_id: passage }) => known.kept.has(passage)).length;
  const counts = say("answer.candidatesOf", { count: candidates.length, kept });
  return element(
    "section",
    { "aria-labelledby": id },
    element("h4", { id }, known.page.label(corpus)),
    element("p", { class: "hint" }, counts),
    element("ol", { tabindex: "0", "aria-labelledby": id }, ...items),
  );
}

function row({ passage_id: passageId, rank, score, legs }, { kept, cited, page }) {
  const name = passageId.slice(passageId.indexOf(".") + 1, passageId.lastIndexOf(":"));
  const open = { type: "button", class: "link", onclick: () => page.open({ passageId }) };
  const state = cited.has(passageId) ? "cited" : kept.has(passageId) ? "kept" : null;
  const places = legsOf({ legs }).map((leg) =>
    say(`answer.short_${leg}`, { rank: legs[leg]?.rank ?? "–" }),
  );
  return element(
    "li",
    { value: rank, ...(state && { class: state }) },
    element("span", { class: "rank" }, String(rank)),
    element("button", open, name),
    state && element("strong", { class: "state" }, say(`answer.${state}`)),
    element("span", { class: "place" }, [score.toFixed(3), ...places].join(" · ")),
  );
}
