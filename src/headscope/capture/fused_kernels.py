"""Kernels of fused attention and its statistics, in Triton: probabilities exist a tile at a time, never as a map.

`attend` is flash attention (Dao et al. 2022) that also sums what each query needs: its entropy and what it gives to
marked keys. With the log-sum-exp of each row, P = exp(s - lse) is known anywhere: `receive` adds up what each key gets,
`look` reads single pairs. All sums have a fixed order. Scores are kept as powers of 2.
"""

# Triton's language has no types that a checker could follow.
# pyright: reportOperatorIssue=false, reportArgumentType=false, reportGeneralTypeIssues=false

import triton
import triton.language as tl

# A score so low that its power of 2 is 0, and of which a sum stays finite.
LOWEST = tl.constexpr(-1e30)


@triton.jit
def _scores(dots, scale, cap, CAPPED: tl.constexpr):
    """Scaled scores of dot products; with `cap`, cap * tanh(score / cap)."""
    scores = dots * scale
    if CAPPED:
        scores = cap * (1 - 2 / (tl.exp2(scores * (2 * 1.4426950408889634 / cap)) + 1))
    return scores


@triton.jit
def _rows(pointer, tokens, token_stride, width, D: tl.constexpr, limit):
    """The states [token, D] of some tokens of one head; 0 after `limit` and `width`."""
    column = tl.arange(0, D)
    inside = ((tokens >= 0) & (tokens < limit))[:, None] & (column < width)[None, :]
    return tl.load(pointer + tokens[:, None].to(tl.int64) * token_stride + column[None, :], mask=inside, other=0.0)


