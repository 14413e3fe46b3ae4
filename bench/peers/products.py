"""Dense products a b^T, the shape of a linear layer, against PyTorch's, in one interleaved run.

    python bench/peers/products.py [--threads 1]

Needs torch and numpy.
"""
import argparse
import ctypes

import timing

parser = argparse.ArgumentParser()
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--seconds", type=float, default=2.0)
options = parser.parse_args()
timing.pin(options.threads)

import torch  # noqa: E402  after the number of threads is set

torch.set_num_threads(options.threads)
library = timing.build("attention_library.cpp")
library.headwise_threads(options.threads)

print("  rows inner   out     ours    torch   ratio    (GFLOP/s)")
for rows, inner, out in ((512, 384, 1536), (512, 1536, 384), (2048, 576, 1536), (128, 384, 384), (32, 576, 576),
                         (1, 576, 1536)):
    x, weight, y = torch.randn(rows, inner), torch.randn(out, inner), torch.empty(rows, out)
    arguments = [ctypes.c_void_p(t.data_ptr()) for t in (x, weight, y)] + [ctypes.c_long(n) for n in (rows, inner, out)]
    library.headwise_multiply_transposed(*arguments)
    error = (torch.nn.functional.linear(x, weight) - y).abs().max().item()
    assert error < 1e-3, f"results differ by {error}"
    times = timing.interleave({"ours": lambda: library.headwise_multiply_transposed(*arguments),
                               "torch": lambda: torch.nn.functional.linear(x, weight)}, options.threads,
                              options.seconds, least=20)
    rate = {name: 2e-9 * rows * inner * out / t for name, t in times.items()}
    print(f"{rows:6d}{inner:6d}{out:6d}{rate['ours']:9.1f}{rate['torch']:9.1f}   {rate['ours'] / rate['torch']:.2f}",
          flush=True)
