"""Time of the classifiers of all layers, tasks and penalties together, beside scikit-learn one after the other.

Compares, in turns within one run, on the same standardised vectors (float32) of the cases of a treebank:
(a) together: `layers`, all tasks and penalties in all layers, as the study trains them, without codes and mixes;
(b) in turn: scikit-learn's LogisticRegression with its defaults, for each layer, task and penalty; with --share 0.2
    in a fifth of the layers at random, and its time is scaled up for each task.
Both choose the penalty with the least loss on the cases for choices; scores on the other cases are compared. Time is
that of the processor (one thread), ratios are medians over rounds, for each group of tasks that share their cases and
for all.

    python -m benchmarks.layers TREEBANK.conllu [--model minilm] [--limit 2500] [--cases 3000] [--share 1.0]
"""

import argparse
import time
import warnings
from collections.abc import Sequence
from statistics import median

import numpy as np
import torch
from sklearn.linear_model import LogisticRegression

from headscope import load, read
from headscope.corpora import Options
from headscope.passes import Settings
from headscope.studies.layers.layers.features import ClassifierSettings, standard, vectors
from headscope.studies.layers.layers.groups import Answers, CaseGroup, Units, grouped, with_vectors
from headscope.studies.layers.layers.sampling import TASKS, sample
from headscope.studies.layers.layers.texts import split
from headscope.studies.layers.layers.train import train
from headscope.studies.layers.layers.unit_states import captured_units

PENALTIES = (10.0, 100.0, 1000.0)  # the default of the study


def in_turn(group: CaseGroup, tables: Sequence[np.ndarray], share: float, random: np.random.Generator):
    """Seconds of scikit-learn for the classifiers of a group, and scores by task and layer where all penalties ran."""
    seconds, scores = 0.0, {}
    for answers in group.answers:
        times: list[float] = []
        for space in range(len(tables)):
            if random.random() >= share and (times or space < len(tables) - 1):
                continue
            scale = standard(vectors(tables, group.units["train"], [space]))
            of_parts = {part: scale(vectors(tables, rows, [space]))[0].numpy() for part, rows in group.units.items()}
            begin = time.process_time()
            models = [fitted(of_parts["train"], answers, penalty) for penalty in PENALTIES]
            times.append(time.process_time() - begin)
            best = min(models, key=lambda model: loss(model, of_parts["choose"], answers))
            scores[answers.name, answers.control, space] = right(best, of_parts["report"], answers, "report")
        seconds += sum(times) / len(times) * len(tables)
    return seconds, scores


def fitted(given: np.ndarray, answers: Answers, penalty: float) -> LogisticRegression:
    """One classifier of scikit-learn."""
    some = answers.present("train")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return LogisticRegression(C=1 / penalty).fit(given[some], answers.numbers["train"][some])


def loss(model: LogisticRegression, given: np.ndarray, answers: Answers) -> float:
    """The sum of losses on the cases for choices, in nats."""
    some = answers.present("choose")
    logs = model.predict_log_proba(given[some].astype(np.float64))
    index = np.searchsorted(model.classes_, answers.numbers["choose"][some])
    return -float(logs[np.arange(len(index)), index].sum())


def right(model: LogisticRegression, given: np.ndarray, answers: Answers, part) -> float:
    """The share of the cases that are right."""
    some = answers.present(part)
    return float(model.score(given[some], answers.numbers[part][some]))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("treebank")
    parser.add_argument("--model", default="minilm")
    for name, default in (("limit", 2500), ("cases", 3000), ("rounds", 3)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--tasks", default="all")
    given = parser.parse_args()
    torch.set_num_threads(1)
    model, settings = load(given.model), Settings()
    wanted = [probed for probed in TASKS.values() if not probed.is_value and given.tasks in ("all", probed.name)]
    texts = split([read(given.treebank, Options(limit=given.limit))], [], 0.1, 0)
    sampled, _ = sample(texts, wanted, given.cases, 0)
    units, random = Units(), np.random.default_rng(0)
    groups, rows = grouped(sampled, units, 0), []
    with captured_units(model, texts, units.rows, "mean", settings, 4 * 10**9) as states:
        present = [with_vectors(group, states.filled) for group in groups]
        for number in range(given.rounds):
            together, turns, gaps = [], [], []
            for group in present:
                begin = time.process_time()
                trained = train(group, states.tables, ClassifierSettings(PENALTIES, codes=False), model.device)
                together.append(time.process_time() - begin)
                seconds, scores = in_turn(group, states.tables, given.share, random)
                turns.append(seconds)
                pairs = zip(group.answers, trained, strict=True)
                own = {(answer.name, answer.control): 1 - one.loss.mean(0) for answer, one in pairs}
                gaps += [own[name, control][space] - score for (name, control, space), score in scores.items()]
                names = ", ".join(answer.name for answer in group.answers if not answer.control)
                print(f"  {names}: {len(group.units['train'])} cases, together {together[-1]:.2f} s, "
                      f"in turn {seconds:.2f} s ({seconds / together[-1]:.1f})", flush=True)  # fmt: skip
            rows.append([*zip(together, turns, strict=True), (sum(together), sum(turns))])
            print(f"round {number + 1}: together {sum(together):.1f} s, in turn {sum(turns):.1f} s; score less that of "
                  f"scikit-learn: {np.mean(gaps):+.4f} ({min(gaps):+.4f} to {max(gaps):+.4f})", flush=True)  # fmt: skip
    names = [", ".join(answer.name for answer in group.answers if not answer.control) for group in present]
    for name, *of_group in zip([*names, "all"], *rows, strict=True):
        print(f"in turn / together, {name}: {median(turn / own for own, turn in of_group):.1f}")


if __name__ == "__main__":
    main()
