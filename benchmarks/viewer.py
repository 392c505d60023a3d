"""Time from a text to the first view, and the bytes that are sent, without the drawing in the browser.

A page of `headscope view` is served on this machine. For texts of several lengths:
(a) plain: transformers' sdpa forward pass, nothing kept;
(b) text: the answer to a posted text: tokens, words, and the maps of all heads kept as bytes;
(c) first view: after that answer, all heads small (the overview), and the first tile of one head;
(d) all tiles of one head at full zoom, and its map between words (for up to 512 words).
Sent are the bytes of (b) and (c) together. Wanted: (c) within 1 s at 128 tokens and 3 s at 2,048; sent under 30 MB.

    python -m benchmarks.viewer            # the built-in model, and a BERT-base shape with random weights
    python -m benchmarks.viewer --quick    # one length of each, one round
"""

import argparse
import json
import time
from concurrent.futures import ThreadPoolExecutor
from statistics import median
from urllib.request import Request, urlopen

import torch
from benchmarks.profile import model_of
from benchmarks.viewer_frames import served

from headscope.capture.attention_switch import fast
from headscope.models import Model
from headscope.passes.batches import collator
from headscope.viewer.serving import CallQueue
from headscope.viewer.session import ViewSession
from headscope.viewer.text_tokens import text_tokens

LENGTHS = {"minilm": (128, 512), "BERT-base shape": (128, 512, 2048)}
WORDS = "the old keeper saw a ship turn away from every rock near our quiet harbour before night fell".split()


def text_of(tokens: int, number: int) -> str:
    """A text of so many tokens, special tokens included; another one for each number."""
    return " ".join([str(number % 10), *(WORDS[(number + offset) % len(WORDS)] for offset in range(tokens - 3))])


def plain(model: Model, tokens: int, number: int) -> float:
    """Seconds of a plain forward pass."""
    text = text_tokens(model.tokenizer, tokens, text_of(tokens, number))
    batch = collator(model)([text.encoded])
    start = time.perf_counter()
    with torch.inference_mode(), fast(model.network):
        model.network(**batch.inputs)
    return time.perf_counter() - start


def look_at(address: str, tokens: int, number: int) -> dict[str, float]:
    """Seconds of the steps, and the bytes of text and first view."""
    start, sent = time.perf_counter(), 0

    def read(path: str, posted: object = None) -> bytes:
        nonlocal sent
        body = None if posted is None else json.dumps(posted).encode()
        with urlopen(Request(address + path, body, {"content-type": "application/json"}), timeout=600) as answer:
            content = answer.read()
        sent += len(content)
        return content

    text = json.loads(read("api/text", {"first": text_of(tokens, number)}))
    assert text["side"] == tokens, text["side"]
    answered = time.perf_counter()
    read(f"api/overview/{text['id']}?model=0")
    read(f"api/tile/{text['id']}/3/7/0/0/0?model=0")
    viewed, first_view = time.perf_counter(), sent
    parts = range(-(-tokens // 256))
    for row in parts:
        for column in parts:
            read(f"api/tile/{text['id']}/3/8/0/{row}/{column}?model=0")
    tiled = time.perf_counter()
    if len(text["words"]) <= 512:
        read(f"api/words/{text['id']}/3/7?model=0")
    times = {"text": answered - start, "first view": viewed - answered, "tiles of a head": tiled - viewed}
    return times | {"words": time.perf_counter() - tiled, "sent": first_view / 1e6}


def looked_at(calls: CallQueue, address: str, tokens: int, number: int) -> dict[str, float]:
    """The measures of `look_at` by another thread, while this one runs the model, as in `headscope view`."""
    with ThreadPoolExecutor(1) as browser:
        looks = browser.submit(look_at, address, tokens, number)
        calls.run(lambda: not looks.done())
    return looks.result()


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    rounds = 1 if arguments.quick else arguments.rounds
    names = ("plain", "text", "first view", "tiles of a head", "words", "sent")
    print(f"| model | tokens | {' | '.join(names)} |\n| --- | ---: |{' ---: |' * len(names)}")
    for name, lengths in LENGTHS.items():
        model = model_of(name)
        model.tokenizer.model_max_length = max(lengths)
        calls = CallQueue()
        with served(ViewSession((model,), seconds=600), calls.call) as address:
            for tokens in lengths[:1] if arguments.quick else lengths:
                plain(model, tokens, 0)
                measured = [
                    {"plain": plain(model, tokens, number)} | looked_at(calls, address, tokens, number)
                    for number in range(1, rounds + 1)
                ]
                cells = [f"{median(taken[one] for taken in measured):.3f}" for one in names]
                print(f"| {name} | {tokens:,} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
