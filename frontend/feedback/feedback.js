/** What a reader says of one answer: shown at once, and sent one request after the other. */

import { newId, Problem, sendFeedback } from "../api.js";
import { say } from "../language.js";
import { browser } from "../storage.js";

const KEPT_AS = "atlas-reader";
const GONE = 404;
const BY_ITEM = ["scores", "passages", "citations"];
const NOTHING = {
  thumb: null,
  scores: {},
  tags: null,
  comment: null,
  passages: {},
  citations: {},
};

/** The feedback to an answer, of which nothing is said yet.
 *
 * `change` takes fields of the request, null to withdraw. `watch` calls back now and whenever
 * something changes, with {said, state, problem}; `state` is "quiet", "saving", "saved", "failed"
 * or "gone". What could not be sent is kept, and goes with the next change or with `send`.
 */
export function newFeedback(qaId, { hasName }) {
  const watchers = [];
  let said = NOTHING;
  let waiting = null; // changes that the server does not have
  let state = "quiet";
  let problem = "";

  function show(...now) {
    [state, problem = ""] = now;
    for (const watcher of watchers) watcher({ said, state, problem });
  }

  function change(fields) {
    if (state === "gone") return;
    said = merged(said, fields);
    waiting = merged(waiting, fields);
    if (state === "saving") show("saving");
    else send();
  }

  async function send() {
    if (state === "saving") return;
    while (waiting !== null) {
      const sent = waiting;
      waiting = null;
      show("saving");
      try {
        const kept = await sendFeedback({ qa_id: qaId, ...(hasName() ? {} : voter()), ...sent });
        // what was changed meanwhile is newer
        if (waiting === null) said = fieldsOf(kept);
      } catch (error) {
        waiting = merged(sent, waiting);
        return explain(error);
      }
    }
    show("saved");
  }

  function explain(error) {
    const known = error instanceof Problem;
    if (error.status === GONE) show("gone");
    else show("failed", known ? error.message : say("feedback.pageFailed"));
    if (!known) throw error;
  }

  function watch(watcher) {
    watchers.push(watcher);
    watcher({ said, state, problem });
  }

  return { change, send, watch };
}

/** Who votes where no keys are used: a random id, made for the first vote of a browser. */
function voter() {
  const id = browser.find(KEPT_AS) ?? newId();
  browser.keep(KEPT_AS, id);
  return { user_id: id };
}

/** Fields with later ones over them; either may be null. */
function merged(fields, later) {
  const all = { ...fields, ...later };
  for (const name of BY_ITEM) {
    if (name in all) all[name] = { ...fields?.[name], ...later?.[name] };
  }
  return all;
}

function fieldsOf(kept) {
  const named = Object.keys(NOTHING).map((name) => [name, kept[name]]);
  return merged(NOTHING, Object.fromEntries(named));
}
