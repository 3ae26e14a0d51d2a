/** What the page says, in the reader's language. All words stand in strings/<language>.js. */

import { browser } from "./storage.js";

export const LANGUAGES = { en: "English", fr: "Français" };
const KEPT_AS = "atlas-language";
const PLACE = /\{(\w+)\}/;

export const language = chosenLanguage();
const { default: strings, told: sentences = [] } = await import(`./strings/${language}.js`);
const plurals = new Intl.PluralRules(language);
const numbers = new Intl.NumberFormat(language);

sayAll(document); // before any other part of the page changes what it says

/** The string `section.name` with its {values} filled in; numbers are written as the language does.
 *
 * Of strings with several forms, such as {one, other}, the one that `count` calls for.
 */
export function say(key, values = {}) {
  return parts(key, values).join("");
}

/** Gives a string as nodes for an element: values may be nodes, such as a button in a sentence. */
export function sayNodes(key, values) {
  return parts(key, values);
}

/** A sentence of the server in the reader's language, as a node; in English where it has none. */
export function told(message) {
  const node = document.createElement("span");
  const [pattern, words] = sentences.find(([pattern]) => pattern.test(message)) ?? [];
  const [first, ...others] = (pattern ? message.replace(pattern, words) : message).split("`");
  node.append(first);
  for (const [at, text] of others.entries()) {
    const code = document.createElement("code"); // a command or a name
    code.textContent = text;
    node.append(at % 2 === 0 ? code : text);
  }
  if (!pattern) node.lang = "en";
  return node;
}

/** Fills in what `data-say` and `data-say-<attribute>` name in `root`. */
function sayAll(root) {
  for (const node of root.querySelectorAll("[data-say]")) node.textContent = say(node.dataset.say);
  for (const attribute of ["aria-label", "placeholder", "title", "content"]) {
    for (const node of root.querySelectorAll(`[data-say-${attribute}]`)) {
      node.setAttribute(attribute, say(node.getAttribute(`data-say-${attribute}`)));
    }
  }
}

/** Has the page speak another language from now on; false where the browser does not keep it. */
export function speak(other) {
  if (!browser.keep(KEPT_AS, other)) return false;
  location.reload();
  return true;
}

/** Tells if there are words for a key that a newer server may have made up. */
export function hasString(key) {
  return stringAt(key) !== undefined;
}

export function grouped(number) {
  return numbers.format(number);
}

function stringAt(key) {
  const [section, ...name] = key.split(".");
  return strings[section]?.[name.join(".")];
}

function parts(key, values) {
  const found = stringAt(key);
  if (found === undefined) throw new Error(`There is no string ${key} in ${language}.`);
  const text = typeof found === "string" ? found : found[plurals.select(values.count)] ?? found.other;
  return text
    .split(new RegExp(PLACE, "g"))
    .map((part, at) => (at % 2 === 0 ? part : written(values[part], `${key}: {${part}}`)))
    .filter((part) => part !== "");
}

function written(value, place) {
  if (value === undefined) throw new Error(`No value was given for ${place}.`);
  return typeof value === "number" ? grouped(value) : value;
}

function chosenLanguage() {
  const { only } = document.documentElement.dataset; // of a page written in one language
  if (only) return only;
  const wanted = [browser.find(KEPT_AS), ...navigator.languages];
  const short = wanted.filter(Boolean).map((tag) => tag.split("-")[0]);
  return short.find((tag) => Object.hasOwn(LANGUAGES, tag)) ?? "en";
}
