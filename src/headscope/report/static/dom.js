/** Elements, listeners and frames: the little of the document that all components share. */

/** An element with attributes, listeners (`onclick: f`) and children; text is always text, never markup. */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== undefined && value !== null) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** Replace what an element holds; the focus stays on the control at its place. */
export function redraw(element, ...children) {
  const controls = () => [...element.querySelectorAll("button, input, select")];
  const at = controls().findIndex((each) => each.matches(":focus"));
  element.replaceChildren(...children);
  controls()[at]?.focus();
}

/** Save a file from the page. */
export function saveFile(blob, name) {
  const link = make("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

/** A listener of keys that acts on Enter. Forms are none here: a frame of a notebook (VS Code) may not submit any. */
export function onEnter(act) {
  return (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    act();
  };
}

/** A labelled choice; `choices` are [value, words] pairs. Words such as "attention to: itself" stand in groups. */
export function choice(words, choices, value, onchange) {
  const groups = new Map();
  const options = [];
  for (const [each, name] of choices) {
    const [group, ...rest] = name.split(": ");
    const option = make("option", { value: each, selected: each === value }, rest.join(": ") || name);
    if (!rest.length) options.push(option);
    else if (groups.has(group)) groups.get(group).append(option);
    else {
      groups.set(group, make("optgroup", { label: group }, option));
      options.push(groups.get(group));
    }
  }
  return make("label", { class: "choice" }, make("span", {}, words), make("select", { onchange: (event) => onchange(event.target.value) }, options));
}

/** A function that runs `draw` once in the next frame, however often it is called. */
export function onNextFrame(draw) {
  let frame = 0;
  const wanted = () => {
    frame ||= requestAnimationFrame(() => {
      frame = 0;
      draw();
    });
  };
  wanted.cancel = () => cancelAnimationFrame(frame);
  return wanted;
}

/** A function that calls `act` once `wait` milliseconds have passed without another call. */
export function afterRest(act, wait) {
  let timer = 0;
  const wanted = (...given) => {
    clearTimeout(timer);
    timer = setTimeout(act, wait, ...given);
  };
  wanted.cancel = () => clearTimeout(timer);
  return wanted;
}

/** Make an item the one tab stop of a group. */
export function tabStop(items, item) {
  for (const each of items) each.tabIndex = each === item ? 0 : -1;
}

/** Move the one tab stop of a group to an item and focus it. */
export function focusItem(items, item) {
  tabStop(items, item);
  item.focus();
}

/** Fit a canvas to a size in CSS pixels; return its context, scaled so that one unit is one CSS pixel. */
export function fitted(canvas, width, height) {
  const ratio = globalThis.devicePixelRatio || 1;
  const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== wide || canvas.height !== high) {
    canvas.width = wide;
    canvas.height = high;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  return pen;
}

/** A share with two decimals. */
export function share(value) {
  return value.toFixed(2);
}

/** A number in three significant digits. */
export function short(value) {
  return String(Number(value.toPrecision(3)));
}
