"""Ways to fine-tune that train the encoder on something else first; that training is kept in the run's folder."""

from dataclasses import replace

from torch import nn

from headscope.corpora.tasks import masked
from headscope.encoding.masking import Masking
from headscope.encoding.masking import masked as hidden
from headscope.errors import HeadscopeError
from headscope.outputs.task_inputs import encode_for_task, task_inputs
from headscope.training.beginning import Beginning
from headscope.training.dataset import MaskedTrainingSet
from headscope.training.initialisation import InitialModel, initial, initial_masked_lm
from headscope.training.loop import MaskedExamples, task_examples, train

# As `pretrain-head` has them; every tenth example is held out.
MASKING = Masking(share=0.3, mask=0.8, random=0.1)
HELD_OUT = 10


def two_stages(beginning: Beginning) -> InitialModel:
    """Train all weights on a first task, then on the task itself with a new classifier (STILTs: Phang et al. 2018).

    The first stage has the same recipe and seeds.

    Raises `HeadscopeError` if no first task is named.
    """
    first = beginning.options.first_task
    if first is None:
        raise HeadscopeError("way 'two_stages' needs the task of its first stage; name one of --task by --first-task")
    corpus = first.training()
    record = beginning.record(first.name, corpus)
    if not record.completed():
        environment = beginning.environment
        code = environment.remote_code
        start = initial(environment.checkpoint, first, "finetuned", beginning.seed, remote_code=code)
        nn.Module.to(start.network, environment.device)
        most = beginning.recipe.max_tokens
        examples = task_examples(start.model, task_inputs(start.model, first, first.dev, max_tokens=most), most)
        train(start, first, examples, beginning.recipe, beginning.settings.quiet, record)
    return beginning.after(record)


def adapted(beginning: Beginning) -> InitialModel:
    """Train a head for masked words on the text of the task first, with the encoder, then fine-tune.

    Task-adaptive pre-training (Gururangan et al. 2020, section 4), on the train split alone, with the same recipe, but
    without a choice of the best epoch. The head for masked words is left out of what the second training begins with.

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
