"""The numbers of all heads and layers, as a page reads them."""

from typing import Any

from headscope.report.cards import MeasuredModel
from headscope.report.kinds import COLOURS, head_kinds, kind_words

DIGITS = 5


def model_numbers(measured: MeasuredModel | None) -> dict[str, Any]:
    """All numbers of a model's heads and layers, what the heads do by them, names and colours of these kinds."""
    kinds = head_kinds([source.result for source in measured.sources] if measured else [])
    names, meanings = kind_words(measured.sources[0].result.attrs if measured else {})
    return {
        "numbers": head_numbers(measured) if measured else [],
        "layers": [{"words": layer.words, "best": layer.chosen} for layer in measured.layers] if measured else [],
        "kinds": [[*head, kind.kind, kind.word] for head, several in kinds.items() for kind in several[:1]],
        "colours": COLOURS,
        "names": names,
        "meanings": meanings,
    }


def head_numbers(measured: MeasuredModel) -> list[dict[str, Any]]:
    """All numbers of a model's heads, each with a name of its own, in the order of the results.

    A name is the address of the number (`attention_to.sep`); a number of a second result has its place behind it.
    """
    entries: list[dict[str, Any]] = []
    groups: Any = measured.numbers.groupby(["source", "variable", "labels"], sort=False, dropna=False)
    for (source, variable, labels), rows in groups:
        name = ".".join([str(variable), *labels])
        again = sum(entry["address"] == name for entry in entries)
        words = str(rows["words"].iloc[0])
        values = zip(rows["layer"], rows["head"], rows["value"], strict=True)
        attrs = measured.sources[int(source)].result.attrs
        entries.append(
            {
                "name": f"{name} ({again + 1})" if again else name,
                "address": name,
                "long_name": ": ".join(filter(None, [str(rows["long_name"].iloc[0]), words])),
                "units": str(rows["units"].iloc[0]),
                "study": str(attrs["study"]),
                "corpus": str(attrs["corpus"]),
                "values": [[int(layer), int(head), float(f"{value:.{DIGITS}g}")] for layer, head, value in values],
            }
        )
    return entries
