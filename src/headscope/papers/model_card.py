"""Verdicts and main numbers as a section of a Hugging Face model card."""

from collections.abc import Sequence
from html import escape
from pathlib import Path

from headscope.corpora.parsing.lines import opened
from headscope.errors import HeadscopeError
from headscope.papers.portrait import strongest
from headscope.papers.verdicts import Judgement
from headscope.papers.words import details, measured, summed_up
from headscope.report.cards.model_results import MeasuredModel
from headscope.storage.files import write_atomically
from headscope.storage.limits import LARGEST_CARD
from headscope.version import __version__

BEGIN, END = "<!-- headscope: begin -->", "<!-- headscope: end -->"
HEADER = "---\ntags:\n- headscope\n---\n"


def write_card(path: Path, model: MeasuredModel, judgements: Sequence[Judgement]) -> Path:
    """Write the section of a model into a card: in the place of its own former one, else at the end; return the path.

    All else of the card stays as it is. A card that is missing is made, with a tag as its metadata.

    Raises `HeadscopeError` for a card that is no text or has half a section, and if it cannot be written.
    """
    return write_atomically(path, with_section(_former(path), section(model, judgements), str(path)))


def section(model: MeasuredModel, judgements: Sequence[Judgement]) -> str:
    """The section: the strongest sentences, and the claims that are measured."""
    lines = [BEGIN, "## What its heads and layers do", ""]
    lines += [f"- **{_text(finding.topic)}**: {_text(finding.text)}" for finding, _ in strongest(model)]
    lines += ["", f"Claims of papers about BERT, and whether they hold here. {summed_up(judgements)}", ""]
    lines += ["| | claim | verdict | here |", "| --- | --- | --- | --- |"]
    for judged in judgements:
        if judged.test:
            here = f"{measured(judged)} ({details(judged)})"
            lines.append(
                "| " + " | ".join(map(_text, (judged.claim.id, judged.claim.claim, judged.verdict, here))) + " |"
            )
    lines += ["", f"Measured with headscope {__version__}; intervals are 95%.", END, ""]
    return "\n".join(lines)


def with_section(card: str, section: str, name: str) -> str:
    r"""A card with a section in the place of its former one.

    * `name`: of the card, for an error.

    Raises `HeadscopeError` if the former section has no end, or there are two.

    >>> with_section("# A model\n", f"{BEGIN}\nnew\n{END}\n", "README.md")
    '# A model\n\n<!-- headscope: begin -->\nnew\n<!-- headscope: end -->\n'
    """
    if (card.count(BEGIN), card.count(END)) == (0, 0):
        return f"{card.rstrip()}\n\n{section}" if card.strip() else HEADER + section
    start, end = card.find(BEGIN), card.find(END)
    if (card.count(BEGIN), card.count(END)) != (1, 1) or end < start:
        raise HeadscopeError(
            f"card '{name}' has half of a section of headscope; remove its lines '{BEGIN}' and '{END}'"
        )
    return card[:start] + section.rstrip("\n") + card[end + len(END) :]


def _former(path: Path) -> str:
    if not path.exists():
        return ""
    with opened(path, "card") as file:
        content = file.read(LARGEST_CARD + 1)
    try:
        if len(content) > LARGEST_CARD:
            raise HeadscopeError(f"card '{path}' has more than {LARGEST_CARD} bytes; name another file")
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise HeadscopeError(f"card '{path}' is no text in UTF-8; name another file") from error


def _text(text: str) -> str:
    """Text of a result in a card: no HTML, and no cell or line of its own."""
    return " ".join(escape(text, quote=False).replace("|", "\\|").split())
