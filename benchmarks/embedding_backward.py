"""How long each way to compute the gradient of an embedding table takes, beside PyTorch's.

Run ``python benchmarks/embedding_backward.py`` in the project's environment. Every way is first checked on
upstream gradients of whole numbers, whose sums have no rounding: it must equal a float64 loop exactly. Then
all ways run in turn, round after round, so that a slow moment of the machine falls on all of them, and each
time is divided by PyTorch's time in the same round. README.md beside this file says how to read the table.
"""

import argparse
import json
import sys
from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path

import numpy as np
import scipy
import torch
from _rounds import compare, draw_ids, machine, print_table, progress

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
    """Time every way, and add ``error`` to its row: the largest difference from the float64 loop."""
    exact = loop_float64(ids, grad_out, V)
    table = compare({name: partial(way, ids, grad_out, V) for name, way in WAYS.items()}, PEER, rounds, say)
    for name, way in WAYS.items():
        table[name]["error"] = float(np.abs(way(ids, grad_out, V) - exact).max())
    return table


def main() -> None:
    """Run the grid, print a table for each case, and write all of it to a file where asked."""
    parser = argparse.ArgumentParser(description="Time the ways to compute an embedding table's gradient.")
    parser.add_argument("--quick", action="store_true", help="three sizes and few rounds: under 15 seconds")
    parser.add_argument("--rounds", type=int, help="timed rounds a case (11, or 5 with --quick)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write facts and results to FILE")
    options = parser.parse_args()
    rounds = options.rounds or (5 if options.quick else 11)
    cases = [(size, kind) for size in (QUICK_GRID if options.quick else GRID) for kind in ("uniform", "zipf")]

    facts = machine() | {"scipy": scipy.__version__}
    print(", ".join(f"{name}: {value}" for name, value in facts.items()))
    print(f"Ratios to {PEER} in the same round (below 1 is faster); NumPy and SciPy run on one thread. float32.")
    results = []
    for number, ((N, d, V), kind) in enumerate(cases, start=1):
        title = f"N={N:,} d={d} V={V:,} {kind}"
        say = progress(f"[{number}/{len(cases)}] {title}")
        rng = np.random.default_rng(0)
        ids = draw_ids(kind, N, V, rng)
        counts = np.bincount(ids)
        say("checking")
        check(ids, V, d, rng)
        table = measure(ids, rng.standard_normal((N, d), dtype=np.float32), V, rounds, say)
        say("")
        repeats = {"distinct": int(np.count_nonzero(counts)), "most": int(counts.max())}
        title += f": {repeats['distinct']:,} distinct, the most frequent {repeats['most']:,} times"
        print_table(title, table, {"largest error": lambda row: f"{row['error']:.1e}"})
        results.append({"N": N, "d": d, "V": V, "ids": kind, **repeats, "ways": table})
    if options.json:
        options.json.write_text(json.dumps({"machine": facts, "rounds": rounds, "results": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()
