"""Train a head for masked words on the text of the task first, with the encoder (as `pretrain-head`), then fine-tune.

Task-adaptive pre-training (Gururangan et al. 2020, section 4), on the train split alone. The weights that the second
training begins with are those of the encoder; the head for masked words is left out.
"""

from dataclasses import replace

from torch import nn

from headscope.corpora.tasks import masked
from headscope.encoding.masking import Masking
from headscope.encoding.masking import masked as hidden
from headscope.outputs.task_inputs import encode_for_task
from headscope.training.beginning import Beginning
from headscope.training.dataset import MaskedTrainingSet
from headscope.training.initialisation import InitialModel, initial_masked_lm
from headscope.training.loop import MaskedExamples, train

# As `pretrain-head` has them; every tenth example is held out.
MASKING = Masking(share=0.3, mask=0.8, random=0.1)
HELD_OUT = 10


def begin(beginning: Beginning) -> InitialModel:
    """See `training.beginning.begin`. The training before has the same recipe, without a choice of the best epoch,
    and is kept in the run's folder.

    Raises `HeadscopeError` if the model has a head for masked words already, or its type has none.
    """
    corpus = beginning.task.training()
    record = beginning.record("masked words", corpus)
    if not record.completed():
        environment = beginning.environment
        start = initial_masked_lm(environment.checkpoint, beginning.seed, remote_code=environment.remote_code)
        nn.Module.to(start.network, environment.device)
        inputs, cut = encode_for_task(start.model, corpus, beginning.recipe.max_tokens)
        held = [replace(encoded, index=number) for number, encoded in enumerate(inputs[::HELD_OUT])]
        rest = [encoded for number, encoded in enumerate(inputs) if number % HELD_OUT] or held
        fixed = [hidden(encoded, start.tokenizer, beginning.seed) for encoded in held]
        training_set = MaskedTrainingSet(rest, start.tokenizer, MASKING, beginning.seed)
        examples = MaskedExamples(training_set, [one for one, _ in fixed], [one for _, one in fixed], cut.total())
        recipe = replace(beginning.recipe, keep="last")
        train(start, masked(corpus), examples, recipe, beginning.settings.quiet, record)
    return beginning.after(record)
