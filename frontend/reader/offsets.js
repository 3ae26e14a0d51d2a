/** Places in a text as the server counts them (code points) and as the browser does (UTF-16). */

/** {toUnits, toPoints} for places in `text`; each is a search in the few characters of two units. */
export function offsetsOf(text) {
  const pairs = []; // where characters of two units begin
  for (const { index } of text.matchAll(/[\ud800-\udbff][\udc00-\udfff]/g)) pairs.push(index);
  const points = pairs.map((index, before) => index - before);
  return {
    toUnits: (point) => Math.min(text.length, point + below(points, point)),
    toPoints: (unit) => unit - below(pairs, unit),
  };
}

/** How many of these ascending numbers are below `limit`. */
export function below(numbers, limit) {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle] < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The last of `items`, ascending by `start`, that begins at `at` or before; undefined if none. */
export function lastBefore(items, at) {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (items[middle].start <= at) low = middle + 1;
    else high = middle;
  }
  return items[low - 1];
}
