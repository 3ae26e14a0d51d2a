/** The database of this browser, in IndexedDB: conversations, notes and the reading list.
 *
 * It belongs to one collection and one key: on a shared machine another key sees nothing of it.
 */

import { Problem } from "../api.js";
import { say } from "../language.js";

const VERSION = 1;
const STORES = ["conversations", "notes", "readings", "desk"];

let opening = null;
let belongs;

/** Resolves to the name of what is kept for one collection and key. */
export const owner = new Promise((resolve) => (belongs = resolve));

/** Says whose all this is; until then every request waits. */
export function keepFor(collection, caller) {
  belongs(`atlas/${collection}/${caller === "" ? "" : hashOf(caller)}`);
}

/** All records of a store, in the order of their ids. */
export async function all(store) {
  return wanted(store, "readonly", (records) => records.getAll());
}

/** The record with this id, or undefined. */
export async function get(store, id) {
  return wanted(store, "readonly", (records) => records.get(id));
}

/** Keeps a record under its `id`, in place of what was there. */
export async function put(store, record) {
  return wanted(store, "readwrite", (records) => records.put(record));
}

/** Keeps what `update` makes of the record with this id, or of undefined; null keeps it as it is.
 *
 * Nothing comes between reading and writing, also not another tab.
 */
export async function change(store, id, update) {
  return wanted(store, "readwrite", (records) => {
    const found = records.get(id);
    found.onsuccess = () => {
      const changed = update(found.result);
      if (changed !== null) records.put(changed);
    };
    return found;
  });
}

export async function remove(store, id) {
  return wanted(store, "readwrite", (records) => records.delete(id));
}

/** Removes all records of a store. */
export async function clear(store) {
  return wanted(store, "readwrite", (records) => records.clear());
}

/** Raises a Problem if the browser keeps nothing, or has no room left. */
async function wanted(store, mode, step) {
  const name = await owner;
  try {
    opening ??= open(name);
    const transaction = (await opening).transaction(store, mode, { durability: "relaxed" });
    return await new Promise((resolve, reject) => {
      const request = step(transaction.objectStore(store));
      transaction.oncomplete = () => resolve(request.result);
      transaction.onabort = () => reject(transaction.error ?? request.error);
    });
  } catch (error) {
    opening = null;
    const why = error?.name === "QuotaExceededError" ? "keep.full" : "keep.unkept";
    throw new Problem(say(why), { cause: error });
  }
}

function open(name) {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(name, VERSION);
    request.onupgradeneeded = () => {
      for (const store of STORES) request.result.createObjectStore(store, { keyPath: "id" });
    };
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
    request.onblocked = () => reject(new Error("another tab holds an older version"));
  });
}

/** 64 bits of FNV-1a: a name that can be told apart, but not read; plain http has no crypto.subtle. */
function hashOf(text) {
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(text)) {
    hash = ((hash ^ BigInt(byte)) * 0x100000001b3n) & 0xffffffffffffffffn;
  }
  return hash.toString(16).padStart(16, "0");
}
