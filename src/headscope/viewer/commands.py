"""Commands of the viewer besides `view`."""

from typing import Annotated, Any

from headscope import models
from headscope.corpora import Corpus
from headscope.passes import Settings
from headscope.passes.settings import Directory, Loading, ModelName
from headscope.ranges import Range
from headscope.results.vocabulary import TOKEN_CLASSES
from headscope.storage.files import remove_unfinished
from headscope.storage.run_lock import run_lock
from headscope.viewer.example_index import example_index
from headscope.viewer.focus_observer import DIRECTIONS
from headscope.viewer.saved_index import FILE, save


def index(
    checkpoint: ModelName,
    loading: Loading,
    corpus: Corpus,
    directory: Directory,
    settings: Settings,
    *,
    per_head: Annotated[int, Range(1, 100)] = 10,
) -> dict[str, Any]:
    """Index the examples in which each head gives a class of token or a relation most attention, for the viewer.

    Returns: the file, and the numbers of examples, kept texts, token classes and relations.

    Arguments:

    * `checkpoint`: Name of a model.
    * `loading`: Device and revision of the model.
    * `corpus`: Examples; a treebank also gives relations.
    * `directory`: Folder of the index.
    * `settings`: Seed, batch size and progress.
    * `per_head`: Number of examples of a head and a class of token or relation.

    Raises `HeadscopeError` if no example fits into the model, or the folder cannot be written to or is in use.
    """
    with run_lock(directory, "headscope index"):
        remove_unfinished(directory / FILE)
        dataset = example_index(models.load(checkpoint, **loading), corpus, settings, per_head=per_head)
        path = save(dataset, directory)
    classes = [name for name in dataset["focus"].values.tolist() if name in TOKEN_CLASSES]
    return {
        "index": str(path),
        "examples": int(dataset.attrs["n_examples"]),
        "texts": dataset.sizes["kept_text"],
        "token_classes": len(classes),
        "relations": (dataset.sizes["focus"] - len(classes)) // len(DIRECTIONS),
    }
