"""Sentence embeddings against transformers on PyTorch: all-MiniLM-L6-v2, the same weights, whole sentences in.

    python bench/peers/sentences.py MODEL_FOLDER EMBED_PROGRAM [--sentences 1000]

EMBED_PROGRAM is examples/embed, timed as a whole process: reading weights, tokenizing, printing included. PyTorch's
side starts with the model loaded and gets batches of 32 sentences sorted by length. One thread, CPU seconds.
Needs torch, numpy and transformers.
"""
import argparse
import random
import resource
import subprocess
import time

import timing

parser = argparse.ArgumentParser()
parser.add_argument("model")
parser.add_argument("embed")
parser.add_argument("--sentences", type=int, default=1000)
parser.add_argument("--words", type=int, nargs=2, default=[5, 25])
parser.add_argument("--rounds", type=int, default=3)
options = parser.parse_args()
timing.pin(1)

import numpy as np  # noqa: E402  after the number of threads is set
import torch  # noqa: E402
import transformers  # noqa: E402

torch.set_num_threads(1)
WORDS = ("the a cat dog river stone quickly runs over under bright morning people read books about science music "
         "weather prices fell sharply table seven tonight window rain garden old mill by").split()
random.seed(1)
sentences = [" ".join(random.choices(WORDS, k=random.randint(*options.words))).capitalize() + "."
             for _ in range(options.sentences)]
tokenizer = transformers.AutoTokenizer.from_pretrained(options.model)
model = transformers.AutoModel.from_pretrained(options.model).eval()


def theirs():
    order = sorted(range(len(sentences)), key=lambda i: len(sentences[i]))
    rows = []
    with torch.no_grad():
        for first in range(0, len(sentences), 32):
            batch = [sentences[i] for i in order[first:first + 32]]
            x = tokenizer(batch, padding=True, truncation=True, max_length=256, return_tensors="pt")
            real = x["attention_mask"].unsqueeze(-1)
            hidden = model(**x).last_hidden_state
            rows.append(torch.nn.functional.normalize((hidden * real).sum(1) / real.sum(1)))
    result = torch.empty(len(sentences), rows[0].shape[1])
    result[order] = torch.cat(rows)
    return result.numpy()


def ours():
    text = "\n".join(sentences)
    printed = subprocess.run([options.embed, "--model", options.model], input=text, capture_output=True, text=True,
                             check=True).stdout
    return np.loadtxt(printed.splitlines())


def cpu_of_children():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


difference = np.abs(ours() - theirs()).max()
best = {"ours": float("inf"), "theirs": float("inf")}
for _ in range(options.rounds):
    before = cpu_of_children()
    ours()
    best["ours"] = min(best["ours"], cpu_of_children() - before)
    before = time.process_time()
    theirs()
    best["theirs"] = min(best["theirs"], time.process_time() - before)
print(f"{options.sentences} sentences: ours {best['ours']:.2f} s, transformers {best['theirs']:.2f} s, "
      f"ratio {best['theirs'] / best['ours']:.2f}, largest difference {difference:.1e}")
