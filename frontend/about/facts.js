/** The corpora and kinds of source in figures, and how the collection was made. */

import { definitions, element } from "../dom.js";
import { language, say } from "../language.js";
import { heading } from "../text.js";
import { sortable } from "../words/table.js";

const names = new Intl.DisplayNames(language, { type: "language" });
const moments = new Intl.DateTimeFormat(language, { dateStyle: "long", timeStyle: "short" });
const shares = new Intl.NumberFormat(language, { style: "percent", maximumFractionDigits: 1 });

/** A row for each corpus. */
export function corporaTable({ corpora }) {
  const columns = [
    { head: say("about.corpus"), cell: ({ label }) => label },
    { head: say("about.documents"), number: ({ documents }) => documents },
    { head: say("about.passages"), number: ({ passages }) => passages },
    { head: say("about.wordsHead"), number: ({ words }) => words },
    { head: say("about.from"), cell: ({ dates }) => dates.first ?? "–" },
    { head: say("about.to"), cell: ({ dates }) => dates.last ?? "–" },
    { head: say("about.undatedHead"), number: ({ dates }) => dates.undated },
    { head: say("about.languageHead"), cell: (corpus) => languageName(corpus.language) },
  ];
  return sortable(columns, corpora);
}

/** Words by corpus and, of several, by language, as bars; their figures stand beside them. */
export function sizes({ corpora }) {
  const languages = new Map();
  for (const { language: code, words } of corpora) languages.set(code, (languages.get(code) ?? 0) + words);
  const byCorpus = bars(say("about.bySize"), corpora.map(({ label, words }) => [label, words]));
  const named = Array.from(languages, ([code, words]) => [languageName(code), words]);
  return named.length > 1 ? [byCorpus, bars(say("about.byLanguage"), named)] : [byCorpus];
}

function bars(title, rows) {
  const most = Math.max(1, ...rows.map(([, words]) => words));
  const listed = rows.map(([name, words]) => {
    const bar = element("span", { class: "bar", "aria-hidden": "true" });
    bar.style.setProperty("--share", words / most);
    return element("li", {}, element("span", {}, name), bar, element("span", {}, say("about.words", { count: words })));
  });
  return element("figure", { class: "bars" }, element("figcaption", {}, title), element("ul", {}, ...listed));
}

/** A row for each kind of source, under a heading, and what is not read whole. */
export function kindsTable({ kinds, truncated_share: truncated }) {
  const columns = [
    { head: say("about.kind"), cell: ({ name }) => heading(name) },
    { head: say("about.documents"), number: ({ documents }) => documents },
    { head: say("about.passages"), number: ({ passages }) => passages },
    { head: say("about.cut"), cell: (kind) => say("about.cutValue", kind) },
  ];
  const rows = Object.entries(kinds).map(([name, kind]) => ({ name, ...kind }));
  const share = say("about.truncated", { share: shares.format(truncated) });
  return [
    element("h4", {}, say("about.kinds")),
    sortable(columns, rows),
    ...(truncated > 0 ? [element("p", { class: "hint" }, share)] : []),
  ];
}

/** Version, model and digests. */
export function madeOf({ version, created, embedding, content_digest: digest, corpora }) {
  const digests = [
    [say("about.digest"), digest],
    ...corpora.map((corpus) => [say("about.corpusDigest", { label: corpus.label }), corpus.digest]),
    [say("about.modelDigest"), embedding.digest],
  ];
  const written = digests.filter(([, text]) => text).map(([name, text]) => [name, element("code", {}, text)]);
  return element(
    "div",
    { class: "about-made" },
    definitions([
      [say("about.version"), version],
      [say("about.built"), moments.format(new Date(created))],
      [say("about.model"), `${embedding.name} (${embedding.provider})`],
      ...written,
    ]),
    element("p", { class: "hint" }, say("about.digestHint")),
  );
}

/** A language by its name; a code that has none stays. */
function languageName(code) {
  try {
    return names.of(code) ?? code;
  } catch {
    return code;
  }
}
