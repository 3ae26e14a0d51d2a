/** Finding words in a text whatever their case and accents, as the server compares words. */

// letters that no decomposition takes apart; those of backend/atlas_search/language/spelling.py
const APART = { æ: "ae", œ: "oe", ø: "o", đ: "d", ð: "d", ł: "l", þ: "th", ı: "i", ß: "ss", "’": "'" };
const UNSEEN = /[\u00ad\u200b-\u200f\u2060\ufeff]/;
const known = new Map();

/** {said, at}: the text folded, each run of blanks as one, and where each character comes from. */
export function folded(text) {
  const said = [];
  const at = [];
  let isBlank = true;
  for (let index = 0; index < text.length; index += 1) {
    const letters = fold(text[index]);
    if (letters === " ") {
      if (!isBlank) {
        said.push(" ");
        at.push(index);
      }
      isBlank = true;
      continue;
    }
    for (const letter of letters) {
      said.push(letter);
      at.push(index);
      isBlank = false;
    }
  }
  return { said: said.join(""), at };
}

function fold(unit) {
  const found = known.get(unit);
  if (found !== undefined) return found;
  let letters = unit.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  letters = [...letters.normalize("NFKD").replace(/\p{M}/gu, "")].map((l) => APART[l] ?? l).join("");
  if (/^\s+$/.test(unit)) letters = " ";
  if (UNSEEN.test(unit)) letters = "";
  known.set(unit, letters);
  return letters;
}

/** Where `wanted` stands in a folded text, as spans of the text itself. */
export function placesOf(wanted, { said, at }, text) {
  const words = folded(wanted).said.trim();
  const found = [];
  if (words === "") return found;
  for (let from = said.indexOf(words); from >= 0; from = said.indexOf(words, from + words.length)) {
    found.push({ start: at[from], end: endOf(at[from + words.length - 1], text) });
  }
  return found;
}

/** Where any of these words stands as a whole word. */
export function wordPlaces(words, { said, at }, text) {
  const wanted = new Set(words.map((word) => folded(word).said));
  const found = [];
  for (const { index, 0: word } of said.matchAll(/[\p{L}\p{N}]+/gu)) {
    if (!wanted.has(word)) continue;
    found.push({ start: at[index], end: endOf(at[index + word.length - 1], text) });
  }
  return found;
}

/** The words of a question that say what it is about: not the short ones. */
export function tellingWords(question) {
  const words = question.match(/[\p{L}\p{N}]{4,}/gu) ?? [];
  return [...new Set(words)];
}

/** Behind a character and the marks that belong to it. */
function endOf(index, text) {
  let end = index + 1;
  while (/\p{M}/u.test(text[end] ?? "")) end += 1;
  return end;
}
