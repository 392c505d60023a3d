"""Plain sentences as HTML that is easy to scan: heads stand out, intervals stand back."""

import re

from markupsafe import Markup, escape

HEAD = re.compile(r"\b(\d+-\d+)(?= \()")
INTERVAL = re.compile(r"(\[-?[\d.e+-]+, -?[\d.e+-]+\])")
COUNT = re.compile(r"(\bn = [\d,]+(?: to [\d,]+)?(?: examples)?)")
# A line may break after any hyphen.
POWER = re.compile(r"(\b[\d.]+e-\d+)")


def readable(text: str) -> Markup:
    """The text, escaped, with marked heads, intervals and numbers of examples.

    >>> print(readable("<b> 8-10 (0.87 [0.85, 0.88])"))
    &lt;b&gt; <b>8-10</b> (0.87 <span class="interval">[0.85, 0.88]</span>)
    """
    safe = HEAD.sub(r"<b>\1</b>", str(escape(text)))
    for pattern in (INTERVAL, COUNT):
        safe = pattern.sub(r'<span class="interval">\1</span>', safe)
    return _unbroken(safe)


def unbroken(text: str) -> Markup:
    """The text, escaped; no line ends within its numbers.

    >>> print(unbroken("6.1e-05, 0.2"))
    <span class="number">6.1e-05</span>, 0.2
    """
    return _unbroken(str(escape(text)))


def _unbroken(safe: str) -> Markup:
    return Markup(POWER.sub(r'<span class="number">\1</span>', safe))
