"""The bucket attention of sinkhorn-transformer beside ours: the same numbers, one thread.

    python3 bench/peers/sinkhorn.py [--lengths 1024,4096] [--heads 8] [--block 64] [--best 1]

Needs torch and sinkhorn-transformer (0.11.4). Not causal, the best blocks for each block (their default, without noise),
values equal to keys because the package makes its sorted values of keys. Ours is block_scores, best_blocks and
attend_sinkhorn. Prints milliseconds of CPU time, their ratio, and the largest difference of the two outputs.
"""
import argparse
import ctypes

import timing

parser = argparse.ArgumentParser()
parser.add_argument("--lengths", default="1024,4096,16384")
parser.add_argument("--heads", type=int, default=8)
parser.add_argument("--block", type=int, default=64)
parser.add_argument("--best", type=int, default=1)
args = parser.parse_args()

timing.pin(1)
import numpy as np
import torch
from sinkhorn_transformer.sinkhorn_transformer import SinkhornAttention

torch.set_num_threads(1)
torch.manual_seed(0)
HEAD_DIM = 64
width = args.heads * HEAD_DIM
library = timing.build("content_library.cpp")


def packed(x):
    """[heads, rows, dim] -> [rows, heads * dim]"""
    return np.ascontiguousarray(x.permute(1, 0, 2).reshape(x.shape[1], -1).numpy())


def pointer(array):
    return array.ctypes.data_as(ctypes.c_void_p)


print(f"{'tokens':>8} {'sinkhorn-transformer ms':>24} {'headwise ms':>12} {'ratio':>7} {'difference':>11}")
for length in map(int, args.lengths.split(",")):
    layer = SinkhornAttention(args.block, width, HEAD_DIM, args.heads, length, n_top_buckets=args.best).eval()
    query, key = (torch.randn(1, args.heads, length, HEAD_DIM) for _ in range(2))
    q, k = packed(query[0]), packed(key[0])
    out = np.zeros((length, width), np.float32)

    def theirs():
        with torch.no_grad():
            return layer(query, key, key)

    def ours():
        library.sinkhorn(pointer(q), pointer(k), pointer(out), ctypes.c_long(length), ctypes.c_long(args.heads),
                         ctypes.c_long(args.block), ctypes.c_long(args.best))

    expected = packed(theirs()[0])
    best = timing.interleave({"theirs": theirs, "ours": ours})
    print(f"{length:8} {1e3 * best['theirs']:24.1f} {1e3 * best['ours']:12.1f} "
          f"{best['theirs'] / best['ours']:7.1f} {np.abs(out - expected).max():11.1e}")
