/** The sizes of a heat map in its window: gutters, pixels a cell, the cells that are visible. */

const LARGEST_CELL = 34;
const LEGIBLE = 9; // pixels a cell from which tokens are written beside it

/** Set `shape` of a map (`heat_map.js`) for a window of a width, and the size of the world. */
export function layMap(map, width) {
  const { units, options, zoom, canvas } = map;
  const fitting = (side) => Math.min(LARGEST_CELL, (width - side - 2) / units.columns.length, (options.height - side) / units.rows.length);
  const wide = Math.min(map.longest, 104, width * 0.24);
  let cell = zoom || fitting(wide);
  const named = cell >= LEGIBLE;
  const [left, top] = named ? [wide, wide] : [40, 24];
  if (!zoom && !named) cell = Math.min(LEGIBLE - 0.01, fitting(left));
  const height = Math.min(options.height, top + units.rows.length * cell + 2);
  map.shape = { left, top, cell, named, width, height };
  canvas.resize(left + units.columns.length * cell, top + units.rows.length * cell, height);
}

/** The places of rows and columns in the window, each [first, end]. */
export function visibleCells({ units, shape, canvas }) {
  const range = (scroll, room, all) => [Math.max(0, Math.floor(scroll / shape.cell)), Math.min(all.length, Math.ceil((scroll + room) / shape.cell))];
  const { scrollTop, scrollLeft } = canvas.element;
  return { rows: range(scrollTop, shape.height - shape.top, units.rows), columns: range(scrollLeft, shape.width - shape.left, units.columns) };
}
