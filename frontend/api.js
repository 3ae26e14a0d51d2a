/** Talking to the server: about which collection, with whose key. What goes wrong is a Problem whose
 * message can be shown as it is. */

import { at, onSubmit } from "./dom.js";
import { say } from "./language.js";
import { credentials, forgetKey, keepKey } from "./storage.js";

const UNKNOWN_CALLER = 401;
const PAUSES = [300, 900]; // ms before each attempt to resume; the server waits about 2 s

/** The one of several collections that the page is about: its address names it, so that it can be
 * sent; null for the server's own. */
export const chosenCollection = new URLSearchParams(location.search).get("collection");
const collectionHeader = chosenCollection
  ? { "Atlas-Collection": encodeURIComponent(chosenCollection) }
  : {};

/** `status` is that of the response, `character` where words to look for cannot be read, from 1. */
export class Problem extends Error {
  constructor(message, { status, character, cause } = {}) {
    super(message, { cause });
    Object.assign(this, { status, character });
  }
}

/** The message of a Problem. Raises any other error again, which is a fault of the page. */
export function messageOf(error) {
  if (error instanceof Problem) return error.message;
  throw error;
}

/** No response, or not the whole of it. */
class Broken extends Problem {}

/** An id as the server takes them. */
export function newId() {
  // crypto.randomUUID is missing on plain http
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export async function getJson(path) {
  return json(await request(path));
}

/** Gets a picture from the server, as an address that an image can show. */
export async function getPicture(path, signal) {
  const response = await request(path, { signal });
  const blob = await reached(() => response.blob());
  return new Promise((resolve, reject) => {
    const reader = new FileReader(); // the page's policy allows images of its own and of data alone
    reader.onload = () => resolve(reader.result);
    reader.onerror = () => reject(new Problem(say("server.unreadable"), { cause: reader.error }));
    reader.readAsDataURL(blob);
  });
}

/** Sends a body by this method, and resolves to the response. */
export async function sendJson(method, path, body, signal) {
  return json(await request(path, { ...posted(body), method, signal }));
}

async function json(response) {
  const text = await reached(() => response.text());
  try {
    return JSON.parse(text);
  } catch (error) {
    // an id of dots alone leads to another path
    throw new Problem(say("server.unreadable"), { cause: error });
  }
}

/** Events of an answer as {name, data}, the last of them `complete`. */
export async function* ask(body, signal) {
  let last = null; // number of the last event; null until the server has taken the question
  for (const pause of [0, ...PAUSES]) {
    try {
      const response =
        last === null
          ? await request("api/ask/stream", { ...posted(body), signal })
          : await resumed(body.qa_id, last, pause, signal);
      last ??= "0";
      for await (const { id, name, data } of serverEvents(response.body)) {
        last = id ?? last;
        if (name === "error") throw problemOf(data);
        yield { name, data };
        if (name === "complete") return;
      }
    } catch (error) {
      // the connection broke, and not what was asked; 404 says that it was given up
      if (last === null || !(error instanceof Broken || error.status === 404)) throw error;
    }
  }
  throw new Problem(say("server.cutOff"));
}

async function resumed(qaId, last, pause, signal) {
  await new Promise((resolve) => setTimeout(resolve, pause));
  return request(`api/ask/${qaId}/stream`, { headers: { "Last-Event-ID": last }, signal });
}

/** Brings the files of a form in; `told` is called with how many of how many bytes are sent.
 * Resolves to the job that reads them. */
export async function ingest(body, told, signal) {
  return json(await request("api/ingest", { method: "POST", body, signal }, sending(told)));
}

/** Gives a function like `fetch`, which does not tell how much it has sent. */
function sending(told) {
  return (path, { method, headers, body, signal }) =>
    new Promise((resolve, reject) => {
      const sent = new XMLHttpRequest();
      sent.open(method, path);
      for (const [name, value] of Object.entries(headers)) sent.setRequestHeader(name, value);
      sent.upload.addEventListener("progress", ({ loaded, total }) => told(loaded, total));
      sent.addEventListener("load", () => resolve(new Response(sent.response, sent)));
      sent.addEventListener("error", reject);
      sent.addEventListener("abort", () => reject(signal.reason));
      signal.addEventListener("abort", () => sent.abort());
      sent.send(body);
    });
}

/** Events of a job as {name, data}, the last of them `done`. */
export async function* jobEvents(id) {
  const response = await request(`api/jobs/${id}/events`);
  yield* serverEvents(response.body);
}

/** Ends a job, unless it is about to be live. */
export async function cancelJob(id) {
  await request(`api/jobs/${id}`, { method: "DELETE" });
}

/** Tells the server that an answer is not wanted any more. */
export async function giveUp(qaId) {
  try {
    await request(`api/ask/${qaId}`, { method: "DELETE", keepalive: true });
  } catch (error) {
    messageOf(error); // it is over already, or will be found alone
  }
}

/** Keeps what a reader says of an answer; all that this reader has said of it until now. */
export async function sendFeedback(fields) {
  // what was said last is kept, even if the page is left
  return json(await request("api/feedback", { ...posted(fields), keepalive: true }));
}

/** Answers as a file {name, content}. */
export async function exported(format, answers) {
  return file(await request("api/export", posted({ format, answers })));
}

/** Citations as a bibliography, or with their notes as annotations: a file likewise. */
export async function exportedCitations(format, citations, notes = []) {
  return file(await request("api/export", posted({ format, citations, notes })));
}

/** Gets what `atlas replay` needs to run an answer again, as a file {name, content}. */
export async function runBundle(qaId) {
  return file(await request(`api/ask/${qaId}/export?format=bundle`));
}

async function file(response) {
  const disposition = response.headers.get("Content-Disposition") ?? "";
  const name = /filename="([^"]+)"/.exec(disposition)?.[1] ?? "atlas";
  const content = await reached(() => response.blob());
  return { name: decodeURIComponent(name), content };
}

