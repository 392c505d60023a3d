"""The check of fused kernels on a model: statistics and outputs are those of transformers' eager attention."""

import torch
from torch import Tensor
from transformers import PreTrainedModel

from headscope.capture.attention_function import observed
from headscope.capture.eager import eager_pass, short_windows
from headscope.capture.fused.statistics import FusedStatistics, NeedsMap, kernels_run_on
from headscope.capture.self_check import TOLERANCE, furthest
from headscope.capture.transformers_logging import quiet


def why_maps(network: PreTrainedModel) -> str:
    """Why the attention of a network has to be read from maps; "" if fused kernels read it exactly."""
    device, dtype = network.device, network.dtype
    if not kernels_run_on(device, dtype):
        return f"kernels of triton do not run on {device.type} in {str(dtype).removeprefix('torch.')}"
    try:
        return _difference(network)
    except NeedsMap as reason:
        return str(reason)
    except Exception as error:  # whatever a compiler says of a device, or a model of a mask
        return f"{type(error).__name__}: {error}".splitlines()[0]


class _Look:
    """An observer that wants statistics alone."""

    def __init__(self, statistics: FusedStatistics):
        self.statistics = statistics

    def __call__(self, *block: object) -> None:
        raise NeedsMap("attention is computed in another way than by the attention function")


@torch.inference_mode()
def _difference(network: PreTrainedModel) -> str:
    with quiet(), short_windows(network):
        tolerance = TOLERANCE[network.dtype]
        inputs, expected = eager_pass(network, tolerance)
        real = inputs["attention_mask"].bool()
        nothing = torch.zeros_like(real, dtype=torch.int32)
        heads, groups = tuple(maps.shape[1] for maps in expected.attentions), torch.where(real, 0, 3).int()
        look = _Look(FusedStatistics(groups, nothing, real.new_zeros(0, 4, dtype=torch.long), heads))
        with observed(network, look):
            output = network(**inputs)[0]
    if look.statistics.layers != len(expected.attentions):
        return f"{look.statistics.layers} attention calls, expected {len(expected.attentions)}"
    rows, read = real[:, None].to(output.device), look.statistics.read
    maps = torch.cat(expected.attentions, dim=1).double() * rows[..., None]
    for name, computed, right in (
        ("entropy", read["entropy"], torch.special.entr(maps).sum(-1)),
        ("attention by key", read["received"][:, :, 0], maps.sum(2)),
    ):
        difference = float(((computed.double() - right) * rows).abs().amax())
        if not difference <= tolerance * max(1.0, float(right.amax())):
            return f"{name} differs from eager by {difference:.1e}"
    return _of_outputs(output, expected.output, real, tolerance)


def _of_outputs(output: Tensor, expected: Tensor, real: Tensor, tolerance: float) -> str:
    difference = furthest(output, expected, real)
    close = difference <= tolerance * max(1.0, expected.abs().amax().item())
    return "" if close else f"outputs differ from eager by {difference:.1e}"
