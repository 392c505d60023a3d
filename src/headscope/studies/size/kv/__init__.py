"""Which KV heads of a decoder may forget what lies far back, and how much memory that saves.

Query heads that share keys and values form a KV head. It forgets if it keeps the first tokens and a window alone, as
in Xiao et al. 2025 (DuoAttention). The loss of the next word says what that costs.
"""

from headscope.study import Dimension, Number, Study

HEADS, CONTEXT = ("layer", "key_head"), ("context",)
NATS, KEPT = "nats a token", "that keeps the first tokens and a window alone"
PLAN, JUDGED = "with the plan", "on the texts that did not choose it"
NEEDLE = "loss of tokens that were planted far back, at their second copy at the end, with all keys"
BYTES = "16 bits a number, one text; a local layer keeps its own window"
STUDY = Study(
    question="Which KV heads may forget what lies far back?",
    source="DuoAttention (Xiao et al. 2025), judged by the loss of the next word",
    survey="a decoder and long texts: headscope kv MODEL TEXT",
    example="headscope kv gpt2 wiki.txt -o out/kv",
    without=("workers", "engine", "address", "gpus_per_worker", "long", "examples"),
    quick=("--length", "40", "--window", "2", "--sinks", "1"),
    required=("loss", "far_attention"),
    dims={"key_head": Dimension("KV head of a layer, from 1: query heads that share keys and values", "whole", 1)},
    numbers=(
        Number("loss", "loss of the next word with all keys", NATS),
        Number("loss_rise", f"rise of the loss with a KV head {KEPT}", NATS, HEADS),
        Number(
            *("far_attention", "attention of a KV head beyond the first tokens and the window"),
            *("share of attention", HEADS),
            definition="attention of a KV head beyond what it would keep, over its query heads and all tokens",
        ),
        Number("needle_loss", "loss of planted tokens with all keys", NATS, definition=NEEDLE),
        Number("needle_accuracy", "planted tokens that are predicted right with all keys", "share of tokens"),
        Number("needle_rise", f"rise of the loss of planted tokens with a KV head {KEPT}", NATS, HEADS),
        Number("forgets", "whether the plan lets a KV head forget", "1 if so", HEADS),
        Number("plan_rise", f"rise of the loss {PLAN}, {JUDGED}", NATS),
        Number("plan_chosen_rise", f"rise of the loss {PLAN}, on the texts that chose it", NATS),
        Number("plan_needle_fall", f"share of planted tokens that are lost {PLAN}, {JUDGED}", "share of tokens"),
        Number("cache", "bytes of keys and values of a text", "bytes", CONTEXT, BYTES),
        Number("plan_cache", f"bytes of keys and values of a text {PLAN}", "bytes", CONTEXT, BYTES),
    ),
)
