"""The commands on a page of Markdown."""

import re


def commands(page: str) -> list[str]:
    r"""The lines of `sh` blocks that run headscope, without comments; a line that ends with a backslash goes on.

    >>> commands("Text.\n```sh\nheadscope list   # all\nheadscope head \\\n    3-9 out\nmake demo\n```\n")
    ['headscope list', 'headscope head     3-9 out']
    """
    blocks = re.findall(r"^```sh\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    lines = "".join(blocks).replace("\\\n", "").splitlines()
    return [line.partition(" #")[0].strip() for line in lines if line.startswith("headscope ")]
