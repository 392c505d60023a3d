/** Keys that move over a grid of heads, as they lie. */

/** The cell to which a key moves from a cell; `rows` are lists of cells. Undefined for another key or at an edge. */
export function neighbourOf(rows, cell, key) {
  const row = rows.findIndex((each) => each.includes(cell));
  if (row < 0) return undefined;
  const column = rows[row].indexOf(cell);
  const inRow = (at) => rows[at]?.[Math.min(column, rows[at].length - 1)];
  const moves = {
    ArrowUp: () => inRow(row - 1), ArrowDown: () => inRow(row + 1), Home: () => rows[row][0], End: () => rows[row].at(-1),
    ArrowLeft: () => rows[row][column - 1], ArrowRight: () => rows[row][column + 1],
  };
  return moves[key]?.();
}
