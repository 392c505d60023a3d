#!/usr/bin/env bash
# Under TRITON_INTERPRET=1, tl.dot of two bfloat16 tensors multiplies the 16 bits of each number as an integer.
#
# Versions: triton 3.9.0, torch 2.13.0 on a processor, Python 3.11. A product of two 16 x 16 matrices of ones is 16.
# Seen: float16 gives 16, bfloat16 gives 4228120576 (16 times 16256 squared: 16256 are the bits of 1.0), and no error.
# Its maintainers say that the type is not supported there yet (triton-lang/triton#11585); it is loaded, multiplied and
# stored without a word all the same. headscope tests its kernels in float32 and float16 there, in bfloat16 on a GPU.
#
# It fails if what is seen changes.
set -euo pipefail
scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT
"${PYTHON:-python3}" -m venv "$scratch/environment"
"$scratch/environment/bin/pip" install --quiet --disable-pip-version-check torch==2.13.0 triton==3.9.0 "numpy<3"

cat > "$scratch/ones.py" <<'PYTHON'
import torch
import triton
import triton.language as tl


@triton.jit
def product(A, B, OUT, N: tl.constexpr):
    at = tl.arange(0, N)
    cells = at[:, None] * N + at[None, :]
    tl.store(OUT + cells, tl.dot(tl.load(A + cells), tl.load(B + cells)))


for dtype in (torch.float16, torch.bfloat16):
    ones, out = torch.ones(16, 16, dtype=dtype), torch.zeros(16, 16)
    product[1,](ones, ones, out, 16)
    print(dtype, int(out[0, 0]))
PYTHON
seen="$(TRITON_INTERPRET=1 "$scratch/environment/bin/python" "$scratch/ones.py")"
echo "$seen"
[ "$seen" = "torch.float16 16
torch.bfloat16 4228120576" ]
