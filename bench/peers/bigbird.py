"""Big Bird's block-sparse self-attention of Hugging Face transformers beside ours: the same numbers, one thread.

    python3 bench/peers/bigbird.py [--lengths 1024,4096] [--heads 12]

Needs torch and transformers. Theirs is BigBirdBlockSparseAttention less its linear projections, which are timed alone;
ours is attend_over the plans of mask::BigBird, plans included. Blocks of 64, 3 random ones; outside training their
code draws block 0 each time and counts it again, so the module is set to training, without dropout. Prints
milliseconds of CPU time, their ratio, and the largest difference of the two outputs where no block repeats.
"""
import argparse
import ctypes

import timing

parser = argparse.ArgumentParser()
parser.add_argument("--lengths", default="1024,2048,4096,8192")
parser.add_argument("--heads", type=int, default=12)
args = parser.parse_args()

timing.pin(1)
import numpy as np
import torch
from transformers import BigBirdConfig
from transformers.models.big_bird.modeling_big_bird import BigBirdBlockSparseAttention, BigBirdModel

torch.set_num_threads(1)
torch.manual_seed(0)
BLOCK, RANDOM, HEAD_DIM = 64, 3, 64
width = args.heads * HEAD_DIM
library = timing.build("patterns_library.cpp")
Pointers = ctypes.c_void_p * 3
seen = []
gather = BigBirdBlockSparseAttention.torch_gather_b2


def remember(keys, table):
    """Their tables of random blocks, as they pass by."""
    seen.append(table[0].numpy().astype(np.int64))
    return gather(keys, table)


BigBirdBlockSparseAttention.torch_gather_b2 = staticmethod(remember)


def repeats(table, blocks):
    """Blocks of queries, in any head, that draw what the window or an end shows already."""
    found = set()
    for head in table:
        for row, drawn in enumerate(head, start=1):
            if set(drawn) & {0, row - 1, row, row + 1, blocks - 1}:
                found.add(row)
    return found


print(f"{'tokens':>8} {'transformers ms':>16} {'headwise ms':>12} {'ratio':>7} {'difference':>11}")
for length in map(int, args.lengths.split(",")):
    config = BigBirdConfig(hidden_size=width, num_attention_heads=args.heads, block_size=BLOCK,
                           num_random_blocks=RANDOM, max_position_embeddings=max(4096, length),
                           attention_probs_dropout_prob=0.0)
    layer = BigBirdBlockSparseAttention(config, seed=0).train()
    x = torch.randn(1, length, width)
    blocked, band, from_mask, to_mask = BigBirdModel.create_masks_for_block_sparse_attn(torch.ones(1, length), BLOCK)
    out = np.zeros((length, width), np.float32)

    with torch.no_grad():
        projected = [np.ascontiguousarray(p(x)[0].numpy()) for p in (layer.query, layer.key, layer.value)]
        pointers = Pointers(*(p.ctypes.data for p in projected))

        def theirs():
            return layer(x, band_mask=band, from_mask=from_mask, to_mask=to_mask, from_blocked_mask=blocked,
                         to_blocked_mask=blocked)[0]

        def projections():
            for linear in (layer.query, layer.key, layer.value):
                linear(x)

        expected = theirs()[0].numpy()
        table = np.ascontiguousarray(seen[0])

        def ours():
            library.big_bird(pointers, out.ctypes.data_as(ctypes.c_void_p), ctypes.c_long(length),
                             ctypes.c_long(args.heads), ctypes.c_long(BLOCK), ctypes.c_long(RANDOM),
                             table.ctypes.data_as(ctypes.c_void_p))

        best = timing.interleave({"theirs": theirs, "projections": projections, "ours": ours})
    seen.clear()
    same = [row for row in range(length) if row // BLOCK not in repeats(table, length // BLOCK)]
    attention = best["theirs"] - best["projections"]
    print(f"{length:8} {1e3 * attention:16.1f} {1e3 * best['ours']:12.1f} {attention / best['ours']:7.1f} "
          f"{np.abs(out[same] - expected[same]).max():11.1e}")
