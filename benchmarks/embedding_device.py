"""What an embedding costs on a device: the lookup beside a copy, the gradient with repeats, sparse beside dense.

Run ``python benchmarks/embedding_device.py`` in the project's environment: it takes a graphics card where there is one,
else the CPU. All that is timed is first compared with float64 on whole numbers, whose sums have no rounding: it must be
equal. README.md beside this file says how to read the tables.
"""

import argparse
import datetime
import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import torch
from _rounds import compare, draw_ids, machine, print_table, progress

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs from any folder, installed or not

from book.device import best_device, device_name, synchronize

Ways = dict[str, Callable[[], object]]

# Name, V, d, and the positions of a batch: the tables of GPT-2 small and of Llama 3 8B.
GPT2 = ("GPT-2 small", 50_257, 768, 32_768)
LLAMA3 = ("Llama 3 8B", 128_256, 4_096, 32_768)
QUICK = ("small", 10_007, 256, 8_192)
LEARNING_RATE = 0.5  # a power of two: steps on whole numbers have no rounding


def id_kinds(V: int, N: int) -> dict[str, np.ndarray]:
    """Ids with few repeats and with many: from none twice to one id alone."""
    rng = np.random.default_rng(0)
    return {
        "all different": rng.permutation(V)[:N],
        "uniform": draw_ids("uniform", N, V, rng),
        "zipf": draw_ids("zipf", N, V, rng),
        "half of them one id": np.where(rng.random(N) < 0.5, V // 2, draw_ids("uniform", N, V, rng)),
        "one id only": np.full(N, V // 2),
    }


def whole_numbers(*shape: int, device: torch.device) -> torch.Tensor:
    """Draw small whole numbers as float32; up to 2²⁴ they add up without rounding in every order."""
    return torch.from_numpy(np.random.default_rng(0).integers(-8, 9, size=shape).astype(np.float32)).to(device)


def gather_ways(E: torch.Tensor, ids: dict[str, torch.Tensor]) -> Ways:
    """Read N rows of the table, each kind of ids; the peer copies as many bytes that lie side by side."""
    N, d = len(ids["uniform"]), E.shape[1]
    H = torch.empty(N, d, device=E.device)
    side_by_side = whole_numbers(N, d, device=E.device)
    ways: Ways = {"copy": partial(H.copy_, side_by_side)}
    for kind, some in ids.items():
        ways[kind] = partial(torch.index_select, E, 0, some, out=H)
    return ways


def backward_ways(V: int, G: torch.Tensor, ids: dict[str, torch.Tensor]) -> Ways:
    """Compute the dense gradient by the operation that autograd calls for ``nn.Embedding``."""
    operation = torch.ops.aten.embedding_dense_backward
    return {
        kind: partial(operation, G, some, V, padding_idx=-1, scale_grad_by_freq=False) for kind, some in ids.items()
    }


class Step:
    """A training step of plain SGD on a table: lookup, gradient, update."""

    def __init__(self, E: torch.Tensor, ids: torch.Tensor, G: torch.Tensor, sparse: bool) -> None:
        self.layer = torch.nn.Embedding(*E.shape, sparse=sparse, _weight=E.clone())
        self.optimizer = torch.optim.SGD(self.layer.parameters(), lr=LEARNING_RATE)
        self.ids, self.G = ids, G

    def __call__(self) -> None:
        self.optimizer.zero_grad()
        self.layer(self.ids).backward(self.G)
        self.optimizer.step()


def check(E: torch.Tensor, G: torch.Tensor, ids: dict[str, torch.Tensor]) -> list[str]:
    """Compare all that will be timed with float64 on the CPU.

    Returns
    -------
    list of str
        Operations that this device does not have, which are not timed.

    Raises
    ------
    AssertionError
        If a result is not exactly that of float64.
    """
    V = len(E)
    table, upstream = E.double().cpu().numpy(), G.double().cpu().numpy()
    gather, backward = gather_ways(E, ids), backward_ways(V, G, ids)
    missing = []
    for kind, some in ids.items():
        rows = some.cpu().numpy()
        assert np.array_equal(gather[kind]().cpu().numpy(), table[rows]), f"the lookup is wrong, ids {kind}"
        right = np.zeros_like(table)
        np.add.at(right, rows, upstream)
        assert np.array_equal(backward[kind]().cpu().numpy(), right), f"the gradient is wrong, ids {kind}"
    for sparse in (False, True):
        step = Step(E, ids["half of them one id"], G, sparse)
        try:
            step()
        except (NotImplementedError, RuntimeError) as error:
            if not sparse:
                raise
            missing.append(f"sparse gradients ({str(error).splitlines()[0]})")
            continue
        np.add.at(right := np.zeros_like(table), ids["half of them one id"].cpu().numpy(), upstream)
        after = step.layer.weight.detach().cpu().numpy()
        assert np.array_equal(after, table - LEARNING_RATE * right), f"the step is wrong, sparse={sparse}"
    return missing


def step_ways(E: torch.Tensor, G: torch.Tensor, ids: torch.Tensor, sparse_works: bool) -> Ways:
    """Train with a dense and with a sparse gradient, on all positions and on an eighth of them."""
    few = len(ids) // 8
    ways: Ways = {
        "dense": Step(E, ids, G, sparse=False),
        f"dense, {few:,} ids": Step(E, ids[:few], G[:few], sparse=False),
    }
    if sparse_works:
        ways["sparse"] = Step(E, ids, G, sparse=True)
        ways[f"sparse, {few:,} ids"] = Step(E, ids[:few], G[:few], sparse=True)
    return ways


def measure_case(
    case: tuple[str, int, int, int], device: torch.device, rounds: int, at_least: float, say: Callable[[str], None]
) -> dict:
    """Check and time one table, and print what came out."""
    name, V, d, N = case
    ids = {kind: torch.from_numpy(some).to(device) for kind, some in id_kinds(V, N).items()}
    say("checking")
    missing = check(whole_numbers(V, d, device=device), whole_numbers(N, d, device=device), ids)
    E, G = torch.randn(V, d, device=device), torch.randn(N, d, device=device)
    result: dict = {"table": name, "V": V, "d": d, "N": N, "missing": missing}
    groups = {
        "lookup": ("the same number of bytes copied", "copy", gather_ways(E, ids)),
        "gradient": ("ids that are all different", "all different", backward_ways(V, G, ids)),
        "step of SGD": ("the dense gradient, all ids", "dense", step_ways(E, G, ids["zipf"], not missing)),
    }
    for what, (meaning, peer, ways) in groups.items():
        table = compare(
            ways, peer, rounds, lambda line, what=what: say(f"{what}, {line}"), partial(synchronize, device), at_least
        )
        if what == "lookup":
            for row in table.values():
                row["GB/s"] = 2 * 4 * N * d / row["ms"] / 1e6  # a number is read once and written once, in float32
        columns = {"GB/s": lambda row: f"{row['GB/s']:,.0f}"} if what == "lookup" else {}
        say("")
        print_table(f"{name}, V={V:,} d={d:,} N={N:,}: {what}, beside {meaning}", table, columns)
        result[what] = {"peer": peer, "ways": table}
    for what in missing:
        print(f"  not on this device: {what}")
    return result


def main() -> None:
    """Choose device and tables, measure, and write all of it to a file where asked."""
    parser = argparse.ArgumentParser(description="Time an embedding's lookup, gradient and training step on a device.")
    parser.add_argument("--device", type=torch.device, help="cuda, mps or cpu (the first of these that is there)")
    parser.add_argument("--quick", action="store_true", help="a small table and few rounds: under 15 seconds on a CPU")
    parser.add_argument("--rounds", type=int, help="timed rounds (11, or 5 with --quick)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write facts and results to FILE")
    options = parser.parse_args()
    device = options.device or best_device()
    rounds = options.rounds or (5 if options.quick else 11)
    # Llama's table with its gradients, copies and float64 check needs 20 GB on the CPU's side; a CPU does without it.
    cases = [QUICK] if options.quick else [GPT2] if device.type == "cpu" else [GPT2, LLAMA3]

    torch.manual_seed(0)
    facts = {"device": device_name(device), "date": datetime.date.today().isoformat()} | machine()
    print(", ".join(f"{name}: {value}" for name, value in facts.items()))
    print("Ratios to the peer in the same round (below 1 is faster). float32.")
    results = []
    for number, case in enumerate(cases, start=1):
        say = progress(f"[{number}/{len(cases)}] {case[0]}")
        results.append(measure_case(case, device, rounds, 0.0 if device.type == "cpu" else 0.01, say))
    if options.json:
        options.json.write_text(json.dumps({"machine": facts, "rounds": rounds, "results": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()
