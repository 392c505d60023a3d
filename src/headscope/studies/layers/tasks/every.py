"""All tasks, in the order of a page: words, pairs, mentions, main clause, sentences, changed sentences, numbers."""

from headscope.errors import HeadscopeError, suggest
from headscope.studies.layers.tasks import changed, entities, numbers, sentences, words
from headscope.studies.layers.tasks.task import ProbingTask

TASKS: dict[str, ProbingTask] = {
    task.name: task for family in (words, entities, sentences, changed, numbers) for task in family.TASKS
}


def named(names: str) -> list[ProbingTask]:
    """The tasks of a list such as "part_of_speech,tense"; "all" are all.

    Raises `HeadscopeError` for a name that is none of them.
    """
    if names == "all":
        return list(TASKS.values())
    wanted = [name.strip() for name in names.split(",")]
    if unknown := next((name for name in wanted if name not in TASKS), None):
        raise HeadscopeError(f"task '{unknown}' is unknown; {suggest(unknown, list(TASKS))}")
    return [task for name, task in TASKS.items() if name in wanted]
