"""Interleaved timing of contenders in one run, and tables of ratios.

One thread is timed by the process's CPU seconds, which other processes disturb least; more by the wall clock. Rounds go
through all contenders in turn, forwards and backwards, so that a slow minute falls on all of them. The fastest round of
each counts: noise only ever adds.
"""
import ctypes
import os
import pathlib
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]


def pin(threads):
    """Keeps this process on as many processors; call it before numpy or torch is imported."""
    available = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, set(available[:threads]))
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[name] = str(threads)


def build(source, flags=()):
    """Compiles a C++ file beside this one to a shared library and loads it. No -m flag unless one is given."""
    library = pathlib.Path(tempfile.mkdtemp()) / "library.so"
    eigen = subprocess.run(["pkg-config", "--cflags", "eigen3"], capture_output=True, text=True).stdout.split()
    command = [os.environ.get("CXX", "g++"), "-std=c++20", "-O2", "-DNDEBUG", "-shared", "-fPIC", "-pthread", *flags,
               f"-I{ROOT / 'include'}", *eigen, str(pathlib.Path(__file__).with_name(source)), "-o", str(library)]
    subprocess.run(command, check=True)
    return ctypes.CDLL(str(library))


def interleave(contenders, threads=1, seconds=2.0, least=3):
    """contenders: name -> callable. Returns name -> seconds of the fastest round."""
    clock = time.process_time if threads == 1 else time.perf_counter
    best = {name: float("inf") for name in contenders}
    for run in contenders.values():
        run()
    start, rounds = time.perf_counter(), 0
    while rounds < least or time.perf_counter() - start < seconds:
        order = list(contenders) if rounds % 2 == 0 else list(contenders)[::-1]
        for name in order:
            if threads > 1:
                time.sleep(0.005)  # the other's threads stop spinning
            before = clock()
            contenders[name]()
            best[name] = min(best[name], clock() - before)
        rounds += 1
    return best
