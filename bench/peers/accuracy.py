"""Rounding errors of float32 attention, forward and backward, beside those of PyTorch's scaled_dot_product_attention.

    python bench/peers/accuracy.py [--lengths 512 4096] [--head-dims 64 128] [--seeds 2] [--flags=-march=native]

Both get the same float32 numbers; the truth is a plain softmax in float64. `rms` and `max` are errors divided by the
largest number of the truth, in units of 1e-7; the ratios are ours to torch's. Rows with `scores` have queries scaled so
that the largest score is 80. Needs torch.
"""
import argparse
import ctypes
import math

import timing

parser = argparse.ArgumentParser()
parser.add_argument("--lengths", type=int, nargs="+", default=[512, 1024, 2048, 4096])
parser.add_argument("--head-dims", type=int, nargs="+", default=[64, 128])
parser.add_argument("--heads", type=int, default=2)
parser.add_argument("--seeds", type=int, default=2)
parser.add_argument("--largest-score", type=float, default=80.0)
parser.add_argument("--flags", default="")
options = parser.parse_args()
timing.pin(1)

import torch  # noqa: E402  after the number of threads is set

torch.set_num_threads(1)
library = timing.build("accuracy_library.cpp", options.flags.split())


class Sizes(ctypes.Structure):
    _fields_ = [(name, ctypes.c_long) for name in ("q_len", "k_len", "heads", "kv_heads", "head_dim", "mask")]


def pointers(*tensors):
    return [ctypes.c_void_p(t.data_ptr()) for t in tensors]


def by_heads(x):
    return x.view(len(x), options.heads, -1).transpose(0, 1).contiguous()


def by_columns(x):
    return x.transpose(0, 1).reshape(x.shape[1], -1)


def ours(q, k, v, d, causal):
    """Heads are column blocks of [tokens, heads * head_dim]."""
    sizes = ctypes.byref(Sizes(len(q), len(k), options.heads, options.heads, q.shape[1] // options.heads, int(causal)))
    output, *gradients = (torch.empty_like(x) for x in (q, q, k, v))
    library.headwise_forward(*pointers(q, k, v, output), sizes)
    library.headwise_gradients(*pointers(q, k, v, d, *gradients), sizes)
    return [output, *gradients]


def theirs(q, k, v, d, causal):
    leaves = [by_heads(x)[None].requires_grad_() for x in (q, k, v)]
    output = torch.nn.functional.scaled_dot_product_attention(*leaves, is_causal=causal)
    gradients = torch.autograd.grad(output, leaves, by_heads(d)[None])
    return [by_columns(x[0].detach()) for x in (output, *gradients)]


def truth(q, k, v, d, causal):
    """softmax(q k^T / sqrt(head_dim)) v and its gradients by their definition, a head at a time."""
    heads = []
    for query, key, value, d_output in zip(*(by_heads(x.double()) for x in (q, k, v, d))):
        scale = 1 / math.sqrt(query.shape[1])
        scores = query @ key.T * scale
        if causal:
            scores.masked_fill_(torch.ones_like(scores, dtype=torch.bool).triu_(1), -math.inf)
        weights = scores.softmax(dim=1)
        d_weights = d_output @ value.T
        d_scores = weights * (d_weights - (weights * d_weights).sum(dim=1, keepdim=True)) * scale
        heads.append((weights @ value, d_scores @ key, d_scores.T @ query, weights.T @ d_output))
    return [by_columns(torch.stack(x)) for x in zip(*heads)]


def errors(results, expected):
    """(rms, max) of each of output, d_query, d_key, d_value, relative to the largest number expected."""
    found = []
    for result, right in zip(results, expected):
        difference = (result.double() - right) / right.abs().max()
        found.append((difference.square().mean().sqrt().item(), difference.abs().max().item()))
    return found


def compare(length, head_dim, causal, large):
    sums = {name: [[0.0, 0.0] for _ in range(4)] for name in ("ours", "torch")}
    for seed in range(options.seeds):
        torch.manual_seed(seed)
        q, k, v, d = (torch.randn(length, options.heads * head_dim) for _ in range(4))
        if large:
            scores = by_heads(q) @ by_heads(k).transpose(1, 2) / math.sqrt(head_dim)
            q *= options.largest_score / scores.abs().max()
        expected = truth(q, k, v, d, causal)
        for name, results in (("ours", ours(q, k, v, d, causal)), ("torch", theirs(q, k, v, d, causal))):
            for total, (rms, largest) in zip(sums[name], errors(results, expected)):
                total[0] += rms / options.seeds
                total[1] = max(total[1], largest)
    ratios = []
    for what, mine, other in zip(("output", "d_query", "d_key", "d_value"), sums["ours"], sums["torch"]):
        ratio = [a / b for a, b in zip(mine, other)]
        ratios.append(ratio)
        print(f"{length:6d}{head_dim:5d} {'causal' if causal else 'full':7s}{'scores' if large else '':8s}{what:8s}"
              f"{1e7 * mine[0]:8.3f}{1e7 * other[0]:8.3f}{1e7 * mine[1]:9.2f}{1e7 * other[1]:9.2f}"
              f"   {ratio[0]:.2f}   {ratio[1]:.2f}", flush=True)
    return ratios


print("     L    d mask           result  rms ours  torch  max ours  torch    rms    max")
ratios = [ratio for head_dim in options.head_dims for length in options.lengths for causal in (False, True)
          for large in (False, True) for ratio in compare(length, head_dim, causal, large)]
for index, name in enumerate(("rms", "max")):
    values = [ratio[index] for ratio in ratios]
    print(f"{name}: geometric mean {math.exp(sum(map(math.log, values)) / len(values)):.2f}, "
          f"largest {max(values):.2f} of torch's")
