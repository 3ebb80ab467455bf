"""Checks of chapter 12: pitfalls, a field guide."""

import numpy as np

from autograder.checks import check_of
from autograder.checks.tools import expect, raised_by


@check_of("checked_lookup", points=1, enforces="Look up one row of the table for each id")
def valid_ids_give_their_rows(checked_lookup):
    """Ids from 0 to V - 1, repeated and in a batch, give the rows that a plain lookup gives."""
    E = np.array([[0.5, -1.5], [2.5, 3.5], [-4.5, 0.25], [1.0, 6.0]])
    got = checked_lookup(E, np.array([3, 0, 3]))
    hint = "Ids 0 and V - 1 are both in range, and an id may occur several times."
    expect(got, np.array([[1.0, 6.0], [0.5, -1.5], [1.0, 6.0]]), hint)
    got = checked_lookup(E, np.array([[2, 1, 0], [3, 2, 2]]))
    want = np.array([[E[2], E[1], E[0]], [E[3], E[2], E[2]]])
    expect(got, want, "Ids of shape (2, 3) give shape (2, 3, d).")


@check_of("checked_lookup", points=1, enforces="If an id is negative, or V or more.")
def out_of_range_is_an_index_error(checked_lookup):
    """An id that is V or more, or negative, raises IndexError, whether NumPy would have raised one or not."""
    E = np.array([[0.5, -1.5], [2.5, 3.5], [-4.5, 0.25], [1.0, 6.0]])
    expect(checked_lookup(E.copy(), np.array([3, 0])), E[[3, 0]], "Ids 3 and 0 are in range for V = 4.")
    for bad in (4, 9, -1, -4, -7):
        error = raised_by(checked_lookup, E, np.array([2, bad, 0]))
        hint = "A negative id counts from the end in NumPy: check for it yourself." if bad < 0 else "V is len(E)."
        assert error is not None, f"V was 4 and the ids [2, {bad}, 0]: your function gave an answer. {hint}"
        kind = type(error).__name__
        assert isinstance(error, IndexError), f"The ids were [2, {bad}, 0]: {kind} was raised, not IndexError: {error}"


@check_of("checked_lookup", points=1, enforces="The message holds two numbers in plain digits")
def the_message_names_both_numbers(checked_lookup):
    """The message of the IndexError holds the offending id, too large or negative, and V, in plain digits."""
    E = np.arange(46.0).reshape(23, 2)
    expect(checked_lookup(E.copy(), np.array([22, 0])), E[[22, 0]], "Ids 22 and 0 are in range for V = 23.")
    for ids in ([5, 61, 0], [5, 0, -47], [5, -4, 0], [128256, 5, 0]):
        error = raised_by(checked_lookup, E, np.array(ids))
        given = f"V was 23 and the ids {ids}"
        assert isinstance(error, IndexError), f"{given}: there should be an IndexError, with a message."
        numbers = "".join(c if c in "-0123456789" else " " for c in str(error)).split()
        bad = next(str(i) for i in ids if not 0 <= i < 23)
        assert bad in numbers, f"{given}: the message should hold {bad}, the id that is wrong. It says: {error}"
        assert "23" in numbers, f"{given}: the message should hold 23, the number of rows. It says: {error}"


@check_of(
    "checked_lookup",
    points=1,
    hidden=True,
    enforces=("the first such id in reading order", "It holds no later one of these ids."),
)
def the_first_in_reading_order_is_named(checked_lookup):
    """Of several ids out of range, the message names the first in reading order, not in memory's, and no other."""
    E = np.arange(46.0).reshape(23, 2)
    expect(checked_lookup(E.copy(), np.array([22, 0])), E[[22, 0]], "Ids 22 and 0 are in range for V = 23.")
    batch = np.array([[4, 0, 61], [-4, 98, 3]])
    for ids, first in (
        (np.array([1, 98, 61, -4, 70]), 98),
        (np.array([1, -4, 61, 98, -47]), -4),
        (np.array([1, 61, -47, 98]), 61),
        (batch, 61),
        (np.asfortranarray(batch), 61),
        (batch[::-1], -4),
        (np.array([1, 23, 61]), 23),
    ):
        error = raised_by(checked_lookup, E, ids)
        given = f"V was 23 and the ids {ids.tolist()}"
        assert isinstance(error, IndexError), f"{given}: there should be an IndexError, with a message."
        numbers = "".join(c if c in "-0123456789" else " " for c in str(error)).split()
        others = [bad for bad in (-47, -4, 61, 70, 98) if bad != first and str(bad) in numbers]
        hint = "Read row by row, from the left: not the largest, nor all positive ones before the negative ones."
        right = str(first) in numbers and not others
        assert right, f"{given}: name {first}, the first one, and no other. It says: {error}. {hint}"


