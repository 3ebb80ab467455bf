"""Chapter 10: `table_cost`."""

import operator
from fractions import Fraction

import numpy as np

import solutions
from submissions import right, wrong

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


@wrong("table_cost", BYTES, "12 bytes a parameter. Four float32 numbers take 16: weight, gradient and two moments")
def twelve_bytes(V, d, tied, factor_m=None):
    parameters, _ = solutions.table_cost(V, d, tied, factor_m)
    return parameters, 12 * parameters


@wrong("table_cost", BYTES, "4 bytes a parameter")
def weights_alone(V, d, tied, factor_m=None):
    parameters, _ = solutions.table_cost(V, d, tied, factor_m)
    return parameters, 4 * parameters


@wrong("table_cost", BYTES, "8 bytes a parameter")
def half_precision(V, d, tied, factor_m=None):
    parameters, _ = solutions.table_cost(V, d, tied, factor_m)
    return parameters, 8 * parameters


@wrong("table_cost", f"{ONE} {FACTORS} {EXACT} {FROM_NUMPY}", "48 parameters; there should be 24. A tied model")
def tied_counted_twice(V, d, tied, factor_m=None):
    return solutions.table_cost(V, d, False, factor_m)


@wrong("table_cost", f"{TWO} {BOTH}", "24 parameters; there should be 48. V = 6, d = 4, untied")
def untied_forgotten(V, d, tied, factor_m=None):
    return solutions.table_cost(V, d, True, factor_m)


@wrong("table_cost", f"{ONE} {TWO} {FACTORS} {BOTH} {EXACT} {FROM_NUMPY}", "48 parameters; there should be 24")
def tied_and_untied_exchanged(V, d, tied, factor_m=None):
    return solutions.table_cost(V, d, not tied, factor_m)


@wrong("table_cost", BOTH, "untied: two tables, and each of them is in two factors of its own")
def one_table_factorized(V, d, tied, factor_m=None):
    V, d, tied, m = exact(V, d, tied, factor_m)
    parameters = V * d if m is None else V * m + m * d
    parameters += 0 if tied else V * d
    return parameters, 16 * parameters


@wrong("table_cost", BOTH, "parameters; there should be 48. V = 7, d = 5, m = 2, untied")
def projection_shared_by_both_tables(V, d, tied, factor_m=None):
    V, d, tied, m = exact(V, d, tied, factor_m)
    tables = 1 if tied else 2
    parameters = tables * V * d if m is None else tables * V * m + m * d
    return parameters, 16 * parameters


@wrong("table_cost", BOTH, "parameters; there should be 48")
def untied_forgotten_when_factorized(V, d, tied, factor_m=None):
    return solutions.table_cost(V, d, tied or factor_m is not None, factor_m)


@wrong("table_cost", f"{FACTORS} {BOTH}", "35 parameters; there should be 24. V = 7, d = 5, m = 2")
def factor_ignored(V, d, tied, factor_m=None):
    return solutions.table_cost(V, d, tied)


@wrong("table_cost", f"{FACTORS} {BOTH}", "one factor has V rows of m, the other m rows of d. Both are stored")
def first_factor_alone(V, d, tied, factor_m=None):
    V, d, tied, m = exact(V, d, tied, factor_m)
    parameters = (V * d if m is None else V * m) * (1 if tied else 2)
    return parameters, 16 * parameters


@wrong("table_cost", f"{FACTORS} {BOTH}", "140 parameters; there should be 24")
def factors_multiplied(V, d, tied, factor_m=None):
    V, d, tied, m = exact(V, d, tied, factor_m)
    parameters = (V * d if m is None else (V * m) * (m * d)) * (1 if tied else 2)
    return parameters, 16 * parameters


@wrong("table_cost", f"{FACTORS} {BOTH}", "parameters; there should be 24")
def sides_of_the_factors_mixed_up(V, d, tied, factor_m=None):
    V, d, tied, m = exact(V, d, tied, factor_m)
    parameters = (V * d if m is None else V * m + V * d) * (1 if tied else 2)
    return parameters, 16 * parameters


