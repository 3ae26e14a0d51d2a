/** The key that comes with the address of the page; it does not stay there. */

import { keepKey } from "../storage.js";

const PREFIX = "#key=";

function take() {
  if (!location.hash.startsWith(PREFIX)) return false;
  keepKey(decodeURIComponent(location.hash.slice(PREFIX.length)));
  history.replaceState(null, "", location.pathname);
  return true;
}

take();
// the address of a later start, pasted into the page of an earlier one
window.addEventListener("hashchange", () => take() && location.reload());
