"""SmolLM2-135M: prefill and decode against transformers on PyTorch, float32, the same weights, in one interleaved run.

    python bench/peers/smollm2.py SmolLM2-135M-Instruct.Q4_1.gguf [--threads 1] [--formats file F32] [--prompt 512]

Both compute the hidden states of the whole prompt and the logits of its last token, then go on token by token with a
cache. The transformers model gets the file's weights dequantised to float32 by code of its own here. `triad` is what
a = b + 3 c reaches in the same run: the bytes a token must read, over the time it takes, are to be compared with it.
Needs torch, numpy and transformers.
"""
import argparse
import ctypes
import struct
import warnings

import timing

parser = argparse.ArgumentParser()
parser.add_argument("model")
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--formats", nargs="+", default=["file"], help="file, F32, F16, BF16, Q8_0, Q4_0, Q4_1")
parser.add_argument("--prompt", type=int, default=512)
parser.add_argument("--tokens", type=int, default=16)
parser.add_argument("--seconds", type=float, default=20.0)
options = parser.parse_args()
timing.pin(options.threads)

import numpy as np  # noqa: E402  after the number of threads is set
import torch  # noqa: E402
import transformers  # noqa: E402

torch.set_num_threads(options.threads)
warnings.filterwarnings("ignore", category=FutureWarning)  # past_key_values, the name of older versions
transformers.logging.set_verbosity_error()


def read_gguf(path):
    """Name -> float32 array, and the metadata that a Llama needs."""
    data = open(path, "rb").read()
    at = 8

    def take(form):
        nonlocal at
        value = struct.unpack_from("<" + form, data, at)[0]
        at += struct.calcsize(form)
        return value

    def text():
        nonlocal at
        size = take("Q")
        at += size
        return data[at - size:at].decode()

    def value(kind):
        if kind == 8:
            return text()
        if kind == 9:
            element, count = take("I"), take("Q")
            return [value(element) for _ in range(count)]
        return take("BbHhIif?..Qqd"[kind])

    tensors, count = take("Q"), take("Q")
    meta = {}
    for _ in range(count):
        key = text()
        meta[key] = value(take("I"))
    entries = []
    for _ in range(tensors):
        name = text()
        entries.append((name, [take("Q") for _ in range(take("I"))][::-1], take("I"), take("Q")))
    begin = (at + 31) // 32 * 32
    return meta, {name: dequantised(data, begin + offset, shape, kind) for name, shape, kind, offset in entries}


