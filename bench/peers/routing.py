"""The k-means attention of routing-transformer beside ours: the same numbers, one thread.

    python3 bench/peers/routing.py [--lengths 1024,4096] [--heads 8]

Needs torch and routing-transformer (1.6.1). Causal with a shared query and key, as many clusters as a cluster has
tokens. Theirs is KmeansAttention in evaluation; ours is unit_heads, routing_clusters and attend_routing. Prints
milliseconds of CPU time, their ratio, and the share of outputs that differ by more than 1e-3: where two tokens are alike
near a centroid, float may choose either.
"""
import argparse
import ctypes
import math

import timing

parser = argparse.ArgumentParser()
parser.add_argument("--lengths", default="1024,4096,16384")
parser.add_argument("--heads", type=int, default=8)
args = parser.parse_args()

timing.pin(1)
import numpy as np
import torch
from routing_transformer.routing_transformer import KmeansAttention

torch.set_num_threads(1)
torch.manual_seed(0)
HEAD_DIM = 64
library = timing.build("content_library.cpp")


def packed(x):
    """[heads, rows, dim] -> [rows, heads * dim]"""
    return np.ascontiguousarray(x.permute(1, 0, 2).reshape(x.shape[1], -1).numpy())


def pointer(array):
    return array.ctypes.data_as(ctypes.c_void_p)


print(f"{'tokens':>8} {'routing-transformer ms':>23} {'headwise ms':>12} {'ratio':>7} {'differ':>8}")
for length in map(int, args.lengths.split(",")):
    clusters = 2 ** round(math.log2(length) / 2)
    window = length // clusters
    layer = KmeansAttention(clusters, window, args.heads, HEAD_DIM, causal=True, shared_qk=True).eval()
    query, value = (torch.randn(1, args.heads, length, HEAD_DIM) for _ in range(2))
    means = torch.nn.functional.normalize(torch.randn(args.heads, clusters, HEAD_DIM), dim=-1)
    layer.kmeans.means.data.copy_(means)
    layer.kmeans.initted.data.copy_(torch.tensor(True))
    q, v, m = packed(query[0]), packed(value[0]), packed(means)
    out = np.zeros((length, args.heads * HEAD_DIM), np.float32)

    def theirs():
        with torch.no_grad():
            return layer(query, query, value)[0]

    def ours():
        library.routing(pointer(q), pointer(v), pointer(m), pointer(out), ctypes.c_long(length),
                        ctypes.c_long(args.heads), ctypes.c_long(clusters), ctypes.c_long(window))

    expected = packed(theirs()[0])
    best = timing.interleave({"theirs": theirs, "ours": ours})
    differ = (np.abs(out - expected) > 1e-3).mean()
    print(f"{length:8} {1e3 * best['theirs']:23.1f} {1e3 * best['ours']:12.1f} "
          f"{best['theirs'] / best['ours']:7.1f} {differ:8.1%}")
