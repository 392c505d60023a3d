/** The charts of a report, drawn by Vega-Embed as they come near; all of them for paper. */

const MANY_ROWS = 5000;
// The widths that each chart is laid out for, and the endings of their names.
const FITS = [[900, ""], [520, "@640"], [0, "@340"]];

export function startCharts() {
  const contents = JSON.parse(document.getElementById("charts").textContent);
  const places = [...document.querySelectorAll("[data-chart]")];
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) if (entry.isIntersecting) drawChart(entry.target, contents);
  }, { rootMargin: "600px" });
  places.forEach((place) => seen.observe(place));

  /** Draw what is left when the reader is not waiting, so that printing finds every chart; but not what is folded away. */
  function drawNext() {
    const next = places.find((place) => !place.dataset.state && !place.closest("details:not([open])"));
    if (next) drawChart(next, contents).then(() => (window.requestIdleCallback ?? setTimeout)(drawNext));
  }
  addEventListener("load", () => setTimeout(drawNext, 500));

  let opened = []; // what is folded is opened for paper, and folded again afterwards
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open]):not(.vega-embed details)")];
    opened.forEach((details) => (details.open = true));
    places.forEach((place) => drawChart(place, contents));
  });
  addEventListener("afterprint", () => opened.forEach((details) => (details.open = false)));
}

/** The rows of a data set, which the page holds as columns. */
function rowsOf(columns) {
  const whole = (column) => (column.words ? column.at.map((index) => column.words[index]) : column);
  const lists = Object.entries(columns).map(([key, column]) => [key, whole(column)]);
  return (lists[0]?.[1] ?? []).map((_, row) => {
    const filled = lists.filter(([, values]) => values[row] !== null);
    return Object.fromEntries(filled.map(([key, values]) => [key, values[row]]));
  });
}

/** A chart without a colour behind it: the page has one, light or dark. */
function chartLayout(place, specs) {
  const [, ending] = FITS.find(([width]) => place.clientWidth >= width);
  const spec = specs[place.dataset.chart + ending] ?? specs[place.dataset.chart];
  return { ...spec, config: { ...spec.config, background: "transparent" } };
}

/** Say what a chart shows where it is drawn, and name its menu: a picture holds no buttons. */
function nameChart(place) {
  const picture = place.querySelector("svg.marks, canvas.marks");
  picture.setAttribute("role", "img");
  picture.setAttribute("aria-label", place.getAttribute("aria-label"));
  picture.style.maxWidth = `${1.25 * picture.width?.baseVal?.value || picture.width}px`;
  place.removeAttribute("role");
  place.removeAttribute("aria-label");
  place.querySelector("summary")?.setAttribute("aria-label", "Save this chart");
}

/** Draw a chart once; canvas where an element for each mark would be slow. */
async function drawChart(place, { specs, data }) {
  if (place.dataset.state) return;
  place.dataset.state = "drawing";
  const { uses, ...spec } = chartLayout(place, specs);
  spec.datasets = Object.fromEntries(uses.map((name) => [name, rowsOf(data[name])]));
  const many = Object.values(spec.datasets).some((set) => set.length > MANY_ROWS);
  await vegaEmbed(place, spec, {
    ast: true, // expressions are interpreted, so that the page needs no eval
    renderer: many ? "canvas" : "svg",
    actions: { export: { svg: true, png: true }, source: false, compiled: false, editor: false },
    downloadFileName: place.dataset.chart,
  });
  nameChart(place);
  place.dataset.state = "drawn";
}
