// One map at a time: drawn, labelled by a key, saved by the server.

const SIDE = 560, MARGIN = 76, EDGE = 6, LEAST_TEXT = 8; // pixels
const CLS = 0, SEP = 1;
const $ = (id) => document.getElementById(id);
const canvas = $("map"), pen = canvas.getContext("2d");

let patterns = [], labels = [], at = 0, map = null;
const shown = { s: false, t: false }; // scaled from 0 to 1; all tokens written

async function asked(path, body) {
  const post = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  const answer = await fetch(path, body && post);
  if (!answer.ok) throw new Error(await answer.text());
  return answer;
}

/** Go to a map; the last one asked for is shown, whichever comes first. */
async function show(index) {
  at = Math.max(0, Math.min(index, labels.length - 1));
  const wanted = at;
  const [words, numbers] = await Promise.all([asked(`maps/${at}`), asked(`maps/${at}/values`)]);
  const next = { ...(await words.json()), values: new Float32Array(await numbers.arrayBuffer()) };
  if (wanted !== at) return;
  map = next;
  draw();
}

function draw() {
  const length = map.tokens.length, cell = Math.max(1, Math.floor(SIDE / length));
  const most = shown.s ? 1 : map.values.reduce((one, other) => Math.max(one, other), 0);
  canvas.width = canvas.height = MARGIN + cell * length + EDGE;
  map.values.forEach((value, place) => {
    pen.fillStyle = colour(value / most);
    pen.fillRect(MARGIN + (place % length) * cell, MARGIN + Math.floor(place / length) * cell, cell, cell);
  });
  pen.strokeStyle = "#d9dee4";
  pen.strokeRect(MARGIN - 0.5, MARGIN - 0.5, cell * length + 1, cell * length + 1);
  map.tokens.forEach((token, place) => mark(token, map.classes[place], place, cell));
  tell();
}

/** White to dark blue. */
function colour(share) {
  const part = (end) => Math.round(255 + (end - 255) * share);
  return `rgb(${part(8)},${part(38)},${part(92)})`;
}

/** A token beside its row and above its column: special tokens always, others where asked for and where they fit. */
function mark(token, kind, place, cell) {
  const special = kind === CLS || kind === SEP;
  if (!special && !(shown.t && cell >= LEAST_TEXT)) return;
  const text = special ? (kind === CLS ? "[CLS]" : "[SEP]") : token.slice(0, 10);
  const middle = MARGIN + (place + 0.5) * cell;
  pen.font = `${special ? "bold " : ""}${Math.max(LEAST_TEXT, Math.min(12, cell + 2))}px Arial, sans-serif`;
  pen.fillStyle = special ? "#d55e00" : "#1f2933";
  pen.textBaseline = "middle";
  pen.textAlign = "right";
  pen.fillText(text, MARGIN - 6, middle);
  pen.save();
  pen.translate(middle, MARGIN - 6);
  pen.rotate(-Math.PI / 2);
  pen.textAlign = "left";
  pen.fillText(text, 0, 0);
  pen.restore();
}

/** Say in words what is there; whatever comes from a text is text. */
function tell() {
  const done = labels.filter(Boolean).length, now = labels[at];
  $("progress").textContent = done === labels.length ? `All ${done} maps are labelled.` : `${done} of ${labels.length} maps are labelled.`;
  $("bar").max = labels.length;
  $("bar").value = done;
  $("place").textContent = `Map ${at + 1} of ${labels.length}, ${map.tokens.length} tokens${now ? `: ${now}` : ""}.`;
  canvas.setAttribute("aria-label", $("place").textContent);
  document.querySelectorAll("#choices button").forEach((button, place) => {
    button.setAttribute("aria-pressed", String(patterns[place] === now));
  });
  for (const key of ["s", "t"]) document.querySelector(`[data-key=${key}]`).setAttribute("aria-pressed", String(shown[key]));
  document.body.dataset.at = at; // what is on the screen, for tests
}

async function label(pattern) {
  await asked("label", { index: at, label: pattern });
  labels[at] = pattern;
  const next = labels.findIndex((one, place) => !one && place > at);
  await show(next < 0 ? at + 1 : next);
}

async function undo() {
  const { index } = await (await asked("undo", {})).json();
  if (index === null) throw new Error("There is nothing to take back.");
  await load();
  await show(index);
}

async function load() {
  const state = await (await asked("state")).json();
  [patterns, labels] = [Object.keys(state.guide), state.labels];
  $("file").textContent = state.file;
  return state;
}

let busy = Promise.resolve();

/** Keys are dealt with one after the other, so that fast typing labels the maps that were seen. */
function pressed(key) {
  busy = busy.then(() => act(key)).then(() => ($("error").textContent = ""), (error) => ($("error").textContent = error.message));
  return busy;
}

async function act(key) {
  if (patterns[key - 1]) await label(patterns[key - 1]);
  else if (key === "u") await undo();
  else if (key === "ArrowLeft") await show(at - 1);
  else if (key === "ArrowRight") await show(at + 1);
  else if (key in shown) (shown[key] = !shown[key]), draw();
}

function choice([name, text], place) {
  const item = document.createElement("li"), button = document.createElement("button"), guide = document.createElement("small");
  guide.textContent = text;
  button.type = "button";
  button.append(`${place + 1} ${name.replaceAll("_", " + ")}`, guide);
  button.addEventListener("click", () => pressed(String(place + 1)));
  item.append(button);
  return item;
}

const state = await load();
$("choices").append(...Object.entries(state.guide).map(choice));
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  if (event.key.startsWith("Arrow")) event.preventDefault();
  pressed(event.key);
});
document.querySelectorAll("[data-key]").forEach((button) => button.addEventListener("click", () => pressed(button.dataset.key)));
canvas.addEventListener("pointermove", ({ offsetX, offsetY }) => {
  if (!map) return;
  const ratio = canvas.width / canvas.clientWidth, length = map.tokens.length, cell = (canvas.width - MARGIN - EDGE) / length;
  const [key, query] = [offsetX, offsetY].map((along) => Math.floor((along * ratio - MARGIN) / cell));
  const inside = [key, query].every((place) => place >= 0 && place < length);
  $("cell").textContent = inside ? `${map.tokens[query]} → ${map.tokens[key]}: ${map.values[query * length + key].toFixed(4)}` : "";
});
const open = labels.findIndex((one) => !one);
await show(open < 0 ? 0 : open);
