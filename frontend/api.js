/** Talking to the server. What goes wrong is a Problem whose message can be shown as it is. */

export class Problem extends Error {}

const SILENT = "The server does not answer. Check that it is running, then try again.";
const CUT_OFF = "The answer was cut off before it was complete. Ask again.";

export async function getJson(path) {
  const response = await request(path);
  return response.json();
}

/** Events of an answer as {name, data}: `references`, `token` ..., `complete`. */
export async function* ask(body, signal) {
  const response = await request("api/ask/stream", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
    signal,
  });
  for await (const event of serverEvents(response.body)) {
    if (event.name === "error") throw new Problem(event.data.detail);
    yield event;
    if (event.name === "complete") return;
  }
  throw new Problem(CUT_OFF);
}

async function request(path, options) {
  const response = await reached(() => fetch(path, options));
  if (!response.ok) throw new Problem(await detail(response));
  return response;
}

/** What `step` gives; a connection that fails is a Problem, one that was aborted is not. */
async function reached(step) {
  try {
    return await step();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(SILENT, { cause: error });
  }
}

async function detail(response) {
  try {
    return (await response.json()).detail;
  } catch {
    return `The server answered ${response.status} ${response.statusText}.`;
  }
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
  const fields = { event: [], data: [] };
  for (const line of frame.split("\n")) {
    const [, name, value] = /^([^:]*):? ?(.*)$/.exec(line);
    fields[name]?.push(value);
  }
  if (fields.data.length === 0) return null;
  return { name: fields.event[0], data: JSON.parse(fields.data.join("\n")) };
}
