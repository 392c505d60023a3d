/** Where the data of a view come from: the local server, or answers that the page itself holds. */

import { decodeOverview, decodeTile } from "./binary.js";

/** The server that sent the page; `base` is its address. */
export function serverSource(base = "") {
  const send = async (path, body) => {
    const options = body && { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
    let answer;
    try {
      answer = await fetch(base + path, options);
    } catch {
      throw new Error("the server does not answer; is headscope view still running?");
    }
    if (!answer.ok) throw Object.assign(new Error(await reason(answer)), { status: answer.status });
    return answer;
  };
  return {
    live: true,
    embedded: false,
    ...answersByPath({
      json: async (path) => (await send(path)).json(),
      bytes: async (path) => (await send(path)).arrayBuffer(),
      html: async (path) => (await send(path)).text(),
    }),
    text: async (first, second, against) => (await send("api/text", { first, second: second || null, against: against || null })).json(),
    tryHeads: async (id, heads, mode, model) => (await send("api/try", { id, heads, mode, model })).json(),
    importance: async (id, method, model) => (await send("api/importance", { id, method, model })).json(),
    exported: async (request) => {
      const answer = await send("api/export", request);
      return { file: await answer.blob(), notice: decodeURIComponent(answer.headers.get("headscope-notice") ?? "") };
    },
  };
}

/** Answers of the server that Python put into the page, by their path: `{json: {path: value}, bytes: {path: base64}}`. */
export function embeddedSource(data) {
  const find = (kind) => async (path) => {
    if (!Object.hasOwn(data[kind], path)) throw new Error("this is not kept in the page; headscope view shows it");
    return data[kind][path];
  };
  const bytes = async (path) => unpacked(await find("bytes")(path));
  return { live: false, embedded: true, ...answersByPath({ json: find("json"), html: find("json"), bytes }), text: () => find("json")("api/text") };
}

/** The questions of the views by the paths of their answers; `json`, `bytes` and `html` read a path. */
export function answersByPath({ json, bytes, html }) {
  return {
    model: () => json("api/model"),
    numbers: (model) => json(`api/numbers?model=${model}`),
    overview: async (id, model) => decodeOverview(await bytes(`api/overview/${id}?model=${model}`)),
    sharedOverview: async (id, model) => decodeOverview(await bytes(`api/overview/${id}?model=${model}&shared=1`)),
    tile: async (id, { model, layer, head }, zoom, row, column) =>
      decodeTile(await bytes(`api/tile/${id}/${layer}/${head}/${zoom}/${row}/${column}?model=${model}`)),
    words: async (id, { model, layer, head }) => decodeTile(await bytes(`api/words/${id}/${layer}/${head}?model=${model}`)),
    card: ({ layer, head }, model) => html(`api/card/${layer}/${head}?model=${model}`),
    panel: (number, model) => html(`api/panel/${number}?model=${model}`),
    examples: ({ layer, head }, by) => json(`api/examples/${layer}/${head}${by ? `?by=${encodeURIComponent(by)}` : ""}`),
    corpus: (name, page) => json(`api/corpus/${encodeURIComponent(name)}?page=${page}`),
  };
}

async function reason(answer) {
  try {
    return (await answer.json()).error;
  } catch {
    return `the server answered ${answer.status}`;
  }
}

function unpacked(base64) {
  return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0)).buffer;
}
