"""How the pages measure time."""

import time
from collections.abc import Callable


def seconds(function: Callable[[], object], repeats: int = 5) -> float:
    """Time a function: the shortest of several runs, which is the one that was disturbed least.

    Parameters
    ----------
    function : callable
        What to time; called without arguments.
    repeats : int
        How often it is run.

    Returns
    -------
    float
        Seconds of wall time.
    """
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = function()  # kept until the clock stops: giving memory back takes time
        times.append(time.perf_counter() - start)
        del result
    return min(times)
