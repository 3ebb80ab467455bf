"""How long each way to compute the gradient of an embedding table takes, beside PyTorch's.

Run ``python benchmarks/embedding_backward.py`` in the project's environment. Every way is first checked on
upstream gradients of whole numbers, whose sums have no rounding: it must equal a float64 loop exactly. Then
all ways run in turn, round after round, so that a slow moment of the machine falls on all of them, and each
time is divided by PyTorch's time in the same round. README.md beside this file says how to read the table.
"""

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import numpy as np
import scipy
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs from any folder, installed or not

from book.backward_ways import backward_sorted, backward_sparse
from solutions import embedding_backward

Way = Callable[[np.ndarray, np.ndarray, int], np.ndarray]

# (N, d, V): the largest case, then one number changed at a time, then small batches.
LARGEST = (65_536, 256, 50_000)
GRID = [
    LARGEST,
    (16_384, 256, 50_000),
    (4_096, 256, 50_000),
    (65_536, 64, 50_000),
    (65_536, 512, 50_000),
    (65_536, 256, 1_000),
    (65_536, 256, 200_000),
    (1_024, 64, 1_000),
]
QUICK_GRID = [LARGEST, (4_096, 256, 50_000), (1_024, 64, 1_000)]


def torch_backward(ids: np.ndarray, grad_out: np.ndarray, V: int) -> np.ndarray:
    """Call the operation that autograd calls for ``nn.Embedding`` on a CPU, on PyTorch's default threads."""
    return torch.ops.aten.embedding_dense_backward(
        torch.from_numpy(grad_out), torch.from_numpy(ids), V, padding_idx=-1, scale_grad_by_freq=False
    ).numpy()


def torch_backward_one_thread(ids: np.ndarray, grad_out: np.ndarray, V: int) -> np.ndarray:
    """Do the same on one thread, as every way in NumPy and SciPy does."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        return torch_backward(ids, grad_out, V)
    finally:
        torch.set_num_threads(threads)


@lru_cache(maxsize=1)
def torch_table(V: int, d: int) -> torch.Tensor:
    """Make a table to train, once a case; round 0 pays for it."""
    return torch.zeros(V, d, requires_grad=True)


def torch_layer(ids: np.ndarray, grad_out: np.ndarray, V: int) -> np.ndarray:
    """Do a training step's share of ``nn.Embedding``: look the ids up, then let autograd go back."""
    table = torch_table(V, grad_out.shape[-1])
    H = torch.nn.functional.embedding(torch.from_numpy(ids), table)
    (grad_E,) = torch.autograd.grad(H, table, torch.from_numpy(grad_out))
    return grad_E.numpy()


PEER = "PyTorch"
WAYS: dict[str, Way] = {
    PEER: torch_backward,
    "PyTorch, 1 thread": torch_backward_one_thread,
    "nn.Embedding, forward and backward": torch_layer,
    "np.add.at (the solution)": embedding_backward,
    "backward_sorted": backward_sorted,
    "backward_sparse": backward_sparse,
}


def draw_ids(kind: str, N: int, V: int, rng: np.random.Generator) -> np.ndarray:
    """Draw N ids: ``uniform``, or ``zipf``, where the k-th most frequent comes in proportion to 1/k."""
    if kind == "uniform":
        return rng.integers(V, size=N)
    share = 1 / np.arange(1, V + 1)
    # Shuffled, so that frequent ids do not also lie side by side in the table.
    return rng.permutation(V)[rng.choice(V, size=N, p=share / share.sum())]


def loop_float64(ids: np.ndarray, grad_out: np.ndarray, V: int) -> np.ndarray:
    """Follow the definition, one position after the other, in float64."""
    grad_E = np.zeros((V, grad_out.shape[1]))
    for n, i in enumerate(ids):
        grad_E[i] += grad_out[n]
    return grad_E


def check(ids: np.ndarray, V: int, d: int, rng: np.random.Generator) -> None:
    """Raise AssertionError unless every way gives exactly the loop's sums of whole numbers."""
    whole = rng.integers(-8, 9, size=(len(ids), d)).astype(np.float32)
    right = loop_float64(ids, whole, V)
    for name, way in WAYS.items():
        assert np.array_equal(way(ids, whole, V), right), f"{name} is wrong for N={len(ids)}, d={d}, V={V}"


