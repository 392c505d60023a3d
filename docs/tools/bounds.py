"""`python docs/tools/bounds.py` writes the table of bounds in docs/reliability.md, from `headscope.storage.limits`."""

from pathlib import Path

from headscope.storage.files import write_atomically
from headscope.storage.limits import TABLE

PAGE = Path(__file__).parents[1] / "reliability.md"
HEADING = "| input | bound |\n| --- | --- |\n"


def written(page: str) -> str:
    """The page with its table made anew."""
    before, _, rest = page.partition(HEADING)
    after = rest.partition("\n\n")[2]
    rows = "".join(f"| {' | '.join(row)} |\n" for row in TABLE)
    return f"{before}{HEADING}{rows}\n{after}"


if __name__ == "__main__":
    write_atomically(PAGE, written(PAGE.read_text(encoding="utf-8")))