def dequantised(data, begin, shape, kind):
    count = int(np.prod(shape))
    if kind == 0:
        return np.frombuffer(data, np.float32, count, begin).reshape(shape)
    halves = 2 if kind == 3 else 1
    size = {3: 20, 8: 34}[kind]
    blocks = np.frombuffer(data, np.uint8, count // 32 * size, begin).reshape(-1, size)
    scale = blocks[:, :2].copy().view(np.float16).astype(np.float32)
    quanta = blocks[:, 2 * halves:]
    if kind == 8:
        return (scale * quanta.view(np.int8).astype(np.float32)).reshape(shape)
    offset = blocks[:, 2:4].copy().view(np.float16).astype(np.float32)
    both = np.concatenate([quanta & 15, quanta >> 4], axis=1).astype(np.float32)
    return (scale * both + offset).reshape(shape)


def peer(path):
    meta, tensors = read_gguf(path)
    heads, kv_heads = meta["llama.attention.head_count"], meta["llama.attention.head_count_kv"]
    config = transformers.LlamaConfig(
        vocab_size=len(tensors["token_embd.weight"]), hidden_size=meta["llama.embedding_length"],
        intermediate_size=meta["llama.feed_forward_length"], num_hidden_layers=meta["llama.block_count"],
        num_attention_heads=heads, num_key_value_heads=kv_heads, rms_norm_eps=meta["llama.attention.layer_norm_rms_epsilon"],
        rope_theta=meta["llama.rope.freq_base"], rope_parameters={"rope_type": "default", "rope_theta": meta["llama.rope.freq_base"]},
        max_position_embeddings=meta["llama.context_length"], tie_word_embeddings=True)
    model = transformers.LlamaForCausalLM(config).eval()

    def halves_apart(x, n):  # rows 2i and 2i + 1 of a head become i and i + head_dim / 2
        return x.reshape(n, -1, 2, x.shape[1]).swapaxes(1, 2).reshape(x.shape)

    names = {"attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm", "attn_q": "self_attn.q_proj",
             "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj", "attn_output": "self_attn.o_proj",
             "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj"}
    state = {"model.embed_tokens.weight": tensors["token_embd.weight"], "model.norm.weight": tensors["output_norm.weight"],
             "lm_head.weight": tensors["token_embd.weight"]}
    for name, array in tensors.items():
        if not name.startswith("blk."):
            continue
        _, layer, part, _ = name.split(".")
        if part in ("attn_q", "attn_k"):
            array = halves_apart(array, heads if part == "attn_q" else kv_heads)
        state[f"model.layers.{layer}.{names[part]}.weight"] = array
    model.load_state_dict({name: torch.tensor(np.ascontiguousarray(array)) for name, array in state.items()})
    return model


model = peer(options.model)
library = timing.build("smollm2_library.cpp", ["-Wl,--no-as-needed", "-lutf8proc"])
library.headwise_threads(ctypes.c_int(options.threads))
library.headwise_bytes_a_token.restype = ctypes.c_double
library.headwise_logits.restype = ctypes.POINTER(ctypes.c_float)
ids = torch.from_numpy(np.random.default_rng(1).integers(20, 40000, (1, options.prompt)).astype(np.int32))
state = {}


def their_prefill():
    with torch.inference_mode():
        state["out"] = model(ids.long(), use_cache=True, logits_to_keep=1)


def their_decode():
    with torch.inference_mode():
        out = state["out"]
        cache, token = out.past_key_values, out.logits[:, -1:].argmax(-1)
        for _ in range(options.tokens):
            out = model(token, past_key_values=cache, use_cache=True)
            token = out.logits[:, -1:].argmax(-1)
        cache.crop(-options.tokens)


count = 1 << 25
arrays = [np.ones(count, np.float32) for _ in range(3)]
pointers = [ctypes.c_void_p(a.ctypes.data) for a in arrays]
header = f"{'weights':8} {'prefill s':>10} {'torch s':>9} {'ratio':>6} {'decode tok/s':>13} {'torch':>7} {'ratio':>6} {'GB/s':>6} {'triad':>6} {'logits':>8}"
print(f"{options.threads} thread(s), prompt {options.prompt}, torch {torch.__version__}, transformers {transformers.__version__}")
print(header)
for form in options.formats:
    if not library.headwise_load(options.model.encode(), form.encode()):
        raise SystemExit(1)
    own_prefill = lambda: library.headwise_prefill(ctypes.c_void_p(ids.data_ptr()), ctypes.c_long(options.prompt))  # noqa: E731
    own_decode = lambda: library.headwise_decode(ctypes.c_long(options.tokens))  # noqa: E731
    triad = lambda: library.headwise_triad(*pointers, ctypes.c_long(count))  # noqa: E731
    their_prefill()
    own_prefill()
    logits = np.ctypeslib.as_array(library.headwise_logits(), (model.config.vocab_size,))
    differ = float(np.abs(logits - state["out"].logits[0, -1].numpy()).max())
    best = timing.interleave({"own prefill": own_prefill, "prefill": their_prefill, "own decode": own_decode,
                              "decode": their_decode, "triad": triad}, options.threads, options.seconds)
    own, other = options.tokens / best["own decode"], options.tokens / best["decode"]
    read = library.headwise_bytes_a_token(ctypes.c_long(options.prompt)) * own / 1e9
    print(f"{form:8} {best['own prefill']:10.3f} {best['prefill']:9.3f} {best['prefill'] / best['own prefill']:6.2f} {own:13.1f} "
          f"{other:7.1f} {own / other:6.2f} {read:6.1f} {12 * count / best['triad'] / 1e9:6.1f} {differ:8.1e}")
