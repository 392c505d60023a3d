/** Pictures as SVG text, with everything that comes from a text escaped. */

export function escaped(text) {
  // Control characters are not allowed in XML.
  return String(text).replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd")
    .replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;");
}

/** An SVG document of a size, on white. */
export function svgPage(width, height, content) {
  const [wide, high] = [Math.ceil(width), Math.ceil(height)];
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${wide}" height="${high}" viewBox="0 0 ${wide} ${high}" `
    + `font-family="Arial, Liberation Sans, sans-serif"><rect width="100%" height="100%" fill="white"/>${content}</svg>`;
}

/** A line of text; `more` are further attributes. */
export function svgText(x, y, text, { size = 12, anchor = "start", colour = "#1f2933", more = "" } = {}) {
  return `<text x="${round(x)}" y="${round(y)}" font-size="${size}" text-anchor="${anchor}" fill="${colour}" ${more}>${escaped(text)}</text>`;
}

/** A canvas as an image whose pixels stay sharp. */
export function svgImage(canvas, x, y, width, height) {
  return `<image href="${canvas.toDataURL()}" x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(height)}" preserveAspectRatio="none" style="image-rendering:pixelated"/>`;
}

/** A coordinate with two decimals. */
export function round(value) {
  return Math.round(value * 100) / 100;
}
