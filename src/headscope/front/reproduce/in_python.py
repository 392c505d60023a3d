"""A reproduction in Python: the numbers of a paper beside those of a model."""

from pathlib import Path
from typing import Any

import pandas as pd

from headscope.errors import HeadscopeError
from headscope.front.reproduce.plan import planned
from headscope.front.reproduce.runs import make
from headscope.papers.reproduction import read_reproduction
from headscope.papers.reproduction_page import frame, read_reproduced, write_reproduction
from headscope.papers.reproduction_record import ReproductionRecord
from headscope.storage.run_lock import run_lock


def reproduce(
    paper: str,
    model: str | Path = "minilm",
    *,
    data: str | Path,
    directory: str | Path,
    limit: int | None = None,
    **options: Any,
) -> pd.DataFrame:
    """Numbers of a paper's tables and figures beside those of a model: a row for each.

    Each run is an ordinary command of a study, whose result is kept; `headscope reproduce` does the same. The page is
    `directory/reproduction.html`.

    * `paper`: "clark2019", "kovaleva2019", ...
    * `model`: A name or a folder.
    * `data`: The folder of the data sets, known by their usual names.
    * `directory`: The folder of the results. Those that are there, made by the same command, are kept.
    * `limit`: The largest number of examples of each corpus; by default as in the paper.
    * `options`: Options of all runs, such as `seed` and `resamples`.

    Raises `HeadscopeError` for an unknown paper, a missing folder, or data of which no run can be made.
    """
    reproduction, out = read_reproduction(paper), Path(directory)
    plans = planned(reproduction, str(model), Path(data), out, limit)
    if all(plan.lacks for plan in plans):
        raise HeadscopeError(f"no run of '{paper}' has its data ({plans[0].lacks})")
    record = ReproductionRecord(paper, str(model), limit, ())
    with run_lock(out, "headscope.reproduce"):
        make(plans, record, out, {**options, "quiet": True}, lambda line: None)
    write_reproduction(out)
    return frame(read_reproduced(out))
