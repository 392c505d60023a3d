"""Run the study: from its options to a labelled result."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from itertools import chain
from typing import Annotated, Any, Literal, NamedTuple

import xarray as xr

from headscope import results
from headscope.corpora import Corpus
from headscope.corpora.corpus import joint_corpus, joint_resampled
from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.models.prediction_heads import refuse_without_words_head, with_words_head
from headscope.models.random_weights import SEEDS, untrained
from headscope.models.tokenizer import piece_counts
from headscope.passes import DEFAULTS, Settings
from headscope.passes.forward import half_scales
from headscope.passes.kept_arrays import ArrayPass
from headscope.passes.provenance import provenance
from headscope.passes.settings import Training, Treebank
from headscope.ranges import Range
from headscope.studies.layers.layers.features import ClassifierSettings
from headscope.studies.layers.layers.groups import CaseGroup, Units, grouped, refuse_without_cases, with_vectors
from headscope.studies.layers.layers.late_cases import described
from headscope.studies.layers.layers.measure import MeasuredTask, UnitDraws, measured
from headscope.studies.layers.layers.removal import Erasers, fit_erasers, removable, removal, word_losses
from headscope.studies.layers.layers.sampling import TaskCases, named, sample
from headscope.studies.layers.layers.senses import MeasuredSenses, measured_senses
from headscope.studies.layers.layers.tasks.spans import NAME, own_tasks, refuse_mixed_spans
from headscope.studies.layers.layers.texts import Part, Texts, split, windows
from headscope.studies.layers.layers.unit_states import Pooling, UnitStates, captured_units, unit_pass
from headscope.studies.layers.layers.variables import removal_variables, sense_variables, to_variables

FULL = 5000  # cases of a task
# Sentences to train and choose on, and to test on, of which all tasks together take cases in two minutes.
TRAINED, TESTED = 500, 270


def run(  # noqa: PLR0913 (each is an option of the command)
    model: Model,
    treebanks: tuple[Treebank, ...],
    settings: Settings = DEFAULTS,
    *,
    trainings: tuple[Training, ...] | None = None,
    tasks: str = "all",
    pooling: Literal["mean", "max", "first", "last", "cls"] = "mean",
    cases: Annotated[int, Range(20, 100_000)] = 1000,
    penalties: str = "10,100,1000",
    held_out: Annotated[float, Range(0, 1)] = 0.1,
    random: bool = True,
    codes: bool = True,
    mix: bool = True,
    memory: Annotated[float, Range(0, 1000)] = 4.0,
    full: bool = False,
    remove: str | None = None,
    predicted: Annotated[int, Range(20, 100_000)] = 500,
) -> xr.Dataset:
    """`score[task, layer]`: what a linear classifier reads from the hidden states of each layer.

    The score is the share of cases that are right; of values, the share of their variance (R^2); of sets, F1.

    Classifiers are trained on one part of the sentences, penalty and layer are chosen on a second one, and scores are
    of the third, which has documents of its own where 25 or more are known. Answers of fewer than 5 training cases are
    no class: tested cases that have one count as wrong. Sentences are read one by one. A task that the corpora cannot
    give is left out, with the reason.

    Arguments:

    * `treebanks`: Corpora to test on; each task takes the sentences that have what it needs.
    * `trainings`: Corpora to train on; by default four documents of five of `treebanks`, and the fifth is tested.
    * `tasks`: Tasks, such as "part_of_speech,tense"; by default all: part_of_speech, chunk, token_index, parent,
      grandparent, great_grandparent, dependency_label, constituent, dependency_arc, entity, coreference,
      coreference_across, main_auxiliary, main_subject, sentence_length, tree_depth, top_constituents, subject_number,
      object_number, tense, word_content, coordination_inverted, order_shifted, odd_word, number_value, number_sum,
      number_beyond, number_sum_beyond, number_decimal, number_negative, number_word, number_largest, span_label, sense.
      From number_beyond to number_largest they have to be named. Where a corpus has labelled spans (`kind="spans"`),
      all are span_label, for all spans and each group of them, or sense, if the labels are senses of words.
    * `pooling`: Vector of a span or sentence: mean, max, first or last token, or [CLS] for sentences.
    * `cases`: Largest number of training cases of a task, and of tested cases.
    * `penalties`: Penalties of the squared weights; the best on held-out sentences for each task and layer.
    * `held_out`: Share of the training sentences that choose penalty and layer.
    * `random`: Also probe the model with random weights, of three seeds.
    * `codes`: Measure the online code.
    * `mix`: Train scalar mixes.
    * `memory`: Gigabytes of hidden states to keep in memory; the rest is read from disk.
    * `full`: Take up to 5,000 cases, or `cases` if that is more, of all sentences; by default all tasks together take
      them of at most 500 sentences to train and choose on and 270 to test on, drawn by the seed. Tasks that are named,
      and those of labelled spans, take all.
    * `remove`: Remove the answers of these tasks from the states of each layer, and let the model go on: its loss of
      words before and after, beside the removal of random directions (Elazar, Ravfogel et al. 2021).
    * `predicted`: Measure these losses on at most this number of pieces of tested sentences.

    Raises `HeadscopeError` if no task has enough cases, a task is unknown, or the disk is full.
    """
    classifiers = ClassifierSettings(penalties=_numbers(penalties), codes=codes)
    attributes: dict[str, Any] = provenance("layers", model, joint_corpus(treebanks), settings)
    options = {"trainings": trainings, "held_out": held_out, "tasks": tasks, "cases": cases, "full": full}
    planned = _planned(model, treebanks, settings, **options)
    texts, sampled, _, units, groups, _ = planned
    sense_cases = next((cases for cases in sampled if cases.task.is_sense), None)
    to_remove = removable(remove, sampled) if remove else []
    if to_remove:
        model = with_words_head(model)
        refuse_without_words_head(model)
    seeds = range(settings.seed, settings.seed + SEEDS) if random else ()
    spaces = len(model.capture.heads) + 1
    number = len({text for text, _, _ in units.rows})
    settings.on_total(
        (1 + len(seeds)) * (number + len(groups) * spaces) + (mix * len(groups) + len(to_remove)) * spaces
    )
    draws, erasers = UnitDraws(texts.units, settings.seed, settings.resamples), dict[str, Erasers]()

    def tasks_on(
        used: Callable[[], Model], pass_settings: ClassifierSettings, first: bool
    ) -> tuple[UnitStates, dict[str, MeasuredTask], MeasuredSenses | None]:
        with captured_units(used(), texts, units.rows, pooling, settings, int(memory * 1e9)) as states:
            present = [with_vectors(group, states.filled) for group in groups]
            refuse_without_cases(present)
            if first and to_remove:
                erasers.update(fit_erasers(to_remove, states, units, half_scales(model), draws))
            parts = {"mixed": first and mix, "pieces": states.pieces if first else None, "done": settings.on_progress}
            tasks = measured(present, states.tables, pass_settings, draws, model.device, **parts)
            if sense_cases is None:
                return states, tasks, None
            senses = measured_senses(sense_cases, units, states, draws)
            return states, tasks | {sense_cases.task.name: senses.task}, senses

    states, scored, senses = tasks_on(lambda: model, classifiers, True)
    without = ClassifierSettings(penalties=classifiers.penalties, codes=False)
    untrained_parts = {seed: tasks_on(partial(untrained, model, seed), without, False)[1:] for seed in seeds}
    of_random = {seed: tasks for seed, (tasks, _) in untrained_parts.items()}
    order = [cases.task for cases in sampled]
    variables = to_variables(order, scored, of_random)
    if senses:
        variables |= sense_variables(senses, {seed: other for seed, (_, other) in untrained_parts.items() if other})
    if to_remove:
        words = word_losses(model, texts, predicted, draws, settings)
        removals = {name: removal(words, fitted, settings.on_progress) for name, fitted in erasers.items()}
        variables |= removal_variables(order, removals)
    attributes |= states.read | _read_and_left_out(planned, scored, trainings or ())
    attributes |= {
        "resampled": joint_resampled(treebanks),
        "state_bytes": json.dumps({"in_memory": states.in_memory, "on_disk": states.on_disk}),
        "options": json.dumps(
            {"pooling": pooling, "cases": max(cases, FULL) if full else cases, "held_out": held_out}
            | asdict(classifiers)
        ),
    }
    return results.check(xr.Dataset(variables, attrs=attributes))


def passes(
    model: Model, treebanks: tuple[Corpus, ...], settings: Settings, *, pooling: Pooling, random: bool, **options: Any
) -> Iterator[ArrayPass[Any]]:
    """The passes of `run`, which a worker of a cluster reads."""
    planned = _planned(model, treebanks, settings, **options)
    seeds = range(settings.seed, settings.seed + SEEDS * random)
    for used in chain([model], (untrained(model, seed) for seed in seeds)):
        yield unit_pass(used, planned.texts, planned.units.rows, pooling, settings)


class _Planned(NamedTuple):
    """What is read and why: the texts, the cases of each task, why tasks are left out, and the units of all cases.

    * `part`: of how many sentences cases are taken; empty where all are.
    """

    texts: Texts
    sampled: list[TaskCases]
    left_out: dict[str, str]
    units: Units
    groups: list[CaseGroup]
    part: str


def _planned(
    model: Model,
    treebanks: tuple[Corpus, ...],
    settings: Settings,
    *,
    trainings: tuple[Corpus, ...] | None,
    held_out: float,
    tasks: str,
    cases: int,
    full: bool,
    **others: Any,
) -> _Planned:
    texts = split(treebanks, trainings or (), held_out, settings.seed)
    room = model.max_tokens - model.tokenizer.num_special_tokens_to_add()
    texts.windows = windows(texts, partial(piece_counts, model.tokenizer), room, held_out, settings.seed)
    refuse_mixed_spans((*treebanks, *(trainings or ())))
    made_tasks = own_tasks(texts)
    chosen = named(tasks, made_tasks)
    part = _take_two_minutes(texts, settings) if tasks == "all" and not made_tasks and not full else ""
    sampled, left_out = sample(texts, chosen, max(cases, FULL) if full else cases, settings.seed)
    _refuse_nothing(treebanks, sampled, left_out, tasks)
    units = Units()
    groups = grouped([cases for cases in sampled if not cases.task.is_sense], units, settings.seed)
    for case in chain.from_iterable(chain(*of.cases.values()) for of in sampled if of.task.is_sense):
        units.row(case.text, case.spans[0])
    return _Planned(texts, sampled, left_out, units, groups, part)


def _take_two_minutes(texts: Texts, settings: Settings) -> str:
    """Take cases of a sample of the sentences, and say so in one line, which is returned; "" where all are taken."""
    fewer = {purpose: of for purpose, of in texts.keep_first(TRAINED, TESTED).items() if of[0] < of[1]}
    if not fewer:
        return ""
    parts = " and ".join(f"{kept:,} of {of:,} sentences to {purpose}" for purpose, (kept, of) in fewer.items())
    part = f"cases are of {parts}, drawn by the seed; --full takes all, and up to {FULL:,} cases a task"
    settings.on_notice(part)
    return part


def _wanted(planned: _Planned) -> dict[str, int]:
    """The cases to train on and to report of each task, before those without a token are lost."""
    parts: tuple[Part, ...] = ("train", "report")
    senses = [cases for cases in planned.sampled if cases.task.is_sense]
    return {
        answers.name: sum(int(answers.present(part).sum()) for part in parts)
        for group in planned.groups
        for answers in group.answers
    } | {cases.task.name: sum(len(cases.cases[part]) for part in parts) for cases in senses}


def _read_and_left_out(
    planned: _Planned, scored: Mapping[str, MeasuredTask], trainings: Sequence[Corpus]
) -> dict[str, str]:
    """The attributes that say what was read: tasks and sentences, what was left out, and what is read late."""
    texts, sampled, left_out, units, _, part = planned
    read = {name: task.train_cases + task.report_cases for name, task in scored.items()}
    lost = {name: number - read[name] for name, number in _wanted(planned).items()}
    described_tasks = {cases.task.name: _described(cases, lost[cases.task.name]) for cases in sampled}
    training = {"corpora": [corpus.name for corpus in trainings], "sha256": [corpus.sha256 for corpus in trainings]}
    return {
        "read_in_part": part,
        "tasks": json.dumps(described_tasks, ensure_ascii=False),
        "left_out": json.dumps(left_out),
        "late": json.dumps(_late(sampled, scored, units, texts), ensure_ascii=False),
        "training": json.dumps(training),
        "sentences": json.dumps({purpose: len(numbers) for purpose, numbers in texts.order.items()}),
    }


def _late(
    sampled: Sequence[TaskCases], tasks: Mapping[str, MeasuredTask], units: Units, texts: Texts
) -> list[dict[str, Any]]:
    """Single cases of all tasks that mixes of layers get right late."""
    unit_of_row = {row: unit for unit, row in units.rows.items()}
    return [
        case
        for cases in sampled
        for case in described(tasks[cases.task.name].late, cases, unit_of_row, texts.sentences)
    ]


def _described(cases: TaskCases, lost: int) -> dict[str, Any]:
    """What the page says of a task beside its scores."""
    return {
        "words": cases.task.words,
        "source": cases.task.source,
        "classes": len(cases.classes),
        "is_set": cases.task.is_set,
        "is_sense": cases.task.is_sense,
        "rare": cases.rare,
        "lost": lost,
    }


def _refuse_nothing(
    treebanks: Sequence[Corpus], sampled: Sequence[TaskCases], left_out: dict[str, str], names: str
) -> None:
    """Raise `HeadscopeError` if the corpora give no task; tasks of generated sentences count where they are named."""
    if not (sampled if names != "all" else [cases for cases in sampled if not cases.task.is_value]):
        name, reason = next(iter(left_out.items()))
        corpora = ", ".join(f"'{corpus.name}'" for corpus in treebanks)
        remedy = "give it more lines" if name.startswith(NAME) else "name a larger treebank (CoNLL-U)"
        raise HeadscopeError(f"corpus {corpora} gives no task ({name}: {reason}); {remedy}")


def _numbers(text: str) -> tuple[float, ...]:
    """The penalties of a list such as "1,10".

    Raises `HeadscopeError` for one that is no positive number.
    """
    try:
        numbers = tuple(dict.fromkeys(float(number) for number in text.split(",")))
    except ValueError:
        numbers = ()
    if not numbers or not all(0 < number < float("inf") for number in numbers):
        raise HeadscopeError(f"penalties '{text}': use positive numbers such as 1,10,100")
    return numbers
