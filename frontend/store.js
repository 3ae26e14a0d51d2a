/** Which of several collections the page is about: its address says so, so that it can be sent. */

import { element } from "./dom.js";
import { say } from "./language.js";

const chosen = new URLSearchParams(location.search).get("collection");

/** The headers that choose it in a request; none for the server's own. */
export const storeHeader = chosen ? { "Atlas-Collection": encodeURIComponent(chosen) } : {};

/** The query of the page for a passage of it. */
export function passageQuery(passageId) {
  const query = { ...(chosen && { collection: chosen }), passage: passageId };
  return `?${new URLSearchParams(query)}`;
}

/** Lets choose between collections where several are served; the page is loaded anew for another. */
export function offerStores({ default: own, collections }) {
  if (collections.length < 2) return;
  const options = collections.map(({ name, documents }) =>
    element(
      "option",
      { value: name },
      documents ? sized(name, documents) : name,
    ),
  );
  const select = element("select", { id: "store" }, ...options);
  select.value = chosen ?? own;
  select.addEventListener("change", () => {
    const query = select.value === own ? "" : `?${new URLSearchParams({ collection: select.value })}`;
    location.assign(location.pathname + query);
  });
  const corpora = document.querySelector("label[for=collection]");
  corpora.before(element("label", { for: "store" }, say("ask.store")), select);
}

function sized(name, count) {
  return say("ask.corpusOption", { label: name, documents: say("page.documents", { count }) });
}
