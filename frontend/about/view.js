/** What the collection holds, what is missing in it, how it was made, and what was refused. */

import { getJson, Problem } from "../api.js";
import { element, styled } from "../dom.js";
import { say } from "../language.js";
import { corporaTable, kindsTable, madeOf, sizes } from "./facts.js";
import { documentList } from "./documents.js";
import { refused } from "./refused.js";
import { documentsOverTime } from "./time.js";

const SHEETS = ["words/words.css", "charts/charts.css", "about/about.css"];

/** The view, {submit(question), shown()}; `page` is that of app.js. */
export async function openAbout(page) {
  await Promise.all([...SHEETS.map(styled), page.loaded.catch(() => {})]);
  const place = document.getElementById("about");
  let version = null;

  async function shown() {
    if (version === null) place.replaceChildren(element("p", { role: "status" }, say("about.loading")));
    try {
      const [stats, sources] = await Promise.all([getJson("api/stats"), getJson("api/sources")]);
      if (stats.version === version) return; // what is there stays as the reader left it
      version = stats.version;
      place.replaceChildren(...parts(stats, sources, page));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      version = null;
      place.replaceChildren(element("p", { role: "alert" }, error.message));
    }
  }

  /** A question that is typed here is one like any other. */
  async function submit(question) {
    (await page.show("ask")).submit(question);
  }

  return { submit, shown };
}

function parts(stats, sources, page) {
  const list = documentList(stats, page);
  return [
    element("h2", { class: "about-title" }, say("about.heading")),
    overview(stats),
    part("corpora", ...sizes(stats), corporaTable(stats), ...kindsTable(stats)),
    part("overTime", ...documentsOverTime(stats, list.narrow)),
    part("list", ...list.nodes),
    part("report", ...refused(sources)),
    part("made", madeOf(stats)),
  ];
}

function part(name, ...nodes) {
  const title = element("h3", { id: `about-${name}` }, say(`about.${name}`));
  return element("section", { class: "about-part", "aria-labelledby": title.id }, title, ...nodes);
}

function overview({ all, corpora }) {
  const { first, last, undated } = all.dates;
  const sentences = [
    say("about.holds", {
      documents: say("page.documents", { count: all.documents }),
      corpora: say("page.corpora", { count: corpora.length }),
      passages: say("page.passages", { count: all.passages }),
      words: say("about.words", { count: all.words }),
    }),
    ...(first && last ? [say("about.dates", { first, last })] : []),
    ...(undated > 0 ? [say("about.undated", { count: undated })] : []),
  ];
  return element("p", { class: "about-overview" }, sentences.join(" "));
}
