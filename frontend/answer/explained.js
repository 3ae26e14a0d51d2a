/** Why passages rank where they do: weights of the target, and every candidate's places. */

import { getJson, sendJson } from "../api.js";

const FUSED = new Set(["fused", "cross-encoder", "cohere"]);

let targets = null;

/** What can be asked about one answer: `weights()` and `candidates()`, each loaded once. */
export function explain(answer) {
  let found = null;
  return {
    weights: () => weightsOf(answer.target, answer.retrieval.legs),
    candidates() {
      found ??= search(answer);
      found.catch(() => (found = null)); // worth another try
      return found;
    },
  };
}

/** {weights, total}: none where another rule than their mean orders. */
async function weightsOf(name, legs) {
  targets ??= getJson("api/targets");
  targets.catch(() => (targets = null));
  const target = (await targets).targets.find((each) => each.name === name);
  const settings = target?.settings ?? {};
  const weights = FUSED.has(settings.RERANKER) ? weightsIn(settings, legs) : {};
  const total = Object.values(weights).reduce((sum, weight) => sum + weight, 0);
  return { weights, total };
}

function weightsIn(settings, legs) {
  const named = Object.entries(settings).filter(
    ([key]) => key.startsWith("WEIGHT_") && (key !== "WEIGHT_SPARSE" || legs.includes("sparse")),
  );
  return Object.fromEntries(
    named.map(([key, weight]) => [key.slice("WEIGHT_".length).toLowerCase(), weight]),
  );
}

/** The same search again, with every candidate; it is not traced a second time. */
function search({ question, standalone_question: searched, target, scope, retrieval }) {
  const everything = scope.corpora.length === scope.all_corpora;
  return sendJson("POST", "api/search", {
    question: searched ?? question,
    corpus_filter: everything ? "all" : scope.corpora.map(({ id }) => id),
    filters: scope.filters,
    require: retrieval.required,
    exclude: retrieval.excluded,
    target,
    explain: true,
    telemetry: false,
  });
}