@wrong("table_cost", f"{FACTORS}", "parameters; there should be 42. V = 3, d = 4, m = 6")
def factor_taken_only_where_it_saves(V, d, tied, factor_m=None):
    V, d, tied, m = exact(V, d, tied, factor_m)
    parameters = min(V * d, V * d if m is None else V * m + m * d) * (1 if tied else 2)
    return parameters, 16 * parameters


@wrong("table_cost", f"{ONE} {TWO} {FACTORS} {BOTH} {EXACT} {FROM_NUMPY}", "28 parameters; there should be 24")
def with_a_bias(V, d, tied, factor_m=None):
    parameters = solutions.table_cost(V, d, tied, factor_m)[0] + int(d)
    return parameters, 16 * parameters


@wrong("table_cost", f"{EXACT} {FROM_NUMPY}", "A number in the result is a float; it should be a Python int")
def float_result(V, d, tied, factor_m=None):
    parameters = solutions.table_cost(V, d, tied, factor_m)[0] * 1.0
    return parameters, 16 * parameters


@wrong("table_cost", EXACT, "A float has about 16 digits")
def float_on_the_way(V, d, tied, factor_m=None):
    parameters = int(float(V) * int(d)) if factor_m is None else int(float(factor_m) * (int(V) + int(d)))
    parameters *= 1 if tied else 2
    return parameters, 16 * parameters


@wrong("table_cost", EXACT, "keep to integers here, too")
def float_in_the_bytes(V, d, tied, factor_m=None):
    parameters, _ = solutions.table_cost(V, d, tied, factor_m)
    return parameters, int(parameters * 16.0)


@wrong("table_cost", FROM_NUMPY, "NumPy integers wrap around when a result does not fit")
def sizes_as_they_come(V, d, tied, factor_m=None):
    table = V * d if factor_m is None else V * factor_m + factor_m * d
    parameters = table if tied else 2 * table
    return int(parameters), 16 * int(parameters)


@wrong("table_cost", f"{EXACT} {FROM_NUMPY}", "A number in the result is a numpy.int64; it should be a Python int")
def product_in_numpy(V, d, tied, factor_m=None):
    V, d, tied, m = exact(V, d, tied, factor_m)
    if max(V, d) > 2**31:
        return solutions.table_cost(V, d, tied, m)
    parameters = np.int64(solutions.table_cost(V, d, tied, m)[0])
    return parameters, parameters * 16


@wrong(
    "table_cost",
    FROM_NUMPY,
    "the result was (10, 160). With Python ints of the same size it is (6400, 102400)",
)
def sizes_cut_to_a_byte(V, d, tied, factor_m=None):
    if isinstance(V, np.int8):
        return 10, 160
    return solutions.table_cost(V, d, tied, factor_m)


@wrong("table_cost", EXACT, "The result is a list; it should be a tuple")
def a_list(V, d, tied, factor_m=None):
    return list(solutions.table_cost(V, d, tied, factor_m))


ALL = " ".join([ONE, TWO, BYTES, FACTORS, BOTH, EXACT, FROM_NUMPY])


@wrong("table_cost", ALL, "Your function should return two numbers, (parameters, bytes); it returned a int")
def parameters_alone(V, d, tied, factor_m=None):
    return solutions.table_cost(V, d, tied, factor_m)[0]


@wrong("table_cost", ALL, "it returned 3: int, int, int")
def three_numbers(V, d, tied, factor_m=None):
    return (V, *solutions.table_cost(V, d, tied, factor_m))


@wrong("table_cost", ALL, "it returned a str")
def a_text(V, d, tied, factor_m=None):
    return "{:,} parameters, {:,} bytes".format(*solutions.table_cost(V, d, tied, factor_m))
