"""Time of pseudo-log-likelihoods beside a plain loop over sentences, and beside minicons where it is installed.

Compares, in turns within one run, on the same sentences:
(a) ours: masked copies of many sentences in batches of one length, head and last layer at the masked pieces alone;
(b) loop: one sentence at a time, all of its masked copies in one batch, logits of all pieces;
(c) minicons: the same scores (`PLL_metric="within_word_l2r"`), sentences in batches of ten.
With `--causal` a GPT-2 of the size takes the place of the BERT: (a) reads prefix trees, (b) one sentence at a time.
Scores agree to 1e-4. Time is that of the processor, of all threads, and of the clock; ratios are medians over rounds.
Models are made from a configuration with random weights, which take the same time as trained ones.

    python -m benchmarks.cloze SUITE [--per-condition 4] [--threads 1] [--rounds 3] [--size base] [--causal]
"""

import argparse
import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from statistics import median
from typing import Any

import numpy as np
import torch
from transformers import BertConfig, BertForMaskedLM, GPT2Config, GPT2LMHeadModel, PreTrainedModel

import headscope
from headscope import Settings
from headscope.corpora.suites import Candidate, read_suites
from headscope.outputs.words.predictor import WordPredictor, text_scores

SIZES = {
    "base": {},
    "minilm": {"hidden_size": 384, "num_hidden_layers": 6, "intermediate_size": 1536},
}
TOGETHER = 10


def network(size: str, pieces: int, causal: bool = False) -> PreTrainedModel:
    """A BERT or GPT-2 of a size with random weights."""
    torch.manual_seed(0)
    shape = BertConfig(vocab_size=pieces, **SIZES[size])
    if not causal:
        return BertForMaskedLM(shape).eval()
    width, layers, heads = shape.hidden_size, shape.num_hidden_layers, shape.num_attention_heads
    config = GPT2Config(
        vocab_size=pieces, n_embd=width, n_layer=layers, n_head=heads, bos_token_id=101, eos_token_id=102
    )
    return GPT2LMHeadModel(config).eval()


@torch.inference_mode()
def loop(predictor: WordPredictor, texts: Sequence[Candidate]) -> list[float]:
    """The score of each sentence, one at a time."""
    tokenizer, scores = predictor.model.tokenizer, list[float]()
    mask = int(tokenizer.mask_token_id)  # type: ignore[arg-type]
    for text in texts:
        encoding = tokenizer(text.text)
        ids, words = torch.tensor(encoding["input_ids"]), encoding.word_ids()
        places = [at for at, word in enumerate(words) if word is not None]
        copies = ids.repeat(len(places), 1)
        for copy, at in zip(copies, places, strict=True):
            copy[[later for later in places if later >= at and words[later] == words[at]]] = mask
        logits = predictor.model.network(copies).logits[torch.arange(len(places)), places]
        scores.append(float(logits.log_softmax(-1)[torch.arange(len(places)), ids[places]].sum()))
    return scores


@torch.inference_mode()
def causal_loop(predictor: WordPredictor, texts: Sequence[Candidate]) -> list[float]:
    """The log-likelihood of each sentence, one at a time."""
    scores = list[float]()
    for text in texts:
        ids = torch.tensor(predictor.model.tokenizer(text.text)["input_ids"])[:-1]  # without the piece for the end
        logits: Any = predictor.model.network(ids[None]).logits[0, :-1]
        scores.append(float(logits.log_softmax(-1)[torch.arange(len(ids) - 1), ids[1:]].sum()))
    return scores


def minicons(predictor: WordPredictor) -> Callable[[Sequence[Candidate]], list[float]]:
    """The scores of minicons."""
    from minicons import scorer  # type: ignore[import-not-found]

    tokenizer: Any = predictor.model.tokenizer
    if not hasattr(tokenizer, "batch_encode_plus"):  # minicons 0.3.39 calls it; transformers 5 has the call alone
        tokenizer.batch_encode_plus = tokenizer.__call__
    model = scorer.MaskedLMScorer(predictor.model.network, "cpu", tokenizer=tokenizer)

    def scores(texts: Sequence[Candidate]) -> list[float]:
        groups = [texts[first : first + TOGETHER] for first in range(0, len(texts), TOGETHER)]
        given = [[text.text for text in group] for group in groups]
        reduction = {"reduction": lambda values: values.sum(0).item(), "PLL_metric": "within_word_l2r"}
        return [score for group in given for score in model.sequence_score(group, **reduction)]

    return scores


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite")
    parser.add_argument("--size", choices=SIZES, default="base")
    for name, default in (("per-condition", 4), ("threads", 1), ("rounds", 3), ("batch-tokens", 2048)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--causal", action="store_true")
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    tokenizer = headscope.load("minilm").tokenizer
    predictor = WordPredictor(headscope.wrap(network(given.size, len(tokenizer), given.causal), tokenizer))
    (suite,) = read_suites([given.suite], per_condition=given.per_condition)
    texts = [candidate for item in suite.items for candidate in item.candidates]
    settings = Settings(batch_tokens=given.batch_tokens)
    scorers: dict[str, Callable] = {
        "ours": lambda texts: text_scores(predictor, texts, settings).values,
        "loop": lambda texts: (causal_loop if given.causal else loop)(predictor, texts),
    }
    if find_spec("minicons") and not given.causal:
        scorers["minicons"] = minicons(predictor)
    print(f"{len(texts)} texts, {given.size}, {given.threads} threads")
    seconds, wall = {name: list[float]() for name in scorers}, {name: list[float]() for name in scorers}
    for number in range(given.rounds):
        made = {}
        for name, score in scorers.items():
            start, begun = time.process_time(), time.perf_counter()
            made[name] = np.array(score(texts))
            seconds[name].append(time.process_time() - start)
            wall[name].append(time.perf_counter() - begun)
        far = {name: float(np.abs(scores - made["ours"]).max()) for name, scores in made.items()}
        times = ", ".join(f"{name} {taken[-1]:.1f} s (difference {far[name]:.1e})" for name, taken in seconds.items())
        print(f"round {number + 1}: {times}", flush=True)
    for name in list(scorers)[1:]:
        processor, clock = (
            median(other / own for own, other in zip(taken["ours"], taken[name], strict=True))
            for taken in (seconds, wall)
        )
        print(f"{name} / ours: {processor:.2f} of the processor, {clock:.2f} of the clock")


if __name__ == "__main__":
    main()
