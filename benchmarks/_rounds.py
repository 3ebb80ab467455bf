"""What the benchmarks share: ways run in turn, and each time is divided by the peer's time in the same round."""

import os
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch


def draw_ids(kind: str, N: int, V: int, rng: np.random.Generator) -> np.ndarray:
    """Draw N ids: ``uniform``, or ``zipf``, where the k-th most frequent comes in proportion to 1/k."""
    if kind == "uniform":
        return rng.integers(V, size=N)
    share = 1 / np.arange(1, V + 1)
    # Shuffled, so that frequent ids do not also lie side by side in the table.
    return rng.permutation(V)[rng.choice(V, size=N, p=share / share.sum())]


def compare(
    ways: dict[str, Callable[[], object]],
    peer: str,
    rounds: int,
    say: Callable[[str], None],
    synchronize: Callable[[], None] = lambda: None,
    at_least: float = 0.0,
) -> dict[str, dict[str, float]]:
    """Time every way once a round, so that a slow moment of the machine falls on all of them.

    Parameters
    ----------
    ways : dict
        What to time, by name; each is called without arguments.
    peer : str
        The way that the others are divided by.
    rounds : int
        How many rounds count; one before them warms up.
    say : callable
        Takes a line on how far it is.
    synchronize : callable
        Waits until the device has done what it was given.
    at_least : float
        Seconds that one measurement should take: each way is called as often as the peer needs for that, and its time
        divided by the number of calls. With 0, it is called once.

    Returns
    -------
    dict
        For each way: ``ms``, its median time; ``ratio``, the median over rounds of its time divided by the peer's;
        ``low`` and ``high``, the quartiles of that ratio.
    """
    calls = 1

    def measure(way: Callable[[], object]) -> float:
        synchronize()
        elapsed = 0.0
        for left in reversed(range(calls)):
            start = time.perf_counter()
            result = way()
            if left == 0:
                synchronize()
            elapsed += time.perf_counter() - start
            del result  # its memory goes back outside the timed part
        return elapsed / calls

    say(f"round 0 of {rounds}")
    for way in ways.values():  # warms up
        measure(way)
    calls = max(1, round(at_least / measure(ways[peer])))
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for n in range(1, rounds + 1):
        say(f"round {n} of {rounds}")
        for name, way in ways.items():
            seconds[name].append(measure(way))
    table = {}
    for name in ways:
        ratio = np.array(seconds[name]) / np.array(seconds[peer])
        low, middle, high = (float(q) for q in np.quantile(ratio, [0.25, 0.5, 0.75]))
        table[name] = {"ms": 1e3 * float(np.median(seconds[name])), "ratio": middle, "low": low, "high": high}
    return table


def print_table(title: str, table: dict[str, dict[str, float]], more: dict[str, Callable[[dict], str]]) -> None:
    """Print a title and a line for each way, the quickest first.

    Parameters
    ----------
    title : str
    table : dict
        What `compare` returned; its rows may hold more numbers.
    more : dict
        Further columns: for each heading, what makes its cell from a row of the table.
    """
    print(f"\n{title}")
    print(f"  {'':36}{'ratio':>7}   {'quartiles':^15}{'ms':>9}" + "".join(f"{heading:>16}" for heading in more))
    for name, row in sorted(table.items(), key=lambda item: item[1]["ratio"]):
        spread = f"{row['low']:6.2f} – {row['high']:<6.2f}"
        cells = "".join(f"{cell(row):>16}" for cell in more.values())
        print(f"  {name:36}{row['ratio']:7.2f}   {spread}{row['ms']:9.2f}{cells}", flush=True)


def progress(title: str) -> Callable[[str], None]:
    """Return what writes one line on the terminal over and over; "" wipes it. Nothing is written to a file."""

    def say(what: str) -> None:
        if sys.stderr.isatty():
            print(f"\r{title}: {what}\033[K" if what else "\r\033[K", end="", file=sys.stderr, flush=True)

    return say


def machine() -> dict[str, str | int]:
    """Return what times depend on, whatever is timed."""
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
        "torch": torch.__version__,
        "torch threads": torch.get_num_threads(),
    }
