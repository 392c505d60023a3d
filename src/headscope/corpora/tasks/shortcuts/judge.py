"""The answers of a classifier of inference or paraphrase to pairs that are entailed or not."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from jaxtyping import Float

from headscope.corpora.tasks.shortcuts.pairs import ShortcutPair
from headscope.errors import HeadscopeError

# Names of the output that says yes, in lower case.
ENTAILS = ("entailment", "entailed", "entails", "yes", "true")
SAME = ("equivalent", "paraphrase", "duplicate", "is_duplicate", "1")


def judge_of(
    pairs: Sequence[ShortcutPair], id2label: Mapping[int, str], model: str
) -> Callable[[Float[np.ndarray, "*variant pair output"]], Float[np.ndarray, "*variant pair 2"]]:
    """A function from a model's outputs to those of the wrong and of the right answer, the largest of several.

    An output named entailment is right for pairs that are entailed; one named equivalent, paraphrase or 1 for pairs
    that say the same. All other outputs, such as neutral and contradiction, say no.

    * `id2label`: the names of the outputs, from the model's configuration; `model`: its name, for messages.

    Raises `HeadscopeError` if no output is named so.
    """
    names = [str(id2label[number]).lower().replace(" ", "_").replace("-", "_") for number in sorted(id2label)]
    yes = next((names.index(name) for name in (*ENTAILS, *SAME) if name in names), None)
    if yes is None or len(names) < 2:
        given = ", ".join(map(str, id2label.values()))
        raise HeadscopeError(
            f"model '{model}' has the labels {given}, none of which says that a pair is entailed or the same; use a "
            "model that was fine-tuned on such a task, or name that output 'entailment' or 'paraphrase' in its "
            "config.json (id2label)"
        )
    right = np.array([pair.entailed if names[yes] in ENTAILS else pair.same for pair in pairs])
    others = [number for number in range(len(names)) if number != yes]

    def judged(outputs: Float[np.ndarray, "*variant pair output"]) -> Float[np.ndarray, "*variant pair 2"]:
        for_yes, for_no = outputs[..., yes], outputs[..., others].max(-1)
        return np.stack([np.where(right, for_no, for_yes), np.where(right, for_yes, for_no)], axis=-1)

    return judged
