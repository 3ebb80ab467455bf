"""Known mistakes of chapter 10: counting parameters and bytes."""

from collections.abc import Callable
from functools import wraps

import numpy as np

from autograder.misconceptions import misconception
from solutions import table_cost

ONE, TWO, BYTES = "one_table_when_tied", "two_tables_when_untied", "sixteen_bytes_a_parameter"
FACTORS, BOTH = "a_table_in_two_factors", "both_tables_in_two_factors"
EXACT, FROM_NUMPY = "exact_python_integers", "sizes_from_numpy"
ALL = f"{ONE} {TWO} {BYTES} {FACTORS} {BOTH} {EXACT} {FROM_NUMPY}"


def counted(count: Callable) -> Callable:
    """Parameters and bytes of a function that counts parameters; it gets the sizes as Python integers."""

    @wraps(count)
    def function(V, d, tied, factor_m=None):
        parameters = count(int(V), int(d), tied, None if factor_m is None else int(factor_m))
        return parameters, 16 * parameters

    return function


def of_one_table(V, d, m):
    """Parameters of one table."""
    return V * d if m is None else V * m + m * d


# Bytes


@misconception("table_cost", fails=BYTES, hint="288 bytes for 24 parameters: 12 bytes a parameter")
def twelve_bytes(V, d, tied, factor_m=None):
    """You counted 12 bytes a parameter, which leaves one number out of four, most often the gradient. Adam keeps
    weight, gradient and two moments, of 4 bytes each: 16.
    """
    parameters, _ = table_cost(V, d, tied, factor_m)
    return parameters, 12 * parameters


@misconception("table_cost", fails=BYTES, hint="96 bytes for 24 parameters: 4 bytes a parameter")
def weights_alone(V, d, tied, factor_m=None):
    """You counted 4 bytes a parameter: the weight alone. In training there are its gradient and Adam's two moments,
    too: 16 bytes.
    """
    parameters, _ = table_cost(V, d, tied, factor_m)
    return parameters, 4 * parameters


@misconception("table_cost", fails=BYTES, hint="192 bytes for 24 parameters: 8 bytes a parameter")
def eight_bytes(V, d, tied, factor_m=None):
    """You counted 8 bytes a parameter, two float32 numbers. There are four: weight, gradient, and two moments of
    Adam, of 4 bytes each.
    """
    parameters, _ = table_cost(V, d, tied, factor_m)
    return parameters, 8 * parameters


@misconception("table_cost", fails=BYTES, hint="768 bytes for 24 parameters: 32 bytes a parameter")
def double_precision_bytes(V, d, tied, factor_m=None):
    """You counted 32 bytes a parameter, as if numbers had 8 bytes. A float32 number has 4, and there are four of
    them: 16 bytes.
    """
    parameters, _ = table_cost(V, d, tied, factor_m)
    return parameters, 32 * parameters


@misconception("table_cost", fails=BYTES, hint="3,072 bytes for 24 parameters: 128 bytes a parameter")
def bits_for_bytes(V, d, tied, factor_m=None):
    """The second number counts bits, 128 a parameter. A byte has 8 bits: float32 takes 4 bytes, and four numbers
    take 16.
    """
    parameters, _ = table_cost(V, d, tied, factor_m)
    return parameters, 128 * parameters


@misconception("table_cost", fails=BYTES, hint="336 bytes for 42 parameters: 8 bytes a parameter")
def bytes_of_one_table(V, d, tied, factor_m=None):
    """The bytes are those of one table where there are two. Multiply the number of all parameters by 16."""
    parameters, _ = table_cost(V, d, tied, factor_m)
    return parameters, 16 * table_cost(V, d, True, factor_m)[0]


@misconception(
    "table_cost",
    fails=f"{BYTES} {EXACT} {FROM_NUMPY}",
    hint="0.000384 bytes for 24 parameters: 1.6e-05 bytes a parameter",
)
def megabytes(V, d, tied, factor_m=None):
    """The second number is in megabytes. It should be in bytes, an integer: do not divide."""
    parameters, in_bytes = table_cost(V, d, tied, factor_m)
    return parameters, in_bytes / 10**6


# Tied and untied


@misconception("table_cost", fails=f"{ONE} {FACTORS} {EXACT} {FROM_NUMPY}", hint="48 parameters; there should be 24")
def tied_counted_twice(V, d, tied, factor_m=None):
    """A tied model was counted with two tables. Its output layer is the input table, and that is stored once."""
    return table_cost(V, d, False, factor_m)


