/** The turns of a conversation: what each was asked after, and what a next one may refer to. */

import { newId } from "../api.js";

/** A conversation without a turn; `turns` are in the order they were asked. */
export function newSession() {
  return { id: newId(), begun: Date.now(), turns: [], running: null };
}

/** A question as it is asked: after the turn with the id `parent`, or null. */
export function newTurn(request, parent) {
  return {
    id: newId(),
    at: Date.now(),
    parent,
    request,
    state: "asked",
    references: null,
    answer: null,
    problem: null,
  };
}

/** The id of the latest turn, which the next follows; null before the first. */
export function latest({ turns }) {
  return turns.at(-1)?.id ?? null;
}

/** The turns up to the one with this id: each the one that the next was asked after. */
export function line({ turns }, id) {
  const byId = new Map(turns.map((turn) => [turn.id, turn]));
  const found = [];
  for (let turn = byId.get(id); turn; turn = byId.get(turn.parent)) found.unshift(turn);
  return found;
}

/** What was said in answered turns, as the server takes it. */
export function historyOf(turns) {
  return turns.filter((turn) => turn.answer !== null).flatMap(said);
}

function said({ request, answer }) {
  return [
    // as it was read, so that the next follow-up can point to what it names
    { role: "user", content: answer.standalone_question ?? request.question },
    { role: "assistant", content: spoken(answer) },
  ];
}

/** An answer as a later question may refer to it: without markers, which are good only once. */
function spoken({ sentences, reason }) {
  return sentences.map((sentence) => sentence.text).join(" ") || reason.message;
}
