{
"use strict";
const atlas = document.querySelector(".atlas");
if (atlas) {
  const heads = [...atlas.querySelectorAll(".atlas-head")];
  const kinds = [...document.querySelectorAll(".atlas-kind")];
  const large = document.querySelector(".atlas-large");
  const select = document.querySelector(".atlas-text");
  let input = 0;

  /** Show the map of the head under the pointer or in focus large, with its name and what it does. */
  const show = (head) => {
    const image = head.querySelectorAll("img")[input].cloneNode();
    image.hidden = false;
    const words = document.createElement("p");
    const peak = Number(head.dataset.maxima.split(" ")[input]).toFixed(2);
    words.textContent = `${head.getAttribute("aria-label")}. Largest attention ${peak}.`;
    large.replaceChildren(image, words);
    large.hidden = false;
  };
  for (const head of heads) {
    for (const event of ["pointerenter", "focus"]) head.addEventListener(event, () => show(head));
    for (const event of ["pointerleave", "blur"]) head.addEventListener(event, () => { large.hidden = true; });
  }

  /** The legend is a filter: one kind at a time, once more shows all. */
  for (const button of kinds) {
    button.addEventListener("click", () => {
      const on = button.ariaPressed !== "true";
      for (const each of kinds) each.ariaPressed = String(each === button && on);
      for (const head of heads) head.classList.toggle("chosen", head.dataset.kind === button.dataset.kind);
      atlas.toggleAttribute("data-only", on);
    });
  }

  select?.addEventListener("change", () => {
    input = Number(select.value);
    for (const head of heads) head.querySelectorAll("img").forEach((image, at) => { image.hidden = at !== input; });
  });
}
}
