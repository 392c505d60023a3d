"""Table 1 of Kovaleva et al. 2019, for BERT-base-uncased, as fractions."""

from collections.abc import Sequence

# task: metric: init: score. The paper heads STS-B with "Acc"; a correlation is meant, most likely Pearson's.
TABLE_1: dict[str, dict[str, dict[str, float]]] = {
    "MRPC": {
        "f1": {"pretrained": 0.0, "random": 0.812, "finetuned": 0.879},
        "accuracy": {"pretrained": 0.316, "random": 0.683, "finetuned": 0.823},
    },
    "STS-B": {"pearson": {"pretrained": 0.331, "random": 0.029, "finetuned": 0.827}},
    "SST-2": {"accuracy": {"pretrained": 0.491, "random": 0.805, "finetuned": 0.92}},
    "QQP": {
        "f1": {"pretrained": 0.0, "random": 0.0, "finetuned": 0.652},
        "accuracy": {"pretrained": 0.609, "random": 0.632, "finetuned": 0.786},
    },
    "RTE": {"accuracy": {"pretrained": 0.527, "random": 0.527, "finetuned": 0.646}},
    "QNLI": {"accuracy": {"pretrained": 0.528, "random": 0.495, "finetuned": 0.844}},
    "MNLI": {"accuracy": {"pretrained": 0.317, "random": 0.61, "finetuned": 0.786}},
}


def paper_score(task: str, init: str, metrics: Sequence[str]) -> list[float]:
    """The paper's score for each metric; NaN where the paper has none.

    >>> paper_score("MRPC", "random", ["accuracy", "f1", "matthews"])
    [0.683, 0.812, nan]
    """
    published = TABLE_1.get(task, {})
    return [published.get(metric, {}).get(init, float("nan")) for metric in metrics]
