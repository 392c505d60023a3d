"""The clusters of a result: their heads and the attention of these heads."""

import xarray as xr

from headscope.figures.labels import label
from headscope.report.tables import Column, Table
from headscope.report.wording import number
from headscope.studies.clusters.page.summary import Cluster, clusters

MEANS = {
    "[CLS]": ("attention_to", {"token_class": "cls"}),
    "[SEP]": ("attention_to", {"token_class": "sep"}),
    "Punctuation": ("attention_to", {"token_class": "punct"}),
    "Previous": ("attention_offset", {"offset": -1}),
    "Next": ("attention_offset", {"offset": 1}),
    "Entropy": ("entropy", {}),
}
# Coordinates of heads that only some results have, and the dimension that their values are labels of.
NAMES = {"dominant": ("Patterns", "pattern"), "best_relation": ("Relations", "relation")}


def tables(result: xr.Dataset) -> list[Table]:
    """One line for each cluster, the largest first."""
    names = {name: title for name, (title, _) in NAMES.items() if name in result.coords}
    head = ("Heads", "Within", *MEANS, *names.values())
    caption = (
        "Clusters: number of heads, mean divergence within the cluster (nats), and means over the heads: shares of "
        "attention to classes of tokens and neighbours, entropy (nats)."
    )
    columns = tuple(Column(words.lower(), words) for words in head)
    rows = [((each.number,), _cells(result, each, list(names))) for each in clusters(result)]
    return [Table("clusters", caption, "", "", ("Cluster",), columns, rows)]


def _cells(result: xr.Dataset, cluster: Cluster, names: list[str]) -> list[tuple[str, str] | None]:
    alone = len(cluster.heads) == 1
    means = [cluster.mean(result[name].sel(place)) for name, place in MEANS.values()]
    counts = [_counted(cluster.most(result[name]), NAMES[name][1]) for name in names]
    return [
        (str(len(cluster.heads)), ""),
        None if alone else (number(cluster.divergence), ""),
        *((number(mean), "") if mean == mean else None for mean in means),
        *((each, "") for each in counts),
    ]


def _counted(values: list[tuple[str, int]], dim: str) -> str:
    return ", ".join(f"{label(dim, value)} {count}" for value, count in values)
