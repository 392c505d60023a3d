"""Plain sentences as HTML that is easy to scan: heads stand out, intervals stand back."""

import re

from markupsafe import Markup, escape

HEAD = re.compile(r"\b(\d+-\d+)(?= \()")
INTERVAL = re.compile(r"(\[-?[\d.e+-]+, -?[\d.e+-]+\])")
COUNT = re.compile(r"(\bn = [\d,]+(?: to [\d,]+)?(?: examples)?)")


def readable(text: str) -> Markup:
    """The text, escaped, with marked heads, intervals and numbers of examples.

    >>> print(readable("<b> 8-10 (0.87 [0.85, 0.88])"))
    &lt;b&gt; <b>8-10</b> (0.87 <span class="interval">[0.85, 0.88]</span>)
    """
    safe = HEAD.sub(r"<b>\1</b>", str(escape(text)))
    for pattern in (INTERVAL, COUNT):
        safe = pattern.sub(r'<span class="interval">\1</span>', safe)
    return Markup(safe)
