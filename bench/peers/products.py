"""Dense products against PyTorch's, in one interleaved run: those of a linear layer's forward and backward.

    python bench/peers/products.py [--threads 1] [--blas=-lopenblas]

x W^T is the layer, d W its gradient of x, d^T x that of W. With --blas a third contender is our door to the BLAS that the
flags link. Needs torch and numpy.
"""
import argparse
import ctypes

import timing

parser = argparse.ArgumentParser()
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--seconds", type=float, default=2.0)
parser.add_argument("--blas", default="", help="link flags of a BLAS")
options = parser.parse_args()
timing.pin(options.threads)

import torch  # noqa: E402  after the number of threads is set

torch.set_num_threads(options.threads)
libraries = {"ours": timing.build("products_library.cpp")}
if options.blas:
    libraries["blas"] = timing.build("products_library.cpp",
                                     ["-DHEADWISE_WITH_BLAS", "-Wl,--no-as-needed", *options.blas.split()])
for library in libraries.values():
    library.headwise_threads(options.threads)

# name -> (our function, torch's, whether a and b are stored transposed)
PRODUCTS = {"x W^T": ("headwise_multiply_transposed", torch.nn.functional.linear, False, True),
            "d W": ("headwise_multiply", torch.mm, False, False),
            "d^T x": ("headwise_multiply_transposed_left", lambda a, b: torch.mm(a.T, b), True, False)}

names = [*libraries, "torch"]
print("product   rows inner   out" + "".join(f"{name:>9}" for name in names) +
      "".join(f"   {name}/torch" for name in libraries) + "    (GFLOP/s)")
for rows, inner, out in ((512, 384, 1536), (512, 1536, 384), (2048, 576, 1536), (128, 384, 384), (32, 576, 576),
                         (1, 576, 1536), (384, 2048, 1536)):
    for product, (function, theirs, left, right) in PRODUCTS.items():
        a = torch.randn(inner, rows) if left else torch.randn(rows, inner)
        b = torch.randn(out, inner) if right else torch.randn(inner, out)
        contenders = {"torch": lambda: theirs(a, b)}
        for name, library in libraries.items():
            y = torch.empty(rows, out)
            arguments = [ctypes.c_void_p(t.data_ptr()) for t in (a, b, y)]
            arguments += [ctypes.c_long(n) for n in (rows, inner, out)]
            call = getattr(library, function)
            call(*arguments)
            error = (theirs(a, b) - y).abs().max().item()
            assert error < 2e-3, f"{product}: results of {name} differ by {error}"
            contenders[name] = lambda call=call, arguments=arguments, y=y: call(*arguments)
        times = timing.interleave(contenders, options.threads, options.seconds, least=20)
        rate = {name: 2e-9 * rows * inner * out / t for name, t in times.items()}
        print(f"{product:7s}{rows:7d}{inner:6d}{out:6d}" + "".join(f"{rate[name]:9.1f}" for name in names) +
              "".join(f"{rate[name] / rate['torch']:{len(name) + 9}.2f}" for name in libraries), flush=True)
