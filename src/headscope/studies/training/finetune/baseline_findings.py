"""Findings of simple models: whether fine-tuning beats them, and whether one sentence of a pair is enough."""

from headscope.report.claims import paired
from headscope.report.parts import Finding
from headscope.report.wording import number, sentence_case
from headscope.studies.training.finetune.tasks import ALL_WEIGHTS, TaskNumbers, by_task, corrected

ALONE = ("first sentence", "second sentence")
NAMES = {
    "bag of words": "a bag of words",
    "pairs of words": "pairs of words",
    "first sentence": "the first sentence alone",
    "second sentence": "the second sentence alone",
    "mean embeddings": "the mean of the embeddings",
}


@by_task
def against_baselines(task: TaskNumbers) -> Finding | None:
    """The fine-tuned model against the simple model that is hardest to beat: above that one, it is above all."""
    score = task("score", init=ALL_WEIGHTS)
    gains = {name: task("baseline_gain", init=ALL_WEIGHTS, baseline=name) for name in task.simple_models}
    if not gains:
        return None
    hardest = min(gains, key=lambda name: gains[name].lower)
    simple, words = task("baseline_score", baseline=hardest), NAMES.get(hardest, hardest)
    return Finding.judged(
        paired(score, simple, gains[hardest], task.n("baseline_gain", init=ALL_WEIGHTS, baseline=hardest)),
        f"{sentence_case(task.metric_words)} {number(score.value)} after fine-tuning, {simple.text} of {words}: "
        f"difference {gains[hardest].signed} on the same examples.",
        holds=f"{task.name}: above all simple models",
        fails=f"{task.name}: no better than {words}",
        undecided=f"{task.name}: not clearly better than {words}",
        unit="examples",
    )


@by_task
def one_sentence(task: TaskNumbers) -> Finding | None:
    """The sentence of a pair that says more by itself, beside a constant answer (Gururangan et al. 2018)."""
    alone = {name: task("baseline_score", baseline=name) for name in ALONE if name in task.simple_models}
    if not alone or task.chance != task.chance:
        return None
    best = max(alone, key=lambda name: alone[name].value)
    words = NAMES[best].removesuffix(" alone")
    return Finding.judged(
        corrected(alone[best], task.chance, task.n("baseline_score", baseline=best), len(alone)),
        f"{sentence_case(task.metric_words)} {alone[best].text} from {words}, without the other one; always giving the "
        f"same answer scores {number(task.chance)}.",
        holds=f"{task.name}: {words} alone tells part of the answer",
        fails=f"{task.name}: one sentence alone tells nothing",
        undecided=f"{task.name}: not clear whether one sentence alone tells anything",
        unit="examples",
    )
