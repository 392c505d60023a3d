/** Tabs: one stop of the tab key, arrow keys move between them. */

import { focusItem, make } from "./dom.js";

/** `names` are [value, words]; `onchoose(value)`. */
export function tabs(names, label, onchoose) {
  const buttons = names.map(([value, words]) => make("button", { type: "button", role: "tab", "data-value": value, onclick: () => onchoose(value) }, words));
  const element = make("div", { class: "tabs", role: "tablist", "aria-label": label, onkeydown: keys }, buttons);

  function keys(event) {
    const at = buttons.indexOf(event.target);
    const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: buttons.length - 1 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    const button = buttons[(next + buttons.length) % buttons.length];
    onchoose(button.dataset.value);
    focusItem(buttons, button);
  }
  return {
    element,
    update(value) {
      for (const button of buttons) {
        const chosen = button.dataset.value === value;
        button.setAttribute("aria-selected", String(chosen));
        button.tabIndex = chosen ? 0 : -1;
      }
    },
  };
}
