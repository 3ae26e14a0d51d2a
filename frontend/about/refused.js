/** What the builds refused of the files they were given, and why. */

import { getJson } from "../api.js";
import { element } from "../dom.js";
import { say } from "../language.js";
import { actionButton } from "../words/parts.js";

/** The nodes of the report, of which `sources` is the first page. */
export function refused(sources) {
  const files = say("about.files", { count: sources.files });
  const said =
    sources.refused > 0
      ? say("about.reportSummary", { files, refused: sources.refused })
      : say("about.nothingRefused", { files });
  if (sources.total === 0) return [element("p", {}, `${said} ${say("about.nothingLeft")}`)];
  const list = element("ul", { class: "about-refused" });
  let next = 0;

  function add({ sources: found, next_offset: following }) {
    list.append(...found.map(item));
    next = following;
    more.hidden = next === null;
  }

  const more = actionButton(say("about.next"), async () =>
    add(await getJson(`api/sources?offset=${next}`)),
  );
  add(sources);
  return [element("p", {}, said), list, more];
}

function item({ source, refused: none, documents, remarks, more_remarks: rest }) {
  const state = none ? say("about.refused") : `${say("about.partly")} (${say("page.documents", { count: documents })})`;
  const reasons = remarks.map((remark) => element("li", {}, remark));
  if (rest > 0) reasons.push(element("li", {}, say("about.moreReasons", { count: rest })));
  return element(
    "li",
    {},
    element("strong", {}, source),
    ` ${state}`,
    element("ul", { "aria-label": say("about.reasons") }, ...reasons),
  );
}
