/** The binary format of maps: little-endian numbers, attention in 255ths. `viewer/tiles.py` writes it. */

/** A tile: uint16 height and width, float32 largest attention of each row, uint8 attention in 255ths of it. */
export function decodeTile(buffer) {
  const head = new DataView(buffer);
  const [height, width] = [head.getUint16(0, true), head.getUint16(2, true)];
  const start = 4 + 4 * height;
  if (buffer.byteLength !== start + height * width) throw new Error("a tile of another length than its size");
  return { height, width, maxima: floats(head, 4, height), levels: new Uint8Array(buffer, start) };
}

/** All heads as small maps: uint16 layers, heads, side; float32 largest attention of each; uint8 maps in 255ths of it. */
export function decodeOverview(buffer) {
  const view = new DataView(buffer);
  const [layers, heads, side] = [0, 2, 4].map((at) => view.getUint16(at, true));
  const start = 6 + 4 * layers * heads;
  if (buffer.byteLength !== start + layers * heads * side * side) throw new Error("an overview of another length than its size");
  return { layers, heads, side, maxima: floats(view, 6, layers * heads), levels: new Uint8Array(buffer, start) };
}

/** The map of one head in an overview; layer and head from 1. */
export function smallMap(overview, layer, head) {
  const area = overview.side ** 2;
  const at = (layer - 1) * overview.heads + head - 1;
  return { maximum: overview.maxima[at], levels: overview.levels.subarray(at * area, (at + 1) * area), side: overview.side };
}

function floats(view, start, length) {
  return Float32Array.from({ length }, (_, at) => view.getFloat32(start + 4 * at, true));
}
