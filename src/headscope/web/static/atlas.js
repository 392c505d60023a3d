/** The atlas of a report: all heads as small maps, which the page holds; one can order, dim and enlarge them. */

import { focusItem, make, tabStop } from "./dom.js";
import { neighbourOf } from "./grid_keys.js";

const MOST_LABELS = 32; // more of them are too small to read beside a map

/** What the address of the page says after "#": how each atlas of the page is ordered and dimmed. */
const addressFields = () => new URLSearchParams(location.hash.includes("=") ? location.hash.slice(1) : "");

/** One atlas: its heads can be ordered, dimmed and looked at; its state is kept in the address. */
function startAtlas(section) {
  const atlas = section.querySelector(".atlas");
  const { inputs, raw, numbers } = JSON.parse(section.querySelector(".atlas-data").textContent);
  const { prefix, opensPrefix } = section.dataset;
  const rows = [...atlas.querySelectorAll(".atlas-row:not(.atlas-numbers)")];
  const heads = [...atlas.querySelectorAll(".atlas-head")];
  const lengths = rows.map((row) => row.querySelectorAll(".atlas-head").length);
  const places = new Map(heads.map((head, place) => [head, place]));
  const kinds = [...section.querySelectorAll(".atlas-kind")];
  const kindOrder = kinds.map((button) => button.dataset.kind);
  const large = section.querySelector(".atlas-large");
  const [select, order, within] = [".atlas-text", ".atlas-sort", ".atlas-within input"].map((each) => section.querySelector(each));
  const state = { sort: "", all: "", only: "", text: "", head: "" };

  /** A head's place in the order: a list of numbers and words, compared from the first on. */
  const key = (head) => {
    if (!state.sort) return [places.get(head)];
    const number = numbers.find((each) => each.title === state.sort);
    if (number) return [-(number.values[head.dataset.name] ?? -Infinity), places.get(head)];
    return [kindOrder.indexOf(head.dataset.kinds.split(" ")[0]), head.querySelector(".atlas-word").textContent, places.get(head)];
  };
  const compare = ([, one], [, other]) => {
    const at = one.findIndex((value, index) => value !== other[index]);
    return at < 0 ? 0 : one[at] < other[at] ? -1 : 1;
  };
  const sorted = (some) => some.map((head) => [head, key(head)]).sort(compare).map(([head]) => head);

  /** Put the heads in order, within each layer or over all layers, and write what they are ordered by. */
  function arrange() {
    const number = numbers.find((each) => each.title === state.sort) ?? (kinds.length ? undefined : numbers[0]);
    const whole = state.all ? sorted(heads) : [];
    let from = 0;
    rows.forEach((row, at) => {
      const own = heads.slice(from, from + lengths[at]);
      row.append(...(state.all ? whole.slice(from, from + lengths[at]) : sorted(own)));
      from += lengths[at];
    });
    for (const head of heads) {
      const value = number?.values[head.dataset.name];
      const texts = [state.sort && head.dataset.name, value !== undefined && String(Number(value.toPrecision(2)))];
      head.querySelector(".atlas-value").textContent = texts.filter(Boolean).join(": ");
    }
    atlas.toggleAttribute("data-sorted", Boolean(state.sort));
    atlas.toggleAttribute("data-all", Boolean(state.all));
  }

  /** Show the atlas as the state says, and the controls with it. */
  function show() {
    arrange();
    order.value = state.sort;
    within.checked = !state.all;
    if (select) select.value = state.text || "0";
    const input = Number(state.text);
    for (const head of heads) {
      head.classList.toggle("chosen", head.dataset.kinds.split(" ").includes(state.only));
      head.querySelectorAll("img").forEach((image, at) => { image.hidden = at !== input; });
    }
    for (const button of kinds) button.ariaPressed = String(button.dataset.kind === state.only);
    atlas.toggleAttribute("data-only", Boolean(state.only));
  }

  /** Take the state from the address; what it does not know is left out. */
  function read() {
    const given = addressFields();
    const known = {
      sort: ["", "kind", ...numbers.map((each) => each.title)], all: ["", "1"], only: ["", ...kindOrder],
      text: ["", ...inputs.map((_, at) => String(at))], head: ["", ...heads.map((head) => head.dataset.name)],
    };
    for (const name of Object.keys(state)) {
      const value = given.get(prefix + name) ?? "";
      state[name] = known[name].includes(value) ? value : "";
    }
    if (!state.sort) state.all = "";
    show();
    if (state.head) reveal(`${opensPrefix}-${state.head}`);
  }

  /** Change the state; the address keeps what is not as at first. */
  function change(changed) {
    Object.assign(state, changed);
    if (!state.sort) state.all = "";
    show();
    const next = addressFields();
    for (const [name, value] of Object.entries(state)) {
      if (value) next.set(prefix + name, value);
      else next.delete(prefix + name);
    }
    history.replaceState(null, "", `#${next}`);
  }

  /** The map of a head, large, with its tokens and its numbers. */
  function enlarge(head) {
    const input = Number(state.text);
    const words = make("p", {}, `${head.getAttribute("aria-label")}.`);
    const [image] = [...head.querySelectorAll("img")].slice(input, input + 1);
    const peak = image && ["largest attention", Number(head.dataset.maxima.split(" ")[input])];
    const own = numbers.map(({ title, values }) => [title, values[head.dataset.name]]);
    const list = make("dl");
    for (const [title, value] of [...(peak ? [peak] : []), ...own.filter(([, value]) => value !== undefined)].slice(0, 9)) {
      list.append(make("div", {}, make("dt", {}, title), make("dd", {}, String(Number(value.toPrecision(2))))));
    }
    large.replaceChildren(words, ...(image ? [framed(image, inputs[input], raw[input])] : []), list);
    const { left, right } = head.getBoundingClientRect();
    large.classList.toggle("at-left", left + right > innerWidth);
    large.hidden = false;
  }

  function framed(image, tokens, names) {
    const copy = image.cloneNode();
    copy.hidden = false;
    const frame = make("div", { class: "atlas-framed" });
    if (tokens.length <= MOST_LABELS) {
      for (const side of ["keys", "queries"]) {
        frame.append(make("div", { class: `atlas-${side}` }, tokens.map((token, at) => make("span", { title: token !== names[at] && names[at] }, token))));
      }
    }
    frame.append(copy);
    return frame;
  }

  function move(event) {
    if (event.key === "Escape") change({ only: "" });
    const next = neighbourOf(rows.map((row) => [...row.querySelectorAll(".atlas-head")]), event.target, event.key);
    if (!next) return;
    event.preventDefault();
    focusItem(heads, next);
  }

  for (const head of heads) {
    head.addEventListener("pointerenter", (event) => { if (event.pointerType === "mouse") enlarge(head); });
    head.addEventListener("focus", () => { tabStop(heads, head); if (head.matches(":focus-visible")) enlarge(head); });
    for (const event of ["pointerleave", "blur"]) head.addEventListener(event, () => { large.hidden = true; });
    head.addEventListener("click", (event) => {
      event.preventDefault();
      change({ head: head.dataset.name });
      reveal(`${opensPrefix}-${head.dataset.name}`);
    });
  }
  for (const button of kinds) {
    button.addEventListener("click", () => change({ only: button.dataset.kind === state.only ? "" : button.dataset.kind }));
  }
  atlas.addEventListener("keydown", move);
  order.addEventListener("change", () => change({ sort: order.value }));
  within.addEventListener("change", () => change({ all: within.checked ? "" : "1" }));
  select?.addEventListener("change", () => change({ text: select.value === "0" ? "" : select.value }));
  addEventListener("hashchange", () => { if (location.hash.includes("=")) read(); });
  tabStop(heads, heads[0]);
  read();
}

document.querySelectorAll(".atlas-section").forEach(startAtlas);
