"""The studies of a survey, run one after the other as the commands that they are."""

import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import typer

from headscope import catalog
from headscope.errors import UNEXPECTED, HeadscopeError, as_one_line
from headscope.front.cli.compute import function_of, ready_inputs
from headscope.front.cli.errors import notice
from headscope.front.cli.parameters import as_words
from headscope.front.cli.saved_command import why_anew
from headscope.front.cli.study import OTHER_COMMAND, parsed, refuse_other_run, run_or_keep, shared_words
from headscope.front.cli.survey_pass import read_shared
from headscope.front.survey.budget import Budget, keep_sizes, kept_sizes, seconds_of, widest
from headscope.front.survey.costs import READING, StudyEstimate, loaded_shape
from headscope.front.survey.plan import PlannedStudy, shares, words_of
from headscope.study import FORWARD

OF_TASK = ("task", "data")
ABOUT_FILES = ("out", "json", "debug", "overwrite")
EXAMPLES = 48


def run_studies(
    plans: Sequence[PlannedStudy], values: Mapping[str, Any], folder: Path, budget: Budget | None = None
) -> Iterator[tuple[str, str | HeadscopeError]]:
    """Run the studies of a plan; those that are left out, with what they need, and those that failed, with the error.

    A result that is there, made by the same command from the same model, texts and version, is kept; its page is
    written if it is not whole.
    """
    runs = [plan for plan in plans if not plan.lacks]
    first = [plan for plan in runs if shares(plan.study) or not budget]
    commands = {plan.study: _words(plan, values, folder, budget) for plan in first}
    reasons = {study: _why_anew(study, folder, words, values) for study, words in commands.items()}
    left = [study for study, anew in reasons.items() if anew is not None]
    read_shared({study: commands[study] for study in left}, folder, quiet=values["quiet"])
    if budget:
        budget.end(READING, ran=len(left) == len(first))
    for number, plan in enumerate(plans, 1):
        if plan.lacks:
            yield plan.study, f"needs {plan.lacks}"
            continue
        words = commands.get(plan.study) or _words(plan, values, folder, budget)
        anew = reasons[plan.study] if plan.study in reasons else _why_anew(plan.study, folder, words, values)
        what = f"{number} of {len(runs)}: {catalog.command_name(plan.study)}, {plan.reads}"
        try:
            run_or_keep(plan.study, words, anew, partial(_say, values["quiet"], what))
        except typer.Exit:  # Ctrl-C in a study ends the survey
            raise
        except (HeadscopeError, *UNEXPECTED) as error:
            yield plan.study, as_one_line(error)
        if budget:
            budget.end(plan.study, ran=anew is not None)


def _why_anew(study: str, folder: Path, words: Sequence[str], values: Mapping[str, Any]) -> str | None:
    """Why a study has to run, as of `why_anew`; with --overwrite every one."""
    anew = why_anew(study, folder / words[0], words)
    if values["overwrite"] and anew != "":
        return "--overwrite"
    if anew == OTHER_COMMAND:
        refuse_other_run(study, parsed(study, words)[1])
    return anew


def _say(quiet: bool, study: str, done: str) -> None:
    if not quiet:
        notice(f"{study}{done}")


def budget_of(
    text: str,
    plans: Sequence[PlannedStudy],
    estimates: Sequence[StudyEstimate],
    folder: Path,
    values: Mapping[str, Any],
) -> Budget:
    """The time budget of a survey: one that resumes keeps its sizes, a new one has the speed of a first batch."""
    runs = [plan for plan in plans if not plan.lacks]
    kept = kept_sizes(folder)
    budget = Budget(seconds_of(text), estimates, sizes=kept)
    if not kept and runs:
        budget.speed = speed_of(runs[0].study, _words(runs[0], values, folder, None))
        shared = [plan for plan in runs if shares(plan.study)] or runs[:1]
        most = max(corpus.n_examples for plan in shared for corpus in plan.corpora)
        chosen = budget.size(READING, most)
        budget.sizes |= {plan.study: chosen for plan in shared}
        keep_sizes(folder, budget.sizes)
        notice(_in_words(text, chosen, most))
    return budget


def _in_words(text: str, examples: int, most: int) -> str:
    width = f"95% intervals of shares of examples have at most {widest(examples):.0%} on each side"
    if examples == most:
        return f"{text} are enough for all {most:,} examples: {width}"
    return f"{examples:,} of {most:,} examples are read in {text}: {width}; {widest(most):.0%} with all of them"


def _words(plan: PlannedStudy, values: Mapping[str, Any], folder: Path, budget: Budget | None) -> list[str]:
    """The words of the command of a study, with the number of examples that a budget allows."""
    if budget and plan.corpora:
        if plan.study not in budget.sizes:
            budget.size(plan.study, max(corpus.n_examples for corpus in plan.corpora))
            keep_sizes(folder, budget.sizes)
        values = {**values, "limit": budget.sizes[plan.study]}
    task = as_words({name: values[name] for name in OF_TASK if values[name]})
    return words_of(plan, values["model"], _given(plan, values), task, str(folder))


def _given(plan: PlannedStudy, values: Mapping[str, Any]) -> list[str]:
    """The options of a survey that a study has, as words."""
    full = ["--full"] if values["full"] and "full" in function_of(plan.study)[0].options else []
    return full + shared_words(plan.study, values, {*ABOUT_FILES, *OF_TASK, "model", "corpora", "corpus"})


def speed_of(study: str, words: Sequence[str]) -> float:
    """How many seconds an estimated second takes here, timed on a few examples after a warm-up on others."""
    from headscope.encoding.encoder import Words
    from headscope.passes.batches import by_length
    from headscope.passes.forward import Forward

    ready = ready_inputs(study, parsed(study, list(words))[1])
    model, corpus = ready["model"], ready["corpora"][0] if "corpora" in ready else ready["corpus"]
    inputs = Words(model.tokenizer, model.max_tokens, "truncate").encode(islice(corpus, EXAMPLES))
    groups, forward = list(by_length(inputs, 512)), Forward[Any](model)
    seconds, tokens = 0.0, 0
    for group in groups:  # the first ones warm up
        before = time.monotonic()
        forward.states(group)
        seconds, tokens = (seconds + time.monotonic() - before, tokens + sum(map(len, group))) if tokens else (0.0, 1)
    return seconds / max(1, tokens - 1) * 1000 / (FORWARD * loaded_shape(model).size) or 1.0
