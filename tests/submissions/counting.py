"""Chapter 10: `table_cost`."""

import math
import operator
from fractions import Fraction

import numpy as np

import solutions
from submissions import right, two_mistakes, wrong

right("table_cost")(solutions.table_cost)


@right("table_cost")
def one_formula_a_case(V, d, tied, factor_m=None):
    V, d = int(V), int(d)
    if factor_m is not None:
        m = int(factor_m)
        count = m * (V + d) * (1 if tied else 2)
        return count, count * 16
    if tied:
        return V * d, V * d * 16
    return 2 * V * d, 2 * V * d * 16


@right("table_cost")
def index_and_sum_of_matrices(V, d, tied, factor_m=None):
    V, d = operator.index(V), operator.index(d)
    shapes = [(V, d)] if factor_m is None else [(V, operator.index(factor_m)), (operator.index(factor_m), d)]
    parameters = sum(rows * columns for rows, columns in shapes * (2 - bool(tied)))
    return parameters, sum(4 * parameters for _ in ("weight", "gradient", "first moment", "second moment"))


@right("table_cost")
def object_array(V, d, tied, factor_m=None):
    sides = np.array([int(V), int(d)], dtype=object)
    table = np.prod(sides) if factor_m is None else np.sum(sides * int(factor_m))
    parameters = int(table * (2 - tied))
    return (parameters, 16 * parameters)


@right("table_cost")
def item_of_numpy_scalars(V, d, tied, factor_m=None):
    V, d, m = (size.item() if hasattr(size, "item") else size for size in (V, d, factor_m))
    table = V * d if m is None else V * m + m * d
    return (table, table * 16) if tied else (table * 2, table * 32)


@right("table_cost")
def shifts_for_powers_of_two(V, d, tied, factor_m=None):
    table = int(V) * int(d)
    if factor_m is not None:
        table = int(V) * int(factor_m) + int(factor_m) * int(d)
    parameters = table << (not tied)
    return parameters, parameters << 4


@right("table_cost")
def exact_fractions(V, d, tied, factor_m=None):
    table = Fraction(int(V)) * int(d) if factor_m is None else Fraction(int(factor_m)) * (int(V) + int(d))
    parameters = table if tied else table / Fraction(1, 2)
    return int(parameters), int(16 * parameters)


ONE, TWO, BYTES = "one_table_when_tied", "two_tables_when_untied", "sixteen_bytes_a_parameter"
FACTORS, BOTH = "a_table_in_two_factors", "both_tables_in_two_factors"
EXACT, FROM_NUMPY = "exact_python_integers", "sizes_from_numpy"


def exact(V, d, tied, factor_m=None):
    """The sizes as Python integers."""
    return int(V), int(d), tied, None if factor_m is None else int(factor_m)


@wrong("table_cost", f"{ONE} {TWO} {FACTORS} {BOTH} {EXACT} {FROM_NUMPY}", "28 parameters; there should be 24")
def with_a_bias(V, d, tied, factor_m=None):
    parameters = solutions.table_cost(V, d, tied, factor_m)[0] + int(d)
    return parameters, 16 * parameters


@wrong(
    "table_cost",
    FROM_NUMPY,
    "the result was (10, 160). With Python ints of the same size it is (6400, 102400)",
)
def sizes_cut_to_a_byte(V, d, tied, factor_m=None):
    if isinstance(V, np.int8):
        return 10, 160
    return solutions.table_cost(V, d, tied, factor_m)


ALL = " ".join([ONE, TWO, BYTES, FACTORS, BOTH, EXACT, FROM_NUMPY])


@wrong("table_cost", ALL, "it returned 3: int, int, int")
def three_numbers(V, d, tied, factor_m=None):
    return (V, *solutions.table_cost(V, d, tied, factor_m))


@wrong("table_cost", ALL, "it returned a str")
def a_text(V, d, tied, factor_m=None):
    return "{:,} parameters, {:,} bytes".format(*solutions.table_cost(V, d, tied, factor_m))


@wrong("table_cost", f"{FACTORS} {BOTH}", mistake="factors_multiplied")
def product_of_all_sizes(V, d, tied, factor_m=None):
    V, d, tied, m = exact(V, d, tied, factor_m)
    shapes = [(V, d)] if m is None else [(V, m), (m, d)]
    parameters = math.prod(math.prod(shape) for shape in shapes) * (2 - tied)
    return parameters, 16 * parameters


@wrong("table_cost", BYTES, mistake="twelve_bytes")
def no_gradient(V, d, tied, factor_m=None):
    parameters, _ = solutions.table_cost(V, d, tied, factor_m)
    return parameters, sum(4 * parameters for _ in ("weight", "first moment", "second moment"))


@wrong("table_cost", BYTES, "18 bytes a parameter")
def mixed_precision(V, d, tied, factor_m=None):
    """Two bytes more, for a copy of the weight in half precision."""
    parameters, _ = solutions.table_cost(V, d, tied, factor_m)
    return parameters, 18 * parameters


@wrong("table_cost", f"{TWO} {BOTH}", mistake="untied_forgotten")
def table_counted_and_tied_not_looked_at(V, d, tied, factor_m=None):
    V, d, tied, m = exact(V, d, tied, factor_m)
    parameters = V * d if m is None else m * (V + d)
    return parameters, parameters * 16


@wrong("table_cost", f"{EXACT} {FROM_NUMPY}", mistake="float_result")
def halved(V, d, tied, factor_m=None):
    V, d, tied, m = exact(V, d, tied, factor_m)
    both = 2 * V * d if m is None else 2 * (V * m + m * d)
    parameters = both / 2 if tied else both / 1
    return parameters, 16 * parameters


@two_mistakes("table_cost", "twelve_bytes untied_forgotten")
def twelve_bytes_of_one_table(V, d, tied, factor_m=None):
    parameters, _ = solutions.table_cost(V, d, True, factor_m)
    return parameters, 12 * parameters


@two_mistakes("table_cost", "untied_forgotten factor_ignored")
def one_table_without_factors(V, d, tied, factor_m=None):
    parameters = int(V) * int(d)
    return parameters, 16 * parameters


@two_mistakes("table_cost", "weights_alone numpy_integers_returned")
def weights_of_sizes_as_they_come(V, d, tied, factor_m=None):
    table = V * d if factor_m is None else V * factor_m + factor_m * d
    parameters = table * (1 if tied else 2)
    return parameters, 4 * parameters


@two_mistakes("table_cost", "a_list one_table_factorized")
def one_factorized_in_a_list(V, d, tied, factor_m=None):
    V, d, tied, m = exact(V, d, tied, factor_m)
    parameters = V * d if m is None else V * m + m * d
    parameters += 0 if tied else V * d
    return [parameters, 16 * parameters]
