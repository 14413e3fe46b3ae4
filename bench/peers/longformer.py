"""Longformer's self-attention of Hugging Face transformers beside ours: the same numbers, one thread.

    python3 bench/peers/longformer.py [--lengths 1024,4096] [--heads 12] [--window 512]

Needs torch and transformers. Theirs is LongformerSelfAttention less its linear projections, which are timed alone;
ours is attend_longformer on the projected matrices, plans included. The first 16 tokens are global. Prints
milliseconds of CPU time, their ratio, and the largest difference of the two outputs.
"""
import argparse
import ctypes

import timing

parser = argparse.ArgumentParser()
parser.add_argument("--lengths", default="1024,2048,4096,8192")
parser.add_argument("--heads", type=int, default=12)
parser.add_argument("--window", type=int, default=512, help="both sides together")
args = parser.parse_args()

timing.pin(1)
import numpy as np
import torch
from transformers import LongformerConfig
from transformers.models.longformer.modeling_longformer import LongformerSelfAttention

torch.set_num_threads(1)
torch.manual_seed(0)
GLOBAL, HEAD_DIM = 16, 64
width = args.heads * HEAD_DIM
config = LongformerConfig(hidden_size=width, num_attention_heads=args.heads, attention_window=[args.window],
                          num_hidden_layers=1, attention_probs_dropout_prob=0.0)
layer = LongformerSelfAttention(config, 0).eval()
library = timing.build("patterns_library.cpp")
Pointers = ctypes.c_void_p * 6

print(f"{'tokens':>8} {'transformers ms':>16} {'headwise ms':>12} {'ratio':>7} {'difference':>11}")
for length in map(int, args.lengths.split(",")):
    x = torch.randn(1, length, width)
    is_global = torch.zeros(1, length, dtype=torch.bool)
    is_global[:, :GLOBAL] = True
    is_masked = torch.zeros(1, length, dtype=torch.bool)
    mask = torch.where(is_global, 10000.0, 0.0)  # their mark of a global token, of which the sign counts
    local = (layer.query, layer.key, layer.value, layer.key_global, layer.value_global)
    out = np.zeros((length, width), np.float32)

    with torch.no_grad():
        linears = (layer.query, layer.key, layer.value, layer.query_global, layer.key_global, layer.value_global)
        projected = [np.ascontiguousarray(linear(x)[0].numpy()) for linear in linears]
        pointers = Pointers(*(p.ctypes.data for p in projected))

        def theirs():
            return layer(x, attention_mask=mask, is_index_masked=is_masked, is_index_global_attn=is_global,
                         is_global_attn=True)[0]

        def projections():
            for linear in local:
                linear(x)
            layer.query_global(x[:, :GLOBAL])

        def ours():
            library.longformer(pointers, out.ctypes.data_as(ctypes.c_void_p), ctypes.c_long(length),
                               ctypes.c_long(args.heads), ctypes.c_long(args.window // 2), ctypes.c_long(GLOBAL))

        expected = theirs()[0].numpy()
        best = timing.interleave({"theirs": theirs, "projections": projections, "ours": ours})
    attention = best["theirs"] - best["projections"]
    print(f"{length:8} {1e3 * attention:16.1f} {1e3 * best['ours']:12.1f} {attention / best['ours']:7.1f} "
          f"{np.abs(out - expected).max():11.1e}")
