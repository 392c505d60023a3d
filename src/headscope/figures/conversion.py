"""Charts as SVG, PDF and PNG, by vl-convert; run as a script, a process that converts the charts of another one.

vl-convert draws one chart at a time in a process. The script imports nothing of headscope, so that it starts quickly.
"""

import base64
import json
import re
import signal
import sys
from collections.abc import Sequence
from typing import Any

PNG_SCALE = 2
POINTS = 72 / 96  # of a pixel; vl-convert takes a pixel for a point
SIDES = re.compile(r'(<svg\b[^>]*?) width="([\d.]+)" height="([\d.]+)"')
BOX = re.compile(SIDES.pattern + r' viewBox="0 0 \2 \3"><rect width="\2"')
FORMATS = ("svg", "pdf", "png")
# Escapes of JSON: those of control characters, which XML does not have, and of line separators, which expressions of
# Vega do not have; and in the group all others.
ESCAPES = re.compile(r"\\(?:u00[01][0-9a-f]|u202[89]|[bf]|(.))")


def to_svg(spec: dict[str, Any], version: str) -> str:
    """A Vega-Lite specification of a version ("6.1") as SVG; nothing is fetched.

    A picture narrower than the `least_width` of the specification's `usermeta` gets a margin on both sides, so that
    type keeps its size where a paper scales it to a column.
    """
    import vl_convert

    picture = vl_convert.vegalite_to_svg(without_controls(spec), vl_version=version, allowed_base_urls=[])
    return at_least(picture, spec.get("usermeta", {}).get("least_width", 0))


def at_least(picture: str, width: float) -> str:
    """An SVG picture that is at least this wide, in pixels, with its background.

    >>> at_least('<svg width="96" height="48" viewBox="0 0 96 48"><rect width="96" height="48"/></svg>', 100)
    '<svg width="100" height="48" viewBox="-2.0 0 100 48"><rect x="-2.0" width="100" height="48"/></svg>'
    """

    def sides(root: re.Match[str]) -> str:
        start, inner, height = root[1], float(root[2]), root[3]
        left = (inner - width) / 2
        box = f'width="{width}" height="{height}" viewBox="{left} 0 {width} {height}"'
        return f'{start} {box}><rect x="{left}" width="{width}"' if left < 0 else root[0]

    return BOX.sub(sides, picture, count=1)


def without_controls(spec: dict[str, Any]) -> dict[str, Any]:
    """A specification with U+FFFD instead of control characters, for which vl-convert may end the process."""
    text = json.dumps(spec)
    clean = replace_controls(text)
    return spec if clean == text else json.loads(clean)


def replace_controls(text: str) -> str:
    r"""JSON with U+FFFD instead of control characters and line separators.

    >>> replace_controls(json.dumps("a\x1bb\\b\n\u2028"))
    '"a\\ufffdb\\\\b\\n\\ufffd"'
    """
    return ESCAPES.sub(lambda escape: escape[0] if escape[1] else "\\ufffd", text)


def from_svg(picture: str, format: str) -> bytes:
    """The content of a file of an SVG picture: svg, pdf or png."""
    import vl_convert

    if format == "svg":
        return picture.encode()
    if format == "pdf":
        return vl_convert.svg_to_pdf(in_points(picture))
    return vl_convert.svg_to_png(picture, scale=PNG_SCALE)


def in_points(picture: str) -> str:
    """An SVG picture with its size in points, where that of its root is in pixels.

    >>> in_points('<svg width="96" height="48" viewBox="0 0 96 48"></svg>')
    '<svg width="72.0" height="36.0" viewBox="0 0 96 48"></svg>'
    """

    def sides(root: re.Match[str]) -> str:
        return f'{root[1]} width="{float(root[2]) * POINTS}" height="{float(root[3]) * POINTS}"'

    return SIDES.sub(sides, picture, count=1)


def to_files(spec: dict[str, Any], version: str, formats: Sequence[str]) -> dict[str, bytes]:
    """The content of a file of a chart in each format."""
    picture = to_svg(spec, version)
    return {name: from_svg(picture, name) for name in formats}


def serve() -> None:
    """Answer each line on stdin, the arguments of `to_files`, with a line on stdout: the contents or an error."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that asks; the end of stdin ends this one
    to_svg({"mark": "point"}, sys.argv[1])  # the first chart starts an engine, which takes half a second
    for line in sys.stdin:
        try:
            files = to_files(**json.loads(line))
            answer: dict[str, Any] = {name: base64.b64encode(content).decode() for name, content in files.items()}
        except Exception as error:
            answer = {"error": str(error)}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    serve()