function posted(body) {
  const headers = { "Content-Type": "application/json" };
  return { method: "POST", headers, body: JSON.stringify(body) };
}

async function request(path, options = {}, send = fetch) {
  const headers = { ...options.headers, ...collectionHeader, ...credentials() };
  const response = await reached(() => send(path, { ...options, headers }));
  if (response.ok) return response;
  const problem = await refusal(response);
  if (response.status === UNKNOWN_CALLER) askForKey(problem.message);
  throw problem;
}

/** Runs `step`; a connection that fails is Broken, one that was aborted is not. */
async function reached(step) {
  try {
    return await step();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Broken(say("server.silent"), { cause: error });
  }
}

async function refusal(response) {
  try {
    return problemOf(await response.json());
  } catch {
    const { status, statusText } = response;
    const said = `${status} ${statusText}`.trim();
    return new Problem(say("server.answered", { said }), { status });
  }
}

/** A problem document as a Problem. */
function problemOf({ detail, status, character, retry_after: seconds }) {
  // of 429 the detail says it
  const again = seconds && status !== 429 ? ` ${say("server.again", { count: seconds })}` : "";
  return new Problem(detail + again, { status, character });
}

async function* serverEvents(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let buffer = "";
  for (;;) {
    const { value, done } = await reached(() => reader.read());
    if (done) return;
    buffer = (buffer + value).replaceAll("\r\n", "\n");
    const frames = buffer.split("\n\n");
    buffer = frames.pop();
    yield* frames.map(parsed).filter((event) => event !== null);
  }
}

/** The event in a frame, or null for a comment that only keeps the connection alive. */
function parsed(frame) {
  const fields = { id: [], event: [], data: [] };
  for (const line of frame.split("\n")) {
    const [, name, value] = /^([^:]*):? ?(.*)$/.exec(line);
    fields[name]?.push(value);
  }
  if (fields.data.length === 0) return null;
  return { id: fields.id[0], name: fields.event[0], data: JSON.parse(fields.data.join("\n")) };
}

/** Asks for the key. The page then begins anew: what it shows was another's, or nothing. */
export function askForKey(reason) {
  at("sign-in-reason").textContent = reason;
  if (!at("sign-in").open) at("sign-in").showModal();
}

/** Says whose key is used and offers to let go of it; nothing where no keys are used. */
export function showCaller(name) {
  at("signed-in").hidden = name === "";
  at("caller").textContent = name;
}

onSubmit(at("sign-in-form"), () => {
  const isKept = keepKey(at("key").value);
  at("key").value = "";
  if (isKept) location.reload();
  else askForKey(say("key.unkept"));
});
at("sign-out").addEventListener("click", () => {
  forgetKey();
  location.reload();
});
