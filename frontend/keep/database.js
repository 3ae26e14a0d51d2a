/** What the reader keeps in this browser: conversations, notes and a reading list, in IndexedDB.
 *
 * It belongs to one collection and one key: on a shared machine another key sees nothing of it.
 */

import { Problem } from "../api.js";
import { say } from "../language.js";

const NAME = "atlas";
const VERSION = 1;
const STORES = ["conversations", "notes", "readings"];

let opening = null;

/** All records of a store, in the order of their ids. */
export async function all(store) {
  return wanted(store, "readonly", (records) => records.getAll());
}

/** Keeps a record under its `id`, in place of what was there. */
export async function put(store, record) {
  return wanted(store, "readwrite", (records) => records.put(record));
}

export async function remove(store, id) {
  return wanted(store, "readwrite", (records) => records.delete(id));
}

/** Raises a Problem if the browser keeps nothing, or has no room left. */
async function wanted(store, mode, step) {
  try {
    opening ??= open();
    const transaction = (await opening).transaction(store, mode, { durability: "relaxed" });
    const request = step(transaction.objectStore(store));
    return await new Promise((resolve, reject) => {
      transaction.oncomplete = () => resolve(request.result);
      transaction.onabort = () => reject(transaction.error);
      transaction.onerror = () => reject(transaction.error);
    });
  } catch (error) {
    opening = null;
    const why = error.name === "QuotaExceededError" ? "keep.full" : "keep.unkept";
    throw new Problem(say(why), { cause: error });
  }
}

function open() {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(NAME, VERSION);
    request.onupgradeneeded = () => {
      for (const name of STORES) request.result.createObjectStore(name, { keyPath: "id" });
    };
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
    request.onblocked = () => reject(new Error("another tab holds an older version"));
  });
}
