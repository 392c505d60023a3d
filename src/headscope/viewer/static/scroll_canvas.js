/** A canvas as large as its window onto a larger world: scrolled by the browser, drawn at most once a frame. */

import { fitted, make, onNextFrame } from "./dom.js";

/**
 * `draw(pen, width, height)` draws the window; `onpoint(x, y)` and `onpick(x, y)` receive a place of the window, `onpoint()`
 * without one that the pointer has left; `onkey(event)` a key.
 */
export function scrollCanvas({ label, draw, onpoint, onpick, onkey, onscroll = () => {} }) {
  const canvas = make("canvas", { "aria-hidden": "true" });
  const world = make("div", { class: "world" }, canvas);
  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const scroller = make("div", {
    class: "scroll-canvas", tabindex: "0", role: "application", "aria-label": label,
    onscroll: () => { redraw(); onscroll(); },
    onpointermove: (event) => onpoint(...place(event)),
    onpointerleave: () => onpoint(),
    onclick: (event) => onpick(...place(event)),
    onkeydown: onkey,
  }, world);
  const redraw = onNextFrame(() => {
    const [width, height] = [scroller.clientWidth, scroller.clientHeight];
    if (width && height) draw(fitted(canvas, width, height), width, height);
  });
  const watch = new ResizeObserver(redraw);
  watch.observe(scroller);
  return {
    element: scroller,
    redraw,
    /** Set the size of the world, and the height of the window. */
    resize(width, height, windowHeight) {
      setSize(world, "width", width);
      setSize(world, "height", height);
      setSize(scroller, "height", windowHeight);
    },
    /** Set the tooltip of the window. */
    name(words) {
      if (scroller.title !== words) scroller.title = words;
    },
    scrollTo(left, top) {
      scroller.scrollLeft = left;
      scroller.scrollTop = top;
      redraw();
    },
    destroy() {
      watch.disconnect();
      redraw.cancel();
    },
  };
}

/** The colours and the font that a canvas takes from the page around it. */
export function pageStyle(element) {
  const style = getComputedStyle(element);
  const value = (name) => style.getPropertyValue(name).trim();
  return { ink: value("--ink"), quiet: value("--quiet"), rule: value("--rule"), wash: value("--wash"), paper: value("--paper"),
    accent: value("--link"), font: style.fontFamily };
}

/** A text cut to a width, with an ellipsis. */
export function cutText(pen, text, width) {
  if (pen.measureText(text).width <= width) return text;
  let length = Math.min(text.length, 80);
  while (length > 1 && pen.measureText(`${text.slice(0, length)}…`).width > width) length -= 1;
  return `${text.slice(0, length)}…`;
}

function setSize(element, side, value) {
  const text = `${Math.round(value)}px`;
  if (element.style[side] !== text) element.style[side] = text;
}
