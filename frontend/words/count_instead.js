/** Questions that ask how many documents say something: their exact count stands above the answer. */

import { Problem, sendJson } from "../api.js";
import { chosenScope } from "../ask/scope.js";
import { telemetryChoice } from "../ask/privacy.js";
import { element } from "../dom.js";
import { say } from "../language.js";

// A few clear forms of two languages, and no more: a question that is missed is answered as ever.
// Of the 184 labelled questions about the bundled corpora none is taken for one; see
// tests/page/test_page_count_instead.py, which measures it.
const TEXTS = {
  en: "documents|texts|sources|articles|cases|judgments|acts|speeches|letters|reports|papers|files|passages",
  fr: "documents|textes|sources|articles|affaires|arrêts|lois|discours|lettres|rapports|fichiers|passages",
};
const FORMS = [
  `how many (?:of the )?(?:${TEXTS.en}) (?:say|mention|contain|use|name)(?: the (?:words?|phrase))? (.+?)`,
  `in how many (?:of the )?(?:${TEXTS.en}) (?:is|are|does|do) (?:the (?:words?|phrase) )?(.+?) (?:appear|occur|used|mentioned|named)`,
  "how (?:often|many times) (?:is|are|does|do) the (?:words?|phrase) (.+?) (?:appear|occur|used|mentioned)",
  `combien de (?:${TEXTS.fr}) (?:disent|mentionnent|contiennent|emploient|citent|nomment)(?: (?:les? mots?|l[’']expression))? (.+?)`,
  `dans combien de (?:${TEXTS.fr}) (?:apparaît|apparaissent|figure|figurent|trouve-t-on)(?: (?:les? mots?|l[’']expression))? (.+?)`,
  "combien de fois (?:apparaît|apparaissent|figure|figurent|trouve-t-on) (?:les? mots?|l[’']expression) (.+?)",
].map((form) => new RegExp(`^${form} ?\\?*$`, "iu"));
const QUOTED = /^["“«‹'‘]\s*([^"“”«»‹›]+?)\s*["”»›'’]$/u;
const ARTICLE = /^(?:the|an?|les?|la|un|une|des) |^l[’']/iu;
const MOST_WORDS = 4; // without quotation marks; more are no phrase that stands anywhere
// with these the words describe what is said, and are not what is said
const DESCRIBES =
  /(?<!\p{L})(?:that|which|who|whom|whose|what|how|why|when|where|any|anything|something|someone|it|this|these|those|about|both|either|more|than|and|or|que|qui|quoi|dont|où|comment|pourquoi|quand|cela|quelque|toute?s?|plus|et|ou)(?!\p{L})/iu;

/** The words of which a question asks in how many documents they stand; else empty. */
export function wordsAskedFor(question) {
  const asked = question.trim().replace(/\s+/g, " ");
  const found = FORMS.map((form) => form.exec(asked)?.[1]).find((words) => words !== undefined);
  if (found === undefined) return "";
  const [, quoted] = QUOTED.exec(found.trim()) ?? [];
  if (quoted !== undefined) return quoted;
  const words = found.trim().replace(ARTICLE, "");
  const isPlain = /^[\p{L}\p{M}\p{N}\s'’-]+$/u.test(words) && !DESCRIBES.test(words);
  return isPlain && words.split(" ").length <= MOST_WORDS ? words : "";
}

/** Puts the exact count above the answer in `article`, if the question asks for one. */
export async function offerCount(question, article, page) {
  const words = wordsAskedFor(question);
  if (words === "") return;
  const query = `"${words}"`;
  try {
    const body = { ...chosenScope(), ...telemetryChoice(), query };
    const { total } = await sendJson("POST", "api/counts", body);
    article.querySelector("h2, h3, header")?.after(note(words, query, total.documents, page));
  } catch (error) {
    // the answer stands without it, as where a collection has no words of whole documents
    if (!(error instanceof Problem)) throw error;
  }
}

function note(words, query, count, page) {
  const said = { query: `“${words}”`, documents: say("page.documents", { count }) };
  const text = count > 0 ? say("words.countInstead", said) : say("words.countNone", said);
  const show = { type: "button", class: "link", onclick: () => page.showWords(query) };
  const button = count > 0 ? element("button", show, say("words.countShow")) : null;
  return element("p", { class: "counted notice" }, `${text} `, button);
}
