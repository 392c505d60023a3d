"""The verdicts in docs/papers.md, from the numbers in docs/measured.

`python docs/tools/papers_page.py` writes them anew; with a folder of results of the built-in model, such as
`python docs/tools/papers_page.py out`, it first keeps of these results the numbers that claims are judged by.
"""

import json
import re
import sys
from pathlib import Path

import xarray as xr

from headscope import catalog, results
from headscope.papers import Judgement, judge, read_papers, words
from headscope.papers.paper_claim import ENTRIES
from headscope.report.cards.model_results import MeasuredModel, Source, read_all
from headscope.results.vocabulary import ATTRIBUTES
from headscope.storage.files import write_atomically

DOCS = Path(__file__).parents[1]
MEASURED, PAGE = DOCS / "measured", DOCS / "papers.md"
START, END = "<!-- verdicts -->\n", "<!-- end of verdicts -->\n"
# Pages of studies that share one.
PAGES = {"profile": "numbers.md#the-study-profile", "compare": "numbers.md#the-study-compare"} | dict.fromkeys(
    ("finetune", "ablate", "prune"), "fine-tuning.md"
)
KEPT = {*ATTRIBUTES, "options", "resampled"}


def numbers_of(result: xr.Dataset) -> xr.Dataset:
    """The variables that the entries of claims name, with their intervals and counts; no texts, no maps, no paths."""
    named = {word for path in ENTRIES.glob("*.yaml") for word in re.findall(r"\w+", path.read_text(encoding="utf-8"))}
    named |= {f"{name}_by_seed" for name in named} | set(catalog.load("studies", result.attrs["study"]).REQUIRED)
    kept = [name for name in map(str, result.data_vars) if re.sub("_ci$|_n_examples$", "", name) in named]
    made = result[kept].drop_vars([name for name, one in result[kept].coords.items() if name not in one.dims])
    made.attrs = {name: value for name, value in result.attrs.items() if name in KEPT} | {"model": "minilm"}
    return made


def judgements() -> list[Judgement]:
    """The verdicts on all claims, as of one model: what was fine-tuned is the built-in model, fine-tuned."""
    sources = tuple(Source(path, result) for path, result in read_all([MEASURED]).items())
    return judge(MeasuredModel(("minilm",), "minilm", sources), read_papers())


def written(page: str, verdicts: list[Judgement]) -> str:
    """A page with its verdicts made anew."""
    studies = {study: PAGES.get(study, f"{catalog.command_name(study)}.md") for study in catalog.names("studies")}
    before, _, rest = page.partition(START)
    return f"{before}{START}\n{words.markdown(verdicts, studies)}\n{END}{rest.partition(END)[2]}"


def keep(folder: Path) -> None:
    """Keep the numbers of the results in a folder."""
    for path, result in read_all([folder]).items():
        results.save(numbers_of(result), MEASURED / path.parent.name)


if __name__ == "__main__":
    if sys.argv[1:]:
        keep(Path(sys.argv[1]))
    judged = judgements()
    write_atomically(PAGE, written(PAGE.read_text(encoding="utf-8"), judged))
    counts = words.counted(judged)
    print(json.dumps(counts))
