/** What of the collection is looked through: the same for questions, words and counts. */

const form = document.getElementById("ask-form");

/** The fields of a request: `corpus_filter`, and whatever else narrows it. */
export function chosenScope() {
  return { corpus_filter: form.elements.corpus_filter.value };
}
