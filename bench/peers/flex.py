"""Windowed and causal attention against PyTorch's FlexAttention, compiled for the CPU, in one interleaved run.

    python bench/peers/flex.py [--lengths 4096 16384] [--window 256]

FlexAttention skips blocks of 128 x 128 that the mask hides; its heads are contiguous, ours are column blocks of one
matrix. Needs torch (with a C++ compiler for torch.compile) and numpy.
"""
import argparse
import ctypes

import timing

parser = argparse.ArgumentParser()
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--lengths", type=int, nargs="+", default=[4096, 16384])
parser.add_argument("--head-dim", type=int, default=64)
parser.add_argument("--heads", type=int, default=8)
parser.add_argument("--window", type=int, default=256)
parser.add_argument("--seconds", type=float, default=4.0)
options = parser.parse_args()
timing.pin(options.threads)

import torch  # noqa: E402  after the number of threads is set
from torch.nn.attention.flex_attention import create_block_mask, flex_attention  # noqa: E402

torch.set_num_threads(options.threads)
library = timing.build("attention_library.cpp")
library.headwise_threads(options.threads)
compiled = torch.compile(flex_attention)


class Sizes(ctypes.Structure):
    _fields_ = [(name, ctypes.c_long) for name in ("q_len", "k_len", "heads", "kv_heads", "head_dim", "mask")]


def pointer(tensor):
    return ctypes.c_void_p(tensor.data_ptr())


def compare(length, window):
    heads, head_dim = options.heads, options.head_dim
    q, k, v = (torch.randn(length, heads * head_dim) for _ in range(3))
    sizes = Sizes(length, length, heads, heads, head_dim, window if window else 1)
    output = torch.empty_like(q)

    def ours():
        library.headwise_forward(pointer(q), pointer(k), pointer(v), None, ctypes.byref(sizes))

    def sees(b, h, i, j):
        return (i >= j) & (i - j < window) if window else i >= j

    mask = create_block_mask(sees, None, None, length, length, device="cpu")
    split = [x.view(length, heads, head_dim).transpose(0, 1)[None].contiguous() for x in (q, k, v)]

    def flex():
        with torch.no_grad():
            return compiled(*split, block_mask=mask)

    library.headwise_forward(pointer(q), pointer(k), pointer(v), pointer(output), ctypes.byref(sizes))
    error = (flex()[0].transpose(0, 1).reshape(q.shape) - output).abs().max().item()
    assert error < 1e-4, f"outputs differ by {error}"
    times = timing.interleave({"ours": ours, "flex": flex}, options.threads, options.seconds)
    name = f"window {window}" if window else "causal"
    print(f"{length:6d} {name:12s}{1e3 * times['ours']:9.2f}{1e3 * times['flex']:9.2f}   "
          f"{times['flex'] / times['ours']:.2f}", flush=True)


print("     L mask          ours     flex   ratio    (ms)")
for length in options.lengths:
    for window in (0, options.window):
        compare(length, window)
