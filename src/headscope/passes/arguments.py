"""Types of the inputs of studies whose plain type alone does not say what they are; `front/inputs.py` makes them."""

from pathlib import Path
from typing import Annotated, Any

from headscope.corpora import Corpus
from headscope.models import Model
from headscope.passes.settings import Settings

Measures = Annotated[tuple[Any, ...], "measures of a user's own, beside those of the study"]
Directory = Annotated[Path, "folder of the result"]
ModelName = Annotated[str, "name of a model that the study loads itself"]
Loading = Annotated[dict[str, Any], "how a study loads a model itself"]
WordsModel = Annotated[Model, "with its head for masked or next words"]
Treebank = Annotated[Corpus, "never the texts of a task"]
Training = Annotated[Corpus, "trained on; the other corpus is tested"]
ComparedCorpus = Annotated[Corpus, "read by several models; by default the examples of the task"]
SeedSettings = Annotated[Settings, "of which the seed alone has an effect"]
ReadingSettings = Annotated[Settings, "for passes without a bootstrap"]