@misconception("table_cost", fails=f"{TWO} {BOTH}", hint="24 parameters; there should be 48")
def untied_forgotten(V, d, tied, factor_m=None):
    """An untied model was counted with one table. Its output layer has a table of its own: count two."""
    return table_cost(V, d, True, factor_m)


@misconception(
    "table_cost", fails=f"{ONE} {TWO} {FACTORS} {BOTH} {EXACT} {FROM_NUMPY}", hint="48 parameters; there should be 24"
)
def tied_and_untied_exchanged(V, d, tied, factor_m=None):
    """Tied and untied are exchanged: a tied model has one table, an untied one has two."""
    return table_cost(V, d, not tied, factor_m)


@misconception("table_cost", fails=f"{TWO} {BOTH}", hint="54 parameters; there should be 48")
@counted
def bias_of_the_output_layer(V, d, tied, m):
    """The second table was counted with a bias of V numbers, which a linear layer has by default. Here it is a
    table of the same kind as the first, without a bias.
    """
    return of_one_table(V, d, m) * (1 if tied else 2) + (0 if tied else V)


# Factors


@misconception("table_cost", fails=f"{FACTORS} {BOTH}", hint="35 parameters; there should be 24")
def factor_ignored(V, d, tied, factor_m=None):
    """With factor_m nothing changes. Where it is given, a table is stored as two matrices: V rows of factor_m, and
    factor_m rows of d.
    """
    return table_cost(V, d, tied)


@misconception("table_cost", fails=f"{FACTORS} {BOTH}", hint="14 parameters; there should be 24")
@counted
def first_factor_alone(V, d, tied, m):
    """Of the two factors only the first, V times factor_m, was counted. The second, factor_m times d, is stored,
    too.
    """
    return (V * d if m is None else V * m) * (1 if tied else 2)


@misconception("table_cost", fails=f"{FACTORS} {BOTH}", hint="140 parameters; there should be 24")
@counted
def factors_multiplied(V, d, tied, m):
    """The sizes of the two factors were multiplied. The matrices are, but both are stored: add up their sizes,
    V * factor_m + factor_m * d.
    """
    return (V * d if m is None else V * m * m * d) * (1 if tied else 2)


@misconception("table_cost", fails=f"{FACTORS} {BOTH}", hint="59 parameters; there should be 24")
@counted
def factors_beside_the_table(V, d, tied, m):
    """The two factors were counted beside the table of V times d. They stand in its place: the product is never
    stored.
    """
    return (V * d if m is None else V * d + V * m + m * d) * (1 if tied else 2)


@misconception("table_cost", fails=f"{FACTORS} {BOTH}", hint="49 parameters; there should be 24")
@counted
def second_factor_with_v_rows(V, d, tied, m):
    """The second factor was counted with V rows. It has factor_m rows of d: a matrix of V rows and d columns is
    what the factors replace.
    """
    return (V * d if m is None else V * m + V * d) * (1 if tied else 2)


@misconception("table_cost", fails=FACTORS, hint="12 parameters; there should be 42")
@counted
def factors_only_where_they_save(V, d, tied, m):
    """Where the factors are larger than the table, you counted the table. They are stored whenever factor_m is given,
    whether that saves anything or not.
    """
    return min(V * d, of_one_table(V, d, m)) * (1 if tied else 2)


@misconception("table_cost", fails=FACTORS, hint="34 parameters; there should be 24")
@counted
def two_projections_when_tied(V, d, tied, m):
    """A tied, factorized model was counted with a second matrix of factor_m times d, for the way out. The whole
    table is tied, both factors of it: count each once.
    """
    return of_one_table(V, d, m) * (1 if tied else 2) + (m * d if tied and m is not None else 0)


@misconception("table_cost", fails=BOTH, hint="38 parameters; there should be 48")
@counted
def projection_shared_by_both_tables(V, d, tied, m):
    """Untied and factorized, the second factor was counted once for both tables. They share nothing: each has two
    factors of its own.
    """
    return of_one_table(V, d, m) * (1 if tied else 2) - (m * d if not tied and m is not None else 0)


@misconception("table_cost", fails=BOTH, hint="59 parameters; there should be 48")
@counted
def one_table_factorized(V, d, tied, m):
    """Untied and factorized, one table was counted in factors and the other as V times d. Both are factorized."""
    return of_one_table(V, d, m) + (0 if tied else V * d)


@misconception("table_cost", fails=BOTH, hint="24 parameters; there should be 48")
def untied_forgotten_when_factorized(V, d, tied, factor_m=None):
    """Untied and factorized, one table was counted. There are two, each made of two factors."""
    return table_cost(V, d, tied or factor_m is not None, factor_m)


