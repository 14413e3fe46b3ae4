"""One training step of examples/train_char_lm.cpp's model against the same model in eager PyTorch, interleaved.

    python bench/peers/train_char_lm.py [--width 128] [--layers 4] [--length 128] [--batch 16] [--flags=-march=native]

Both start from the same weights and read the same windows of the text; their losses must agree for a few steps before
anything is timed. One thread, by the process's CPU seconds. Needs torch and numpy.
"""
import argparse
import ctypes

import timing

parser = argparse.ArgumentParser()
parser.add_argument("--width", type=int, default=128)
parser.add_argument("--layers", type=int, default=4)
parser.add_argument("--heads", type=int, default=4)
parser.add_argument("--length", type=int, default=128)
parser.add_argument("--batch", type=int, default=16)
parser.add_argument("--seconds", type=float, default=20.0)
parser.add_argument("--flags", default="")
options = parser.parse_args()
timing.pin(1)

import numpy  # noqa: E402  after the number of threads is set
import torch  # noqa: E402

torch.set_num_threads(1)
library = timing.build("train_char_lm_library.cpp", options.flags.split())
library.headwise_parameter.restype = ctypes.POINTER(ctypes.c_float)
library.headwise_step.restype = ctypes.c_float

text = (timing.ROOT / "examples" / "data" / "alice.txt").read_bytes()
alphabet = sorted(set(text))
tokens = numpy.array([alphabet.index(c) for c in text], dtype=numpy.int32)
random = numpy.random.default_rng(1)
head_dim = options.width // options.heads


def parameter(name, shape):
    """A copy of our numbers as a torch parameter."""
    size = ctypes.c_long()
    numbers = library.headwise_parameter(name.encode(), ctypes.byref(size))
    array = numpy.ctypeslib.as_array(numbers, (size.value,)).reshape(shape).copy()
    return torch.nn.Parameter(torch.from_numpy(array))


class Linear(torch.nn.Linear):
    def __init__(self, name, inputs, outputs):
        super().__init__(inputs, outputs)
        self.weight = parameter(name + ".weight", (outputs, inputs))
        self.bias = parameter(name + ".bias", (outputs,))


class Norm(torch.nn.LayerNorm):
    def __init__(self, name, width):
        super().__init__(width, eps=1e-5)
        self.weight, self.bias = parameter(name + ".weight", (width,)), parameter(name + ".bias", (width,))


angles = torch.outer(torch.arange(options.length), 10000.0 ** (-torch.arange(0, head_dim, 2) / head_dim))
cosines, sines = angles.cos(), angles.sin()


def rotated(x):
    a, b = x.chunk(2, dim=-1)
    return torch.cat((a * cosines - b * sines, a * sines + b * cosines), dim=-1)


class Block(torch.nn.Module):
    def __init__(self, name, width):
        super().__init__()
        self.query, self.key, self.value, self.output = (
            Linear(f"{name}.attention.{part}", width, width) for part in ("query", "key", "value", "output"))
        self.up, self.down = Linear(name + ".feed_forward.up", width, 4 * width), Linear(name + ".feed_forward.down",
                                                                                         4 * width, width)
        self.attention_norm, self.feed_forward_norm = Norm(name + ".attention_norm", width), Norm(
            name + ".feed_forward_norm", width)

    def forward(self, x):
        split = lambda y: y.view(*y.shape[:2], options.heads, head_dim).transpose(1, 2)  # noqa: E731
        h = self.attention_norm(x)
        query, key = rotated(split(self.query(h))), rotated(split(self.key(h)))
        seen = torch.nn.functional.scaled_dot_product_attention(query, key, split(self.value(h)), is_causal=True)
        x = x + self.output(seen.transpose(1, 2).reshape(x.shape))
        return x + self.down(torch.nn.functional.gelu(self.up(self.feed_forward_norm(x)), approximate="tanh"))


class Decoder(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.tokens = parameter("embedding.tokens.weight", (len(alphabet), width))
        self.blocks = torch.nn.ModuleList(Block(f"layers.{i}", width) for i in range(options.layers))
        self.norm = Norm("layers.norm", width)

    def forward(self, ids):
        x = torch.nn.functional.embedding(ids, self.tokens)
        for block in self.blocks:
            x = block(x)
        return self.norm(x) @ self.tokens.T


def decays(name, value):
    return value.dim() > 1 and name != "tokens"


library.headwise_make(ctypes.c_long(len(alphabet)), ctypes.c_long(options.width), ctypes.c_long(options.layers),
                      ctypes.c_long(options.heads))
model = Decoder(options.width)
groups = [{"params": [p for n, p in model.named_parameters() if decays(n, p) == decayed],
           "weight_decay": 0.1 if decayed else 0.0} for decayed in (True, False)]
adam = torch.optim.AdamW(groups, lr=1e-3, betas=(0.9, 0.99), eps=1e-8)


def batch():
    begins = random.integers(0, len(tokens) - options.length, options.batch)
    windows = numpy.stack([tokens[b:b + options.length + 1] for b in begins])
    return numpy.ascontiguousarray(windows[:, :-1]), numpy.ascontiguousarray(windows[:, 1:])


def ours(ids, following):
    return library.headwise_step(ids.ctypes.data_as(ctypes.c_void_p), following.ctypes.data_as(ctypes.c_void_p),
                                 ctypes.c_long(options.batch), ctypes.c_long(options.length), ctypes.c_double(1e-3))


def theirs(ids, following):
    logits = model(torch.from_numpy(ids).long())
    loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), torch.from_numpy(following).long().flatten())
    adam.zero_grad()
    loss.backward()
    adam.step()
    return loss.item()


for step in range(5):
    ids, following = batch()
    a, b = ours(ids, following), theirs(ids, following)
    print(f"step {step + 1}: loss {a:.6f} here, {b:.6f} in torch")
    assert abs(a - b) < 1e-3, "the models differ"

ids, following = batch()
best = timing.interleave({"headwise": lambda: ours(ids, following), "torch": lambda: theirs(ids, following)},
                         seconds=options.seconds)
for name, seconds in best.items():
    print(f"{name:9} {1000 * seconds:8.1f} ms a step")
print(f"headwise / torch {best['headwise'] / best['torch']:.2f}")