@check_of("checked_lookup", points=1, hidden=True, enforces="If there are ids and their dtype is not an integer one.")
def ids_that_are_no_integers_are_a_type_error(checked_lookup):
    """Ids that are floats, whole numbers or not, in range or not, or bools raise TypeError."""
    E = np.array([[0.5, -1.5], [2.5, 3.5], [-4.5, 0.25], [1.0, 6.0]])
    expect(checked_lookup(E.copy(), np.array([3, 0])), E[[3, 0]], "Ids 3 and 0 are in range for V = 4.")
    for no_integers in (
        np.array([1.0, 2.0]),
        np.array([0.5, 2.0], dtype=np.float32),
        np.array([1.0, 7.0]),
        np.array([-1.0]),
        np.array(np.nan),
        np.array([True, False, True, True]),
        np.array([[True, False]]),
        np.array(True),
    ):
        error = raised_by(checked_lookup, E, no_integers.copy())
        given = f"The ids were {no_integers.tolist()}, of dtype {no_integers.dtype}"
        hint = "Look at ids.dtype before you look at the numbers. A bool array would pick rows as a mask."
        assert error is not None, f"{given}: your function gave an answer; it should raise TypeError. {hint}"
        kind = type(error).__name__
        assert isinstance(error, TypeError), f"{given}: {kind} was raised, not TypeError. {hint}"


@check_of(
    "checked_lookup",
    points=1,
    hidden=True,
    enforces=("An array without ids (a 0 in the shape) is allowed whatever its dtype", "ndarray of E's dtype"),
)
def no_ids_pass(checked_lookup):
    """An array without ids passes whatever its dtype, np.array([]) included, and gives shape ids.shape + (d,)."""
    values = np.array([[0.5, -1.5, 2.0], [2.5, 3.5, 1.0]])
    expect(checked_lookup(values.copy(), np.array([1, 0])), values[[1, 0]], "Ids 1 and 0 are in range for V = 2.")
    for E in (values, values.astype(np.float32)):
        for shape in ((0,), (2, 0), (0, 3), (2, 0, 4)):
            for dtype in (np.int64, np.uint8, np.float64, np.bool_):
                got = checked_lookup(E, np.zeros(shape, dtype=dtype))
                hint = f"There were no ids: their shape was {shape}, their dtype {np.dtype(dtype)}. E was {E.dtype}."
                expect(got, np.zeros(shape + (3,), dtype=E.dtype), hint)


@check_of(
    "checked_lookup",
    points=1,
    hidden=True,
    enforces=(
        "A single id (shape ``()``) is allowed.",
        "Token ids, of any integer dtype, signed or unsigned.",
        "A copy: writing into it does not change the table.",
        "It is not modified.",
    ),
)
def shapes_dtypes_and_inputs(checked_lookup):
    """A single id, ids of every integer dtype, and tables of every float dtype work; the result is a copy."""
    values = np.arange(600.0).reshape(300, 2)
    for dtype in (np.float32, np.float64):
        for ids_dtype in (np.int64, np.int8, np.int16, np.int32, np.uint64, np.uint8, np.uint16, np.uint32):
            E, ids = values.astype(dtype), np.array([[120], [0]], dtype=ids_dtype)
            hint = f"The table was {E.dtype}, the ids {ids.dtype}, and V was 300."
            expect(checked_lookup(E, ids), E[[[120], [0]]], hint)
            expect(checked_lookup(E, ids[:1, :1].reshape(())), E[120], f"{hint} The single id had shape ().")
    E, ids = values.copy(), np.array([7, 0, 299])
    got = checked_lookup(E, ids)
    assert np.array_equal(ids, [7, 0, 299]), f"Your function changed ids from [7, 0, 299] to {ids.tolist()}."
    assert np.array_equal(E, values), "Your function changed the table."
    got[...] = -1
    assert np.array_equal(E, values), "Writing into the result changed the table: return a copy of the rows."
    single = checked_lookup(E, np.array(7))
    single[...] = -1
    assert np.array_equal(E, values), "Writing into the row of a single id changed the table: return a copy."
