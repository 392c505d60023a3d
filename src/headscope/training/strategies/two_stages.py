"""Train all weights on a first task, then on the task itself with a new classifier (STILTs: Phang et al. 2018)."""

from torch import nn

from headscope.errors import HeadscopeError
from headscope.outputs.task_inputs import encode_for_task
from headscope.training.beginning import Beginning
from headscope.training.dataset import TrainingSet
from headscope.training.initialisation import InitialModel, initial
from headscope.training.loop import TaskExamples, train

OPTIONS = ("first_task",)


def begin(beginning: Beginning) -> InitialModel:
    """See `training.beginning.begin`. The first stage has the same recipe and seeds, and is kept in the run's folder.

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
        inputs, cut = encode_for_task(start.model, corpus, beginning.recipe.max_tokens)
        dev, _ = encode_for_task(start.model, first.dev, beginning.recipe.max_tokens)
        training_set = TrainingSet(inputs, first.targets(corpus), first.kind == "regression")
        examples = TaskExamples(training_set, dev, first.targets(first.dev), cut.total())
        train(start, first, examples, beginning.recipe, beginning.settings.quiet, record)
    return beginning.after(record)