# Python integers


@misconception(
    "table_cost", fails=f"{EXACT} {FROM_NUMPY}", hint="A number in the result is a float; it should be a Python int"
)
def float_result(V, d, tied, factor_m=None):
    """The result has floats in it: a division with / gives one, and so does a factor such as 2.0. Counts are integers:
    keep to * and +, or divide with //.
    """
    parameters = float(table_cost(V, d, tied, factor_m)[0])
    return parameters, 16 * parameters


@misconception("table_cost", fails=EXACT, hint="27021597764222976 parameters for V = 9007199254740993, d = 3: off by 3")
def float_on_the_way(V, d, tied, factor_m=None):
    """The count of parameters went through a float, which keeps 16 digits; int() at the end brings no digit back.
    Multiply Python integers from the start.
    """
    V, d = float(V), int(d)
    m = 0 if factor_m is None else int(factor_m)
    parameters = int(V * d if factor_m is None else V * m + m * d) * (1 if tied else 2)
    return parameters, 16 * parameters


@misconception(
    "table_cost", fails=EXACT, hint="432345564227567680 is no multiple of 27021597764222979: keep to integers here"
)
def float_in_the_bytes(V, d, tied, factor_m=None):
    """The bytes went through a float, which keeps 16 digits. Multiply by the integer 16, and divide by nothing."""
    parameters, _ = table_cost(V, d, tied, factor_m)
    return parameters, int(parameters * 16.0)


@misconception(
    "table_cost", fails=FROM_NUMPY, hint="V = 64, d = 100 and factor_m = None were int8: the result was (0, 0)"
)
def sizes_as_they_come(V, d, tied, factor_m=None):
    """The sizes were multiplied as NumPy integers, which wrap around where the result does not fit; int() at the end is
    too late. Make Python integers of them first: int(V) * int(d).
    """
    table = V * d if factor_m is None else V * factor_m + factor_m * d
    parameters = int(table) * (1 if tied else 2)
    return parameters, 16 * parameters


@misconception(
    "table_cost", fails=FROM_NUMPY, hint="V = 64, d = 100 and factor_m = None were int8: the result was (np.int8(0)"
)
def numpy_integers_returned(V, d, tied, factor_m=None):
    """Given NumPy integers, your function multiplies and returns NumPy integers. They wrap around where the result does
    not fit, and Python integers are asked for: begin with int(V) and int(d).
    """
    table = V * d if factor_m is None else V * factor_m + factor_m * d
    parameters = table if tied else 2 * table
    return parameters, 16 * parameters


@misconception(
    "table_cost",
    fails=f"{EXACT} {FROM_NUMPY}",
    hint="A number in the result is a numpy.int64; it should be a Python int",
)
def product_in_numpy(V, d, tied, factor_m=None):
    """The result has NumPy's integers in it, as np.prod gives them. Python's own do not wrap around: write int(V) *
    int(d).
    """
    parameters = np.prod([int(V), int(d)]) if factor_m is None else np.dot([int(V), int(d)], int(factor_m)).sum()
    parameters = parameters if tied else 2 * parameters
    return parameters, 16 * parameters


# The form of the answer


@misconception("table_cost", fails=EXACT, hint="The result is a list; it should be a tuple.")
def a_list(V, d, tied, factor_m=None):
    """The result is a list. It should be a tuple: `return parameters, in_bytes`, without square brackets."""
    return list(table_cost(V, d, tied, factor_m))


@misconception("table_cost", fails=ALL, hint="384 parameters; there should be 24")
def bytes_first(V, d, tied, factor_m=None):
    """The bytes came first. The number of parameters stands before them: `return parameters, in_bytes`."""
    return table_cost(V, d, tied, factor_m)[::-1]


@misconception(
    "table_cost", fails=ALL, hint="Your function should return two numbers, (parameters, bytes); it returned a int"
)
def parameters_alone(V, d, tied, factor_m=None):
    """Only the number of parameters came back. Return two numbers: `return parameters, in_bytes`."""
    return table_cost(V, d, tied, factor_m)[0]


@misconception(
    "table_cost", fails=ALL, hint="Your function should return two numbers, (parameters, bytes); it returned a int"
)
def bytes_alone(V, d, tied, factor_m=None):
    """Only the number of bytes came back. Return two numbers: `return parameters, in_bytes`."""
    return table_cost(V, d, tied, factor_m)[1]
