"""The models among the words of a survey's command, and a folder for each."""

from collections.abc import Sequence
from pathlib import Path

from headscope import catalog
from headscope.errors import HeadscopeError


def split(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """The models and the corpora among some words: the first is a model, and those after it that name one.

    A model is `minilm`, a folder with config.json, or a name of the hub that is no file and has no suffix of one.

    Raises `HeadscopeError` for a model that comes twice.

    >>> split(["minilm", "bert-base-uncased", "sample", "treebank.conllu"])
    (['minilm', 'bert-base-uncased'], ['sample', 'treebank.conllu'])
    """
    number = next((index for index, word in enumerate(words[1:], 1) if not is_model(word)), len(words))
    models, corpora = list(words[:number]), list(words[number:])
    if again := next((model for model in models if models.count(model) > 1), ""):
        raise HeadscopeError(f"model '{again}' is given twice; name each model once")
    return models, corpora


def is_model(word: str) -> bool:
    """Whether a word names a model rather than a corpus."""
    if word == "minilm" or (Path(word) / "config.json").is_file():
        return True
    from headscope.models.checkpoint import HUB_NAME

    if word in catalog.names("corpora/readers") or Path(word).exists() or not HUB_NAME.fullmatch(word):
        return False
    return not Path(word.removesuffix(".gz")).suffix[1:2].isalpha()


def folders(models: Sequence[str], directory: Path) -> dict[str, Path]:
    """The folder of each model's survey: that of the command for one, else one within it of the model's name.

    >>> folders(["minilm"], Path("out"))["minilm"].name, folders(["a/bert", "b/bert"], Path("out"))["b/bert"].name
    ('out', 'bert-2')
    """
    if len(models) == 1:
        return {models[0]: directory}
    by_model: dict[str, Path] = {}
    for model in models:
        name = Path(model).resolve().name if Path(model).exists() else model.rpartition("/")[2]
        again = sum(path.name == name or path.name.startswith(f"{name}-") for path in by_model.values())
        by_model[model] = directory / (f"{name}-{again + 1}" if again else name)
    return by_model