def measure(ids: np.ndarray, grad_out: np.ndarray, V: int, rounds: int, say: Callable[[str], None]) -> dict:
    """Time every way once a round, and compare each with the float64 loop.

    Returns
    -------
    dict
        For each way: ``ms``, its median time; ``ratio``, the median over rounds of its time divided by
        PyTorch's; ``low`` and ``high``, the quartiles of that ratio; ``error``, the largest difference from
        the loop.
    """
    exact = loop_float64(ids, grad_out, V)
    seconds: dict[str, list[float]] = {name: [] for name in WAYS}
    errors: dict[str, float] = {}
    for n in range(rounds + 1):  # round 0 warms up
        say(f"round {n} of {rounds}")
        for name, way in WAYS.items():
            start = time.perf_counter()
            result = way(ids, grad_out, V)
            elapsed = time.perf_counter() - start
            if n == 0:
                errors[name] = float(np.abs(result - exact).max())
            else:
                seconds[name].append(elapsed)
            del result  # its memory goes back outside the timed part
    table = {}
    for name in WAYS:
        ratio = np.array(seconds[name]) / np.array(seconds[PEER])
        low, middle, high = np.quantile(ratio, [0.25, 0.5, 0.75])
        ms = 1e3 * float(np.median(seconds[name]))
        table[name] = {"ms": ms, "ratio": middle, "low": low, "high": high, "error": errors[name]}
    return table


def machine() -> dict[str, str | int]:
    """Return what the times depend on."""
    cpu = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line.split(":", 1)[1].strip() for line in cpuinfo.read_text().splitlines() if "model name" in line]
        cpu = names[0] if names else cpu
    huge_pages = Path("/sys/kernel/mm/transparent_hugepage/enabled")  # Linux only
    return {
        "cpu": cpu,
        "cores": os.cpu_count() or 0,
        "system": f"{platform.system()} {platform.machine()}",
        "huge pages": huge_pages.read_text().strip() if huge_pages.exists() else "unknown",
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "torch": torch.__version__,
        "torch threads": torch.get_num_threads(),
    }


def main() -> None:
    """Run the grid, print a table for each case, and write all of it to a file where asked."""
    parser = argparse.ArgumentParser(description="Time the ways to compute an embedding table's gradient.")
    parser.add_argument("--quick", action="store_true", help="three sizes and few rounds: under 15 seconds")
    parser.add_argument("--rounds", type=int, help="timed rounds a case (11, or 5 with --quick)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write facts and results to FILE")
    options = parser.parse_args()
    rounds = options.rounds or (5 if options.quick else 11)
    cases = [(size, kind) for size in (QUICK_GRID if options.quick else GRID) for kind in ("uniform", "zipf")]

    facts = machine()
    print(", ".join(f"{name}: {value}" for name, value in facts.items()))
    print(f"Ratios to {PEER} in the same round (below 1 is faster); NumPy and SciPy run on one thread. float32.")
    results = []
    for number, ((N, d, V), kind) in enumerate(cases, start=1):
        title = f"N={N:,} d={d} V={V:,} {kind}"

        def say(what: str, title: str = f"[{number}/{len(cases)}] {title}") -> None:
            if sys.stderr.isatty():
                print(f"\r{title}: {what}\033[K", end="", file=sys.stderr, flush=True)

        rng = np.random.default_rng(0)
        ids = draw_ids(kind, N, V, rng)
        counts = np.bincount(ids)
        say("checking")
        check(ids, V, d, rng)
        table = measure(ids, rng.standard_normal((N, d), dtype=np.float32), V, rounds, say)
        say("done\r\033[K")
        repeats = {"distinct": int(np.count_nonzero(counts)), "most": int(counts.max())}
        print(f"\n{title}: {repeats['distinct']:,} distinct, the most frequent {repeats['most']:,} times")
        print(f"  {'':36}{'ratio':>7}   {'quartiles':^15}{'ms':>9}{'largest error':>16}")
        for name, row in sorted(table.items(), key=lambda item: item[1]["ratio"]):
            spread = f"{row['low']:6.2f} – {row['high']:<6.2f}"
            print(f"  {name:36}{row['ratio']:7.2f}   {spread}{row['ms']:9.2f}{row['error']:16.1e}", flush=True)
        results.append({"N": N, "d": d, "V": V, "ids": kind, **repeats, "ways": table})
    if options.json:
        options.json.write_text(json.dumps({"machine": facts, "rounds": rounds, "results": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()
