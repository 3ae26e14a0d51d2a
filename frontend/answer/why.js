/** Why a passage stands where it does: signals with their weights, legs, first and second score. */

import { Problem } from "../api.js";
import { definitions, element } from "../dom.js";
import { say } from "../language.js";

/** The legs that every collection has, and one that a collection may have. */
export const legsOf = ({ legs }) => ["dense", "lexical", ...(legs.sparse ? ["sparse"] : [])];

/** A folded note; what the server must be asked for is loaded when it is first opened. */
export function whyHere(passage) {
  const body = element("div", { class: "why" }, signalTable(passage, null));
  const details = element("details", {}, element("summary", {}, say("answer.whyHere")), body);
  details.explainBy = (explanation) => {
    details.addEventListener("toggle", () => fill(body, passage, explanation), { once: true });
  };
  return details;
}

/** Tells the notes in `list` where to ask, once the answer is known. */
export function explainPassages(list, explanation) {
  for (const details of list.querySelectorAll("details")) details.explainBy?.(explanation);
}

async function fill(body, passage, explanation) {
  try {
    const [weights, found] = await Promise.all([explanation.weights(), explanation.candidates()]);
    const candidate = found.candidates.find(({ passage_id: id }) => id === passage.passage_id);
    body.replaceChildren(
      signalTable(passage, weights),
      definitions([...scores(passage), ...places(candidate)]),
    );
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    body.append(element("p", { role: "alert" }, error.message));
  }
}

function scores({ score, signals }) {
  const { relevance: second } = signals; // of the passages that a model read again alone
  if (second === undefined) return [[say("answer.scoreIs"), score.toFixed(3)]];
  return [
    [say("answer.firstScore"), score.toFixed(3)],
    [say("answer.secondScore"), second.toFixed(3)],
  ];
}

/** Where each leg had it among the candidates of its corpus. */
function places(candidate) {
  if (candidate === undefined) return [[say("answer.legs"), say("answer.noCandidate")]];
  const legs = legsOf(candidate).map((leg) => [say(`answer.leg_${leg}`), legPlace(candidate.legs[leg])]);
  return [...legs, [say("answer.rankOfAll"), String(candidate.rank)]];
}

/** `3rd of its corpus, 0.512` in words, or that the leg did not find it. */
export function legPlace(leg) {
  if (leg === undefined) return say("answer.notByLeg");
  return say("answer.legPlace", { rank: leg.rank, score: leg.score.toFixed(3) });
}

/** Signals, by what they add to the score where that is known, else by size. */
function signalTable(passage, weights) {
  const total = weights?.total ?? 0;
  const weighted = total > 0;
  const rows = Object.entries(passage.signals).map(([name, value]) => {
    const weight = weights?.weights[name] ?? 0;
    return { name, value, weight, share: weighted ? (value * weight) / total : value };
  });
  rows.sort((a, b) => b.share - a.share || b.value - a.value || (a.name < b.name ? -1 : 1));
  const share = Math.round(passage.overlap * 100);
  const heads = ["signal", "value", ...(weighted ? ["weight", "adds"] : [])];
  return element(
    "table",
    { class: "signals" },
    element("caption", {}, say("answer.signalsCaption", { share })),
    element(
      "thead",
      {},
      element(
        "tr",
        {},
        ...heads.map((head) => element("th", { scope: "col" }, say(`answer.${head}`))),
        element("td", {}),
      ),
    ),
    element("tbody", {}, ...rows.map((row) => signalRow(row, weighted, rows[0].share || 1))),
  );
}

function signalRow({ name, value, weight, share }, weighted, most) {
  const bar = element("span", { class: "bar", "aria-hidden": "true" });
  // set as a property: the page's policy forbids style attributes
  bar.style.inlineSize = `${weighted ? (share / most) * 100 : value * 100}%`;
  const counts = weight > 0 ? [weight.toFixed(2), share.toFixed(3)] : ["–", "–"];
  const more = weighted ? counts.map((number) => element("td", {}, number)) : [];
  return element(
    "tr",
    {},
    element("th", { scope: "row" }, SIGNALS.has(name) ? say(`answer.signal_${name}`) : name),
    element("td", {}, value.toFixed(3)),
    ...more,
    element("td", { class: "track" }, bar),
  );
}

const SIGNALS = new Set(
  "semantic bm25 phrase exact frequency proximity title metadata neighbours sparse".split(" "),
);
