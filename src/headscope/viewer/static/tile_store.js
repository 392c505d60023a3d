/** Tiles of attention maps: asked for when they are looked at, kept while they are used. */

export const SIDE = 256;
const KEPT = 1024; // tiles of 64 KiB
const AT_ONCE = 6;
const WAITING = 64;

/** The tiles of one text; `onArrive` is called after each that comes, `onError` with the error of each that does not. */
export function tileStore(source, id, onArrive, onError) {
  const tiles = new RecentlyUsed(KEPT);
  const state = new Map(); // key -> "waiting", "asked" or "failed"
  let waiting = [];
  let asked = 0;

  const next = () => {
    while (asked < AT_ONCE && waiting.length) {
      const { key, load } = waiting.pop(); // the newest first: it is what is looked at
      state.set(key, "asked");
      asked += 1;
      load().then(() => state.delete(key), (error) => {
        state.set(key, "failed");
        onError(error);
      }).finally(() => {
        asked -= 1;
        next();
        onArrive();
      });
    }
  };
  const ask = (key, load) => {
    if (state.has(key)) return;
    state.set(key, "waiting");
    waiting.push({ key, load });
    if (waiting.length > WAITING) state.delete(waiting.shift().key); // asked for again if it is still looked at
    next();
  };
  const tile = (place, zoom, row, column) => {
    const name = placeName(place);
    const key = `${name}/${zoom}/${row}/${column}`;
    const kept = tiles.get(key);
    if (kept) return kept;
    if (place.words) ask(name, async () => cut(await source.words(id, place), (at, part) => tiles.set(`${name}/0/${at}`, part)));
    else ask(key, async () => tiles.set(key, await source.tile(id, place, zoom, row, column)));
    return null;
  };
  return { tile };
}

/** Attention of one query to all keys, or null while a tile is missing. */
export function rowValues(tiles, place, row, count) {
  const values = new Float32Array(count);
  let whole = true;
  for (let column = 0; column * SIDE < count; column += 1) {
    const tile = tiles.tile(place, 0, Math.floor(row / SIDE), column);
    if (!tile) whole = false;
    else copyRow(tile, row % SIDE, values, column * SIDE);
  }
  return whole ? values : null;
}

/** Attention of one query to one key, or null while the tile is missing. */
export function cellValue(tiles, place, row, column) {
  const tile = tiles.tile(place, 0, Math.floor(row / SIDE), Math.floor(column / SIDE));
  return tile && tileValue(tile, row % SIDE, column % SIDE);
}

/** Attention in a cell of a tile. */
export function tileValue(tile, row, column) {
  return tile.levels[row * tile.width + column] * tile.maxima[row] / 255;
}

/** The places of the largest values, largest first, at most `number`, of those in `columns`. */
export function strongest(values, columns, number) {
  const best = [];
  for (const column of columns) {
    const value = values[column];
    if (!(value > 0) || (best.length === number && value <= values[best[number - 1]])) continue;
    let at = best.length;
    while (at > 0 && values[best[at - 1]] < value) at -= 1;
    best.splice(at, 0, column);
    if (best.length > number) best.pop();
  }
  return best;
}

function placeName({ model, layer, head, words }) {
  return `${model}/${layer}-${head}/${words ? "words" : "pieces"}`;
}

function copyRow(tile, row, values, start) {
  const [scale, first] = [tile.maxima[row] / 255, row * tile.width];
  for (let at = 0; at < tile.width; at += 1) values[start + at] = tile.levels[first + at] * scale;
}

/** Cut a whole map into tiles; `keep` receives each with its row and column. */
function cut(map, keep) {
  for (let top = 0; top < map.height; top += SIDE) {
    const height = Math.min(SIDE, map.height - top);
    for (let left = 0; left < map.width; left += SIDE) {
      const width = Math.min(SIDE, map.width - left);
      const levels = new Uint8Array(height * width);
      for (let row = 0; row < height; row += 1) {
        const start = (top + row) * map.width + left;
        levels.set(map.levels.subarray(start, start + width), row * width);
      }
      keep(`${top / SIDE}/${left / SIDE}`, { height, width, levels, maxima: map.maxima.subarray(top, top + height) });
    }
  }
}

export class RecentlyUsed {
  constructor(most) {
    this.most = most;
    this.entries = new Map();
  }

  get(key) {
    const value = this.entries.get(key);
    if (value !== undefined) {
      this.entries.delete(key);
      this.entries.set(key, value);
    }
    return value;
  }

  set(key, value) {
    this.entries.delete(key);
    this.entries.set(key, value);
    if (this.entries.size > this.most) this.entries.delete(this.entries.keys().next().value);
  }
}
