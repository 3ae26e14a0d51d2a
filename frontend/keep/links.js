/** Links that restore a question and show its answer; what they say stands behind `#`, where no
 * server sees it. */

import { sendJson } from "../api.js";

export const NAME = "ask";
export const KNOWN = [
  "question",
  "target",
  "k",
  "mode",
  "corpus_filter",
  "filters",
  "require",
  "exclude",
];

/** The address of a question as it was asked. */
export function questionLink(asked) {
  return address(asked);
}

/** The address of an answer too, which the server keeps for a week. Raises Problem. */
export async function answerLink(answer, asked) {
  const { url } = await sendJson("POST", `api/ask/${encodeURIComponent(answer.qa_id)}/link`, {});
  return address({ ...asked, shared: url.slice(url.lastIndexOf("/") + 1) });
}

function address(state) {
  const own = new URL(location.pathname, location.href);
  const collection = new URLSearchParams(location.search).get("collection");
  if (collection) own.searchParams.set("collection", collection);
  const known = [...KNOWN, "shared"].filter((name) => state[name] != null);
  const said = Object.fromEntries(known.map((name) => [name, state[name]]));
  own.hash = new URLSearchParams({ [NAME]: JSON.stringify(said) });
  return own.href;
}
