"""Forward and backward attention against PyTorch's scaled_dot_product_attention, in one interleaved run.

    python bench/peers/attention.py [--threads 1] [--backward] [--double] [--lengths 512 2048] [--flags=-march=native]

HLd: torch's better layout, contiguous heads. LHd: heads as column blocks of one matrix, which is ours. `peak` is the
rate of a 1024 x 1024 float32 matrix product of the same run. Needs torch and numpy.
"""
import argparse
import ctypes
import math

import timing

parser = argparse.ArgumentParser()
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--backward", action="store_true")
parser.add_argument("--double", action="store_true")
parser.add_argument("--lengths", type=int, nargs="+", default=[512, 1024, 2048, 4096, 8192, 16384])
parser.add_argument("--head-dims", type=int, nargs="+", default=[64, 128])
parser.add_argument("--heads", type=int, default=8)
parser.add_argument("--seconds", type=float, default=2.0)
parser.add_argument("--flags", default="")
options = parser.parse_args()
timing.pin(options.threads)

import torch  # noqa: E402  after the number of threads is set

torch.set_num_threads(options.threads)
library = timing.build("attention_library.cpp", options.flags.split())
library.headwise_threads(options.threads)


class Sizes(ctypes.Structure):
    _fields_ = [(name, ctypes.c_long) for name in ("q_len", "k_len", "heads", "kv_heads", "head_dim", "mask")]


def pointer(tensor):
    return ctypes.c_void_p(tensor.data_ptr())


def ours(q, k, v, d, sizes, real):
    forward = library.headwise_forward_double if real == torch.float64 else library.headwise_forward
    run_forward = lambda: forward(pointer(q), pointer(k), pointer(v), None, ctypes.byref(sizes))  # noqa: E731
    if not options.backward:
        return run_forward
    run_forward()
    return lambda: library.headwise_backward(pointer(q), pointer(k), pointer(v), pointer(d), None,
                                             ctypes.byref(sizes))


def theirs(q, k, v, d, causal):
    attend = torch.nn.functional.scaled_dot_product_attention
    if not options.backward:
        return lambda: attend(q, k, v, is_causal=causal)
    leaves = [x.detach().requires_grad_() for x in (q, k, v)]
    output = attend(*leaves, is_causal=causal)
    return lambda: torch.autograd.grad(output, leaves, d, retain_graph=True)


def agree(q, k, v, sizes, causal, heads):
    """Both compute the same thing, or the comparison is worth nothing."""
    output = torch.empty_like(q)
    forward = library.headwise_forward_double if q.dtype == torch.float64 else library.headwise_forward
    forward(pointer(q), pointer(k), pointer(v), pointer(output), ctypes.byref(sizes))
    split = [x.view(len(x), heads, -1).transpose(0, 1)[None] for x in (q, k, v)]
    expected = torch.nn.functional.scaled_dot_product_attention(*split, is_causal=causal)
    error = (expected[0].transpose(0, 1).reshape(q.shape) - output).abs().max().item()
    assert error < 1e-4, f"outputs differ by {error}"


def compare(length, head_dim, causal):
    real = torch.float64 if options.double else torch.float32
    heads = options.heads
    q, k, v, d = (torch.randn(length, heads * head_dim, dtype=real) for _ in range(4))
    sizes = Sizes(length, length, heads, heads, head_dim, int(causal))
    if length <= 4096:
        agree(q, k, v, sizes, causal, heads)
    by_columns = [x.view(length, heads, head_dim).transpose(0, 1)[None] for x in (q, k, v, d)]
    by_heads = [x.contiguous() for x in by_columns]
    a, b = torch.randn(1024, 1024), torch.randn(1024, 1024)
    times = timing.interleave({"ours": ours(q, k, v, d, sizes, real), "HLd": theirs(*by_heads, causal),
                               "LHd": theirs(*by_columns, causal), "gemm": lambda: torch.mm(a, b)},
                              options.threads, options.seconds)
    flops = 4.0 * length * length * head_dim * heads * (2.5 if options.backward else 1) / (2 if causal else 1)
    rates = {name: flops / t / 1e9 for name, t in times.items()}
    rates["gemm"] = 2.0 * 1024**3 / times["gemm"] / 1e9
    ratios = rates["ours"] / rates["HLd"], rates["ours"] / rates["LHd"]
    print(f"{length:6d} {head_dim:4d} {'causal' if causal else 'full':7s}{rates['ours']:8.1f}{rates['HLd']:8.1f}"
          f"{rates['LHd']:8.1f}{rates['gemm']:8.1f}   {ratios[0]:.2f}   {ratios[1]:.2f}", flush=True)
    return ratios


print("     L    d mask      ours     HLd     LHd    gemm   /HLd   /LHd    (GFLOP/s)")
ratios = [compare(length, head_dim, causal) for head_dim in options.head_dims for length in options.lengths
          for causal in (False, True)]
means = [math.exp(sum(math.log(r[i]) for r in ratios) / len(ratios)) for i in (0, 1)]
print(f"geometric means: {means[0]:.3f} of HLd, {means[1]:.3f} of LHd; "
      f"lowest {min(r[0] for r in ratios):.2f} and {min(r[1] for r in ratios):.2f}")
