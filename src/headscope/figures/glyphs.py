"""Characters that a PDF or PNG picture lacks, since no font of this machine has them."""

from html import escape
from xml.etree import ElementTree

from headscope.figures.theme import FONT

NO_CHARACTER = "\U0010fffe"  # Unicode promises that it never becomes one
NAMED = 12


def without_glyph(picture: str) -> str:
    """The characters of an SVG picture that vl-convert draws as a box, each once, in their order.

    vl-convert does not tell which fonts it has found: each character is drawn, and compared with one that no font has.

    >>> without_glyph("<svg><text>café → 1</text></svg>")
    ''
    """
    letters = dict.fromkeys("".join(ElementTree.fromstring(picture).itertext()))
    box = _drawn(NO_CHARACTER)
    return "".join(letter for letter in letters if not letter.isascii() and _drawn(letter) == box)


def glyph_notice(picture: str) -> str:
    """The line about the boxes of an SVG picture in a PDF or PNG file, and the remedy; "" without any."""
    boxes = without_glyph(picture)
    if not boxes:
        return ""
    more = f" and {len(boxes) - NAMED} more" if len(boxes) > NAMED else ""
    return (
        f"no font of this machine has the characters {boxes[:NAMED]}{more}: the picture has boxes in their place; "
        "install a font that has them (of Noto, for example), or save an .svg, which has the fonts of whoever opens it"
    )


def _drawn(letter: str) -> bytes:
    """A PNG picture of a character."""
    import vl_convert

    text = f'<text x="8" y="24" font-size="16" font-family="{FONT}">{escape(letter)}</text>'
    return vl_convert.svg_to_png(f'<svg xmlns="http://www.w3.org/2000/svg" width="32" height="32">{text}</svg>')
