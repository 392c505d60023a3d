/** The kernel of a notebook as a source of data: it answers messages of its widget by the paths of the server. */

import { answersByPath } from "./source.js";

const PATIENCE = 150000; // milliseconds; a request that runs the model takes at most 120 s

/** `widget` is the model of an anywidget. `stop()` ends the listening; answers that are awaited then never come. */
export function kernelSource(widget) {
  const waiting = new Map(); // number of a request -> what becomes of its answer
  const own = Math.random().toString(36).slice(2); // several views of one widget hear all answers
  let count = 0;

  function send(path, body = null) {
    count += 1;
    const request = `${own}/${count}`;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => settle(request)?.reject(new Error("the kernel does not answer; it is busy, or the cell must be run again")), PATIENCE);
      waiting.set(request, { resolve, reject, timer });
      widget.send({ request, path, body });
    });
  }

  function hear({ request, status, error, content, notice }, buffers) {
    const asked = settle(request);
    if (error) asked?.reject(Object.assign(new Error(error), { status }));
    else if (notice !== undefined) asked?.resolve({ file: new Blob([bytesOf(buffers[0])]), notice });
    else asked?.resolve(buffers?.length ? bytesOf(buffers[0]) : content);
  }

  function settle(request) {
    const asked = waiting.get(request);
    waiting.delete(request);
    clearTimeout(asked?.timer);
    return asked;
  }

  widget.on("msg:custom", hear);
  return {
    live: true,
    embedded: false,
    ...answersByPath({ json: (path) => send(path), html: (path) => send(path), bytes: (path) => send(path) }),
    text: (first, second, against) => send("api/text", { first, second: second || null, against: against || null }),
    tryHeads: (id, heads, mode, model) => send("api/try", { id, heads, mode, model }),
    importance: (id, method, model) => send("api/importance", { id, method, model }),
    exported: (request) => send("api/export", request),
    stop: () => widget.off("msg:custom", hear),
  };
}

/** The bytes of a message as an array buffer of their own. */
function bytesOf(view) {
  return view.buffer ? view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength) : view;
}
