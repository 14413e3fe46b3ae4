"""The Reformer's LSH self-attention of Hugging Face transformers beside ours: the same numbers, one thread.

    python3 bench/peers/reformer.py [--lengths 1024,4096] [--heads 8] [--rounds 2] [--chunk 64]

Needs torch and transformers. Theirs is LSHSelfAttention less its linear projections, which are timed alone; ours is
lsh_buckets and attend_lsh on the projected matrices, with their rotations, chunks that go round and keys that count as
often as they are met. Causal. Prints milliseconds of CPU time, their ratio, and the share of outputs that differ by
more than 1e-3: a token near the border of two buckets may fall to either side in float.
"""
import argparse
import ctypes

import timing

parser = argparse.ArgumentParser()
parser.add_argument("--lengths", default="1024,2048,4096,8192")
parser.add_argument("--heads", type=int, default=8)
parser.add_argument("--rounds", type=int, default=2)
parser.add_argument("--chunk", type=int, default=64)
args = parser.parse_args()

timing.pin(1)
import numpy as np
import torch
from transformers import ReformerConfig
from transformers.models.reformer.modeling_reformer import LSHSelfAttention

torch.set_num_threads(1)
torch.manual_seed(0)
HEAD_DIM, SEED = 64, 1
width = args.heads * HEAD_DIM
library = timing.build("content_library.cpp")


def pointer(array):
    return array.ctypes.data_as(ctypes.c_void_p)


print(f"{'tokens':>8} {'transformers ms':>16} {'headwise ms':>12} {'ratio':>7} {'differ':>8}")
for length in map(int, args.lengths.split(",")):
    buckets = 2 * (length // args.chunk)
    config = ReformerConfig(hidden_size=width, num_attention_heads=args.heads, attention_head_size=HEAD_DIM,
                            attn_layers=["lsh"], lsh_attn_chunk_length=args.chunk, num_hashes=args.rounds,
                            num_buckets=buckets, hash_seed=SEED, is_decoder=True,
                            lsh_attention_probs_dropout_prob=0.0)
    layer = LSHSelfAttention(config).eval()
    x = torch.randn(1, length, width)
    torch.manual_seed(SEED)
    rotations = np.ascontiguousarray(torch.randn(args.heads, HEAD_DIM, args.rounds, buckets // 2).numpy())
    out = np.zeros((length, width), np.float32)
    with torch.no_grad():
        query = np.ascontiguousarray(layer.query_key(x)[0].numpy())
        value = np.ascontiguousarray(layer.value(x)[0].numpy())

        def theirs():
            return layer(x).hidden_states

        def projections():
            layer.query_key(x)
            layer.value(x)

        def ours():
            library.lsh(pointer(query), pointer(value), pointer(rotations), pointer(out), ctypes.c_long(length),
                        ctypes.c_long(args.heads), ctypes.c_long(args.chunk), ctypes.c_long(args.rounds),
                        ctypes.c_long(buckets))

        expected = theirs()[0].numpy()
        best = timing.interleave({"theirs": theirs, "projections": projections, "ours": ours})
    attention = best["theirs"] - best["projections"]
    differ = (np.abs(out - expected) > 1e-3).mean()
    print(f"{length:8} {1e3 * attention:16.1f} {1e3 * best['ours']:12.1f} {attention / best['ours']:7.1f} "
          f"{differ:8.1%}")
