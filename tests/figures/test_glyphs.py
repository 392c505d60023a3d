"""Characters without a glyph: found by their box, and said in one line."""

import pytest

from headscope.figures import glyphs
from headscope.figures.glyphs import NO_CHARACTER, glyph_notice, without_glyph

LATIN = "<svg><text>café</text><text>→ 1</text></svg>"
UNASSIGNED = "\u0378\U0010fffd"  # no character, and one of private use: no font that draws text has them


def test_a_character_that_no_font_has_is_found_once() -> None:
    picture = f"<svg><g><text>a{UNASSIGNED[0]}é</text></g><text>{UNASSIGNED} {UNASSIGNED}</text></svg>"
    assert without_glyph(picture) == UNASSIGNED
    assert without_glyph(LATIN) == "" and glyph_notice(LATIN) == ""


def test_what_is_drawn_as_nothing_is_no_box() -> None:
    assert without_glyph("<svg><text>a\u200d\ufe0f\u00a0\u2028b</text></svg>") == ""


def test_text_that_is_not_drawn_does_not_count() -> None:
    assert without_glyph(f'<svg aria-label="{UNASSIGNED}"><text aria-label="{UNASSIGNED}">a</text></svg>') == ""


def test_the_line_names_the_characters_and_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    line = glyph_notice(f"<svg><text>{UNASSIGNED}</text></svg>")
    assert line.startswith(f"no font of this machine has the characters {UNASSIGNED}: ") and "install a font" in line
    monkeypatch.setattr(glyphs, "_drawn", lambda letter: b"box" if letter == NO_CHARACTER or letter >= "一" else b"")
    kanji = "".join(map(chr, range(0x4E00, 0x4E14)))
    assert f"the characters {kanji[:12]} and 8 more: " in glyph_notice(f"<svg><text>{kanji}</text></svg>")
