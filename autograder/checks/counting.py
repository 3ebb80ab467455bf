"""Checks of chapter 10: counting parameters and bytes."""

import numpy as np

from autograder.checks import check_of
from autograder.checks.tools import two_numbers


@check_of("table_cost", points=2, enforces="True if the output layer is the input table: there is one table.")
def one_table_when_tied(table_cost):
    """A tied model has one table, of V · d parameters: 38,597,376 for GPT-2 small."""
    for V, d, want in [(6, 4, 24), (32_000, 512, 16_384_000), (50_257, 768, 38_597_376)]:
        parameters, _ = two_numbers(table_cost(V, d, True), "(parameters, bytes)")
        hint = f"A tied model of V = {V:,} and d = {d:,} has one table, of V rows and d columns."
        assert parameters == want, f"{parameters:,} parameters; there should be {want:,}. {hint}"


@check_of("table_cost", points=2, enforces="False if it is a table of its own, of the same kind: there are two.")
def two_tables_when_untied(table_cost):
    """An untied model has two such tables: 1,050,673,152 parameters for Llama 3 8B."""
    for V, d, want in [(6, 4, 48), (32_000, 512, 32_768_000), (128_256, 4_096, 1_050_673_152)]:
        parameters, _ = two_numbers(table_cost(V, d, False), "(parameters, bytes)")
        hint = f"V = {V:,}, d = {d:,}, untied: the output layer has a table of its own, as large as the input's."
        assert parameters == want, f"{parameters:,} parameters; there should be {want:,}. {hint}"


@check_of("table_cost", points=2, enforces="weight, gradient and two moments, of 4 bytes each.")
def sixteen_bytes_a_parameter(table_cost):
    """In training with Adam in float32, each parameter takes weight, gradient and two moments."""
    seen = set()
    for V, d, tied in [(6, 4, True), (7, 3, False), (50_257, 768, True)]:
        parameters, in_bytes = two_numbers(table_cost(V, d, tied), "(parameters, bytes)")
        seen.add(parameters)
        hint = (
            "Four float32 numbers take 16: weight, gradient and two moments. 12 leaves one of them out, most often "
            "the gradient; 4 is the weight alone."
        )
        each = f"{in_bytes / parameters:g} bytes a parameter" if parameters else "no parameters"
        assert in_bytes == 16 * parameters > 0, f"{in_bytes:,} bytes for {parameters:,} parameters: {each}. {hint}"
    assert len(seen) == 3, f"The count of parameters was the same for models of different sizes: {parameters:,}."


@check_of(
    "table_cost",
    points=2,
    enforces=("of shapes (V, factor_m) and (factor_m, d)", "only these two are stored."),
)
def a_table_in_two_factors(table_cost):
    """With factor_m, a table is a matrix (V, m) and a matrix (m, d): 4,364,288 for V=30,000, d=4,096, m=128."""
    for V, d, m, want in [(7, 5, 2, 24), (30_000, 4_096, 128, 4_364_288), (9, 4, 1, 13), (3, 4, 6, 42)]:
        parameters, _ = two_numbers(table_cost(V, d, True, factor_m=m), "(parameters, bytes)")
        hint = f"V = {V:,}, d = {d:,}, m = {m:,}: one factor has V rows of m, the other m rows of d. Both are stored."
        assert parameters == want, f"{parameters:,} parameters; there should be {want:,}. {hint}"


@check_of("table_cost", points=2, hidden=True, enforces="Otherwise each table is the product of two matrices")
def both_tables_in_two_factors(table_cost):
    """Untied and factorized: each of the two tables is made of two factors."""
    for V, d, m in [(7, 5, 2), (30_000, 4_096, 128), (9, 4, 1)]:
        parameters, _ = two_numbers(table_cost(V, d, False, m), "(parameters, bytes)")
        want = 2 * (V * m + m * d)
        hint = f"V = {V:,}, d = {d:,}, m = {m:,}, untied: two tables, and each of them is in two factors of its own."
        assert parameters == want, f"{parameters:,} parameters; there should be {want:,}. {hint}"


@check_of(
    "table_cost",
    points=1,
    hidden=True,
    enforces=("Both are Python integers", "exact for sizes of any magnitude.", "The two stand in a tuple."),
)
def exact_python_integers(table_cost):
    """The result is a tuple of two Python integers, exact far beyond what a float can hold."""
    for V, d in [(6, 4), (2**53 + 1, 3), (10**30 + 7, 10**20 + 9)]:
        got = table_cost(V, d, True)
        parameters, in_bytes = two_numbers(got, "(parameters, bytes)")
        for number in (parameters, in_bytes):
            kind = f"{type(number).__module__}.{type(number).__name__}".removeprefix("builtins.")
            assert type(number) is int, f"A number in the result is a {kind}; it should be a Python int."
        assert isinstance(got, tuple), f"The result is a {type(got).__name__}; it should be a tuple."
        off = f"{parameters} parameters for V = {V}, d = {d}: off by {abs(parameters - V * d)}."
        assert parameters == V * d, f"{off} A float has about 16 digits: multiply integers, and make no float of them."
        assert in_bytes % parameters == 0, f"{in_bytes} is no multiple of {parameters}: keep to integers here, too."


@check_of(
    "table_cost",
    points=1,
    hidden=True,
    enforces="A NumPy integer of any width, such as ``np.int32(50257)``, is allowed here and for the other two sizes.",
)
def sizes_from_numpy(table_cost):
    """V, d and factor_m may be NumPy integers of any width; the result is the same, in Python integers."""
    kinds = (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64)
    for kind in kinds:
        V, d, m = int(np.iinfo(kind).max) // 2 + 1, 100, 90  # V is a power of 2, and V * d too large for the type
        for factor_m in (None, m):
            made = None if factor_m is None else kind(factor_m)
            with np.errstate(over="ignore"):  # the message below says more than NumPy's warning
                got = two_numbers(table_cost(kind(V), kind(d), True, made), "(parameters, bytes)")
            want = two_numbers(table_cost(V, d, True, factor_m), "(parameters, bytes)")
            given = f"V = {V:,}, d = {d} and factor_m = {factor_m} were {np.dtype(kind)}"
            hint = "NumPy integers wrap around when a result does not fit; make Python ints of them first."
            same = all(one == other for one, other in zip(got, want, strict=True))
            assert same, f"{given}: the result was {got}. With Python ints of the same size it is {want}. {hint}"
            assert factor_m or got[0] == V * d, f"{given}: {got[0]:,} parameters, not {V * d:,}. {hint}"
            whole = all(type(number) is int for number in got)
            types = " and ".join(type(number).__name__ for number in got)
            assert whole, f"{given}: the two numbers are {types}. Return two Python ints."
