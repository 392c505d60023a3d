"""Maps to be labelled: each of a random example, a random layer and a random head."""

from collections.abc import Iterable, Iterator, Sequence
from random import Random

from headscope.corpora import Corpus
from headscope.encoding.encoded import Encoded
from headscope.encoding.encoder import Words
from headscope.encoding.word_tokens import readable_ids
from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.passes.attention_maps import MapChoice, attention_maps
from headscope.passes.settings import DEFAULTS, Settings
from headscope.results.vocabulary import TOKEN_CLASSES
from headscope.studies.heads.patterns.grid import LEAST_TOKENS, MOST_TOKENS
from headscope.studies.heads.patterns.labelled_maps import Map

Input = tuple[str, Encoded]


def sampled(model: Model, corpora: Sequence[Corpus], number: int, settings: Settings = DEFAULTS) -> list[Map]:
    """So many maps, none twice, in random order; `settings.seed` chooses.

    An example is used twice only where there are fewer examples than maps.
    Raises `HeadscopeError` if there are fewer maps than that.
    """
    random = Random(settings.seed)
    inputs = _some(_inputs(model, corpora, settings), number, random)
    heads = [(layer, head) for layer, count in enumerate(model.capture.heads) for head in range(count)]
    if number > len(inputs) * len(heads):
        raise HeadscopeError(
            f"{number} maps are more than the {len(inputs) * len(heads)} of {len(inputs)} examples of "
            f"{LEAST_TOKENS} to {MOST_TOKENS} tokens; ask for fewer with --number"
        )
    random.shuffle(inputs)
    orders = [random.sample(heads, -(-number // len(inputs))) for _ in inputs]
    turns = [(index % len(inputs), index // len(inputs)) for index in range(number)]
    chosen = [MapChoice(inputs[one][1], *orders[one][turn]) for one, turn in turns]
    names = [inputs[one][0] for one, _ in turns]
    return [
        Map(
            id=index,
            attention=attention,
            tokens=readable_ids(model.tokenizer, encoded.encoded.inputs["input_ids"].tolist()),
            token_class=tuple(TOKEN_CLASSES[number] for number in encoded.encoded.token_class),
            model=model.name,
            corpus=name,
            layer=encoded.layer + 1,
            head=encoded.head + 1,
        )
        for index, (encoded, name, attention) in enumerate(
            zip(chosen, names, attention_maps(model, chosen, settings), strict=True), 1
        )
    ]


def _inputs(model: Model, corpora: Sequence[Corpus], settings: Settings) -> Iterator[Input]:
    for corpus in corpora:
        words = Words(model.tokenizer, min(model.max_tokens, MOST_TOKENS), settings.long)
        yield from ((corpus.name, encoded) for encoded in words.encode(corpus) if len(encoded) >= LEAST_TOKENS)


def _some(inputs: Iterable[Input], number: int, random: Random) -> list[Input]:
    """So many of the inputs, each with the same chance, or all if there are fewer (reservoir sampling)."""
    kept: list[Input] = []
    for seen, encoded in enumerate(inputs):
        if len(kept) < number:
            kept.append(encoded)
        elif (index := random.randrange(seen + 1)) < number:
            kept[index] = encoded
    return kept