@triton.jit
def _tile(
    largest, total, moment, marked, context, q, K, V, MARKS, MARKED_TILES, keys, rows, start, length,
    k_token, v_token, width, value_width, scale, cap, left, right,
    D: tl.constexpr, DV: tl.constexpr, BN: tl.constexpr, VALUES: tl.constexpr, MARKING: tl.constexpr,
    BANDED: tl.constexpr, CAPPED: tl.constexpr, CUT: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """The state of some rows after BN keys more: the largest score, and sums of p, p (s - largest), marked p, p v."""
    dots = tl.dot(q, tl.trans(_rows(K, keys, k_token, width, D, length)), input_precision=PRECISION)
    if CAPPED:
        dots = _scores(dots, scale, cap, CAPPED)
        scale = 1.0
    if CUT:
        dots += tl.where(keys < length, 0.0, LOWEST)[None, :]
    if BANDED:
        ahead = keys[None, :] - rows[:, None]
        dots = tl.where((ahead >= -left) & (ahead <= right), dots, LOWEST)
    above = tl.maximum(largest, tl.max(dots, 1) * scale)
    shrink = tl.exp2(largest - above)
    shifted = dots * scale - above[:, None]
    p = tl.exp2(shifted)
    if BANDED:  # rows that see no key of this tile
        p = tl.where(dots > LOWEST / 2, p, 0.0)
    moment = shrink * (moment + (largest - above) * total) + tl.sum(p * shifted, 1)
    total = shrink * total + tl.sum(p, 1)
    if MARKING:
        marked *= shrink
        if tl.load(MARKED_TILES + start // BN) > 0:
            marks = tl.load(MARKS + keys, mask=keys < length, other=0)
            marked += tl.sum(tl.where((marks > 0)[None, :], p, 0.0), 1)
    if VALUES:
        v = _rows(V, keys, v_token, value_width, DV, length)
        context = tl.dot(p.to(v.dtype), v, context * shrink[:, None], input_precision=PRECISION)
    return above, total, moment, marked, context


@triton.jit
def attend(
    Q, K, V, OUT, LSE, ENTROPY, LARGEST, MARKED, OFFSETS, MARKS, MARKED_TILES, LENGTHS,
    scale, cap, left, right, tokens, blocks, width, value_width,
    q_example, q_head, q_token, k_example, k_head, k_token, v_example, v_head, v_token,
    lse_example, lse_head, row_example, row_head, offset_example, offset_head,
    HEADS: tl.constexpr, GROUP: tl.constexpr, D: tl.constexpr, DV: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
    VALUES: tl.constexpr, MARKING: tl.constexpr, OFFSET: tl.constexpr, BANDED: tl.constexpr, CAPPED: tl.constexpr,
    PRECISION: tl.constexpr,
):  # fmt: skip
    """Output, log-sum-exp, entropy, largest score, mass on marked keys, and sums at offsets -1, 0, 1 of BM queries."""
    block, example, head = tl.program_id(0), tl.program_id(1) // HEADS, tl.program_id(1) % HEADS
    example = example.to(tl.int64)
    length = tl.load(LENGTHS + example)
    rows = block * BM + tl.arange(0, BM)
    K += example * k_example + (head // GROUP) * k_head
    V += example * v_example + (head // GROUP) * v_head
    q = _rows(Q + example * q_example + head * q_head, rows, q_token, width, D, length)
    largest = tl.full([BM], LOWEST, tl.float32)
    total = tl.zeros([BM], tl.float32)
    moment = tl.zeros([BM], tl.float32)  # sum of p (s - largest)
    marked = tl.zeros([BM], tl.float32)
    context = tl.zeros([BM, DV], tl.float32)
    first, last = 0, length
    if BANDED:
        first = tl.maximum(0, block * BM - left) // BN * BN
        last = tl.minimum(length, block * BM + BM + right)
    if block * BM >= length:
        last = first
    if MARKING:
        MARKS += example * tokens
        MARKED_TILES += example * tl.cdiv(tokens, BN)
    full = tl.maximum(first, tl.minimum(last, length // BN * BN))  # tiles before it have real keys alone
    for start in range(first, full, BN):
        largest, total, moment, marked, context = _tile(
            largest, total, moment, marked, context, q, K, V, MARKS, MARKED_TILES, start + tl.arange(0, BN), rows,
            start, length, k_token, v_token, width, value_width, scale, cap, left, right, D, DV, BN, VALUES, MARKING,
            BANDED, CAPPED, False, PRECISION,
        )  # fmt: skip
    for start in range(full, last, BN):
        largest, total, moment, marked, context = _tile(
            largest, total, moment, marked, context, q, K, V, MARKS, MARKED_TILES, start + tl.arange(0, BN), rows,
            start, length, k_token, v_token, width, value_width, scale, cap, left, right, D, DV, BN, VALUES, MARKING,
            BANDED, CAPPED, True, PRECISION,
        )  # fmt: skip
    real = rows < length
    total = tl.where(real, total, 1.0)
    lse = largest + tl.log2(total)
    in_layer = rows < tokens
    tl.store(LSE + example * lse_example + head * lse_head + rows, tl.where(real, lse, 0.0), mask=in_layer)
    at = example * row_example + head * row_head + rows
    entropy = (tl.log2(total) - moment / total) * 0.6931471805599453
    tl.store(ENTROPY + at, tl.where(real, entropy, 0.0), mask=in_layer)
    if LARGEST is not None:
        tl.store(LARGEST + at, tl.where(real, largest * 0.6931471805599453, 0.0), mask=in_layer)
    if MARKING:
        tl.store(MARKED + at, tl.where(real, marked / total, 0.0), mask=in_layer)
    if VALUES:
        column = tl.arange(0, DV)
        out = OUT + ((example * tokens + rows[:, None]) * HEADS + head) * value_width + column[None, :]
        context = tl.where(real[:, None], context / total[:, None], 0.0)
        tl.store(out, context.to(OUT.dtype.element_ty), mask=in_layer[:, None] & (column < value_width)[None, :])
    if OFFSET:
        at = OFFSETS + example * offset_example + head * offset_head + block
        for number in tl.static_range(3):
            keys = rows + (number - 1)
            k = _rows(K, keys, k_token, width, D, length)
            dots = tl.sum(q.to(tl.float32) * k.to(tl.float32), 1)
            inside = real & (keys >= 0) & (keys < length) & (number - 1 <= right) & (1 - number <= left)
            p = tl.exp2(tl.where(inside, _scores(dots, scale, cap, CAPPED) - lse, LOWEST))
            tl.store(at + number * blocks, tl.sum(p, 0))


@triton.jit
def receive(
    Q, K, LSE, RECEIVED, WEIGHTS, SUMS, GROUPS, GROUP_TILES, LENGTHS,
    scale, cap, left, right, tokens, width,
    q_example, q_head, q_token, k_example, k_head, k_token, lse_example, lse_head, example_stride, head_stride,
    HEADS: tl.constexpr, GROUP: tl.constexpr, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
    WEIGHED: tl.constexpr, BANDED: tl.constexpr, CAPPED: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """What each of BN keys gets from all queries, and of these from groups 1, 2 and 0: [example, head, 4, key].

    `SUMS` [example, head, sum, block] are those of attention times each of `WEIGHTS` [example, sum, query, key].
    """
    block, example, head = tl.program_id(0), tl.program_id(1) // HEADS, tl.program_id(1) % HEADS
    example = example.to(tl.int64)
    length = tl.load(LENGTHS + example)
    keys = block * BN + tl.arange(0, BN)
    Q += example * q_example + head * q_head
    k = tl.trans(_rows(K + example * k_example + (head // GROUP) * k_head, keys, k_token, width, D, length))
    text = tl.zeros([BM, BN], tl.float32)  # added up at the end: a sum over rows is one over warps
    ones, twos = tl.zeros([BN], tl.float32), tl.zeros([BN], tl.float32)
    sums = tl.zeros([8], tl.float32)
    first, last = 0, length
    if BANDED:
        first = tl.maximum(0, block * BN - right) // BM * BM
        last = tl.minimum(length, block * BN + BN + left)
    if block * BN >= length:
        last = first
    for start in range(first, last, BM):
        rows = start + tl.arange(0, BM)
        q = _rows(Q, rows, q_token, width, D, length)
        lse = tl.load(LSE + example * lse_example + head * lse_head + rows, mask=rows < length, other=-LOWEST)
        p = tl.exp2(_scores(tl.dot(q, k, input_precision=PRECISION), scale, cap, CAPPED) - lse[:, None])
        if BANDED:
            ahead = keys[None, :] - rows[:, None]
            p = tl.where((ahead >= -left) & (ahead <= right), p, 0.0)
        if tl.load(GROUP_TILES + example * tl.cdiv(tokens, BM) + start // BM) > 0:
            group = tl.load(GROUPS + example * tokens + rows, mask=rows < length, other=0)
            text += tl.where((group == 0)[:, None], p, 0.0)
            ones += tl.sum(tl.where((group == 1)[:, None], p, 0.0), 0)
            twos += tl.sum(tl.where((group == 2)[:, None], p, 0.0), 0)
        else:
            text += p
        for number in tl.static_range(WEIGHED):
            at = WEIGHTS + (example * WEIGHED + number) * tokens * tokens + rows[:, None] * tokens + keys[None, :]
            weights = tl.load(at, mask=(rows < length)[:, None] & (keys < length)[None, :], other=0.0)
            sums += tl.where(tl.arange(0, 8) == number, tl.sum(p * weights), 0.0)
    text = tl.sum(text, 0)
    real, inside = keys < length, keys < tokens
    at = RECEIVED + example * example_stride + head * head_stride + keys
    tl.store(at, tl.where(real, text + ones + twos, 0.0), mask=inside)
    tl.store(at + tokens, tl.where(real, ones, 0.0), mask=inside)
    tl.store(at + 2 * tokens, tl.where(real, twos, 0.0), mask=inside)
    tl.store(at + 3 * tokens, tl.where(real, text, 0.0), mask=inside)
    if WEIGHED:
        number = tl.arange(0, 8)
        at = SUMS + ((example * HEADS + head) * WEIGHED + number) * tl.num_programs(0) + block
        tl.store(at, sums, mask=number < WEIGHED)


@triton.jit
def look(
    Q, K, LSE, PAIRS, OUT,
    scale, cap, left, right, number, width, tokens,
    q_example, q_head, q_token, k_example, k_head, k_token, lse_example, lse_head, out_row,
    GROUP: tl.constexpr, D: tl.constexpr, B: tl.constexpr, CAPPED: tl.constexpr,
):  # fmt: skip
    """The attention of B pairs, rows (example, relation, query, key) of `PAIRS`: [pair, head]."""
    row, head, column = tl.program_id(0) * B + tl.arange(0, B), tl.program_id(1), tl.arange(0, D)
    there = row < number
    example = tl.load(PAIRS + row * 4, mask=there, other=0)
    query = tl.load(PAIRS + row * 4 + 2, mask=there, other=0)
    key = tl.load(PAIRS + row * 4 + 3, mask=there, other=0)
    inside = there[:, None] & (column < width)[None, :]
    q_at = Q + (example * q_example + head * q_head + query * q_token)[:, None] + column[None, :]
    k_at = K + (example * k_example + (head // GROUP) * k_head + key * k_token)[:, None] + column[None, :]
    q, k = tl.load(q_at, mask=inside, other=0.0).to(tl.float32), tl.load(k_at, mask=inside, other=0.0).to(tl.float32)
    lse = tl.load(LSE + example * lse_example + head * lse_head + query, mask=there, other=0.0)
    seen = (key - query >= -left) & (key - query <= right)
    p = tl.exp2(tl.where(seen, _scores(tl.sum(q * k, 1), scale, cap, CAPPED) - lse, LOWEST))
    tl.store(OUT + row * out_row + head, p, mask=there)
