/** Colours of attention: the square root scale of `figures/attention_image.py`, and its mirror for dark pages. */

const LIGHT = { paper: [255, 255, 255], ink: [12, 31, 77], less: [153, 52, 4] };
const DARK = { paper: [18, 23, 29], ink: [205, 223, 255], less: [255, 170, 110] };
// The colours of Okabe and Ito, for several heads in one picture.
const HEADS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8a8a8a", "#b8a000"];
export const STEPS = 1024;

/** Colours of 0 to `STEPS`, from none to the largest attention, as 32-bit pixels. */
export function shades(dark) {
  const { paper, ink } = dark ? DARK : LIGHT;
  return Uint32Array.from({ length: STEPS + 1 }, (_, at) => pixel(mixed(paper, ink, Math.sqrt(at / STEPS))));
}

/** Colours of -`STEPS` to `STEPS`: what the second map has more of is ink, what the first has more of is brown. */
export function differenceShades(dark) {
  const { paper, ink, less } = dark ? DARK : LIGHT;
  const colour = (at) => mixed(paper, at < 0 ? less : ink, Math.sqrt(Math.abs(at) / STEPS));
  return Uint32Array.from({ length: 2 * STEPS + 1 }, (_, at) => pixel(colour(at - STEPS)));
}

/** The colour of the head at a place in the list of chosen heads. */
export function headColour(at, dark) {
  return legible(HEADS[at % HEADS.length], dark);
}

/** A colour that can be seen on a dark page too. */
export function legible(colour, dark) {
  const parts = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  const light = 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
  return dark && light < 120 ? css(mixed(parts, [255, 255, 255], light < 20 ? 0.9 : 0.35)) : colour;
}

/** A colour between page and accent, for a share from 0 to 1. */
export function scaleColour(amount, dark) {
  return css(dark ? mixed([52, 64, 78], [142, 193, 255], amount) : mixed([226, 232, 240], [11, 83, 148], amount));
}

function mixed(from, to, amount) {
  return from.map((value, at) => Math.round(value + (to[at] - value) * amount));
}

function pixel([red, green, blue]) {
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}

function css(parts) {
  return `rgb(${parts.join(" ")})`;
}
