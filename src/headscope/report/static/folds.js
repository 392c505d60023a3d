/** What is folded away: opened by the links that lead to it; boxes that scroll are reached by keyboard. */

/** Open an element and all folds around it, and bring it into view. */
export function reveal(id) {
  const element = document.getElementById(id);
  for (let fold = element?.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  element?.scrollIntoView();
}

export function startFolds() {
  for (const link of document.querySelectorAll("[data-opens]")) {
    const details = document.querySelector(`details[data-variable="${CSS.escape(link.dataset.opens)}"]`);
    if (!details) continue;
    link.href = `#${details.id}`;
    link.addEventListener("click", () => reveal(details.id));
  }
  if (document.getElementById(location.hash.slice(1))?.closest("details")) reveal(location.hash.slice(1));
  for (const link of document.querySelectorAll("nav a")) {
    const fold = document.querySelector(`${link.getAttribute("href")} > details.fold:only-of-type`);
    if (fold && link.hash !== "#findings") link.addEventListener("click", () => (fold.open = true));
  }
  // Boxes that scroll sideways can be reached by keyboard; the others are no stops on the way.
  const overflows = (box) => box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight;
  const boxes = new ResizeObserver((entries) => {
    for (const box of new Set(entries.map(({ target }) => target.closest(".scroll")))) {
      box.tabIndex = overflows(box) ? 0 : -1;
      fade(box);
    }
  });
  // While there is more on the right, the edge of a box fades.
  const fade = (box) => box.classList.toggle("more", box.scrollLeft + box.clientWidth < box.scrollWidth - 4);
  for (const box of document.querySelectorAll(".scroll")) {
    box.addEventListener("scroll", () => fade(box));
    boxes.observe(box);
    [...box.children].forEach((inside) => boxes.observe(inside));
  }
}
