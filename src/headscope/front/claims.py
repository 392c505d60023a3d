"""Claims of the papers in Python, and what the command `claims` reads."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pandas as pd
import xarray as xr

from headscope.errors import HeadscopeError
from headscope.papers import Judgement, judge, read_papers
from headscope.report.cards import MeasuredModel
from headscope.report.cards.model_results import models_in, read_all
from headscope.results.hub import fetch

Results = xr.Dataset | str | Path | Mapping[str, xr.Dataset] | Sequence[xr.Dataset | str | Path]


def claims(results: Results, *, files: Iterable[str | Path] = ()) -> pd.DataFrame:
    """Verdicts of results on the claims of the papers: a row for each model and claim.

    What each claim says and which number decides it stands in docs/claims.md. A claim holds or fails where the 95%
    interval lies on one side of its limit, else it is undecided; without a result that has the number it is not
    measured.

    * `results`: results of studies, folders of saved ones, or what `survey` returns.
    * `files`: claims of your own beside the papers' (YAML).

    Raises `HeadscopeError` if there is no result, or a file is no list of claims.

    >>> import headscope
    >>> verdicts = headscope.claims(headscope.profile("minilm", headscope.read("sample", limit=40)))
    >>> verdicts.set_index("id").loc["C1", ["verdict", "where"]].tolist()
    ['holds', 'head 1-3']
    """
    if isinstance(results, xr.Dataset | str | Path):
        results = [results]
    listed = results.values() if isinstance(results, Mapping) else results
    rows = [
        {"model": model.name} | judgement.record()
        for model, judgements in judged_of(listed, files)
        for judgement in judgements
    ]
    return pd.DataFrame(rows)


def judged_of(
    results: Iterable[xr.Dataset | str | Path], files: Iterable[str | Path]
) -> list[tuple[MeasuredModel, list[Judgement]]]:
    """The models that results are about, each with the verdicts of its results."""
    read: dict[Path, xr.Dataset] = {}
    for number, result in enumerate(results, 1):
        read |= {Path(f"result {number}"): result} if isinstance(result, xr.Dataset) else read_all([fetch(result)])
    if not read:
        raise HeadscopeError("there is no result; give results of studies, or folders that they were saved in")
    papers = read_papers(*files)
    return [(model, judge(model, papers)) for model in models_in(read)]
