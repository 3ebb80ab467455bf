"""Known mistakes of chapter 12: an embedding lookup that checks its ids.

Of what an IndexError says only the numbers count that are no valid ids, and of what a TypeError says nothing: a student
may use any words.
"""

from collections.abc import Callable
from functools import wraps

import numpy as np

from autograder.misconceptions import misconception
from solutions import checked_lookup

RANGE = "out_of_range_is_an_index_error"
NAMED = "the_message_names_both_numbers"
FIRST = "the_first_in_reading_order_is_named"
TYPE = "ids_that_are_no_integers_are_a_type_error"
EMPTY = "no_ids_pass"
REFUSED = f"{RANGE} {NAMED} {FIRST}"
ALL = f"valid_ids_give_their_rows {REFUSED} {TYPE} {EMPTY} shapes_dtypes_and_inputs"


def in_range(lookup: Callable) -> Callable:
    """A function that is called with ids in range, and with the ids out of range and V otherwise, as lists.

    Ids of another type raise TypeError, and no ids pass.
    """

    @wraps(lookup)
    def function(E, ids):
        flat = ids.ravel().tolist() if ids.dtype.kind in "iu" else []
        bad = [i for i in flat if not 0 <= i < len(E)]
        if not bad:
            return checked_lookup(E, ids)
        return lookup(E, ids, bad)

    return function


def message(i, V):
    """What a right message has to say."""
    return f"id {i} is out of range for a table of {V} rows"


@misconception(
    "checked_lookup",
    fails=f"{TYPE} {EMPTY} {REFUSED}",
    hint="V was 4 and the ids [2, -1, 0]: your function gave an answer. A negative",
)
def plain_lookup(E, ids):
    """This is NumPy's own lookup: it takes negative ids and bools, and refuses an empty array of floats.
    Ask first whether there are ids, then whether they are integers, then whether all are from 0 to V - 1.
    """
    return E[ids]


@misconception(
    "checked_lookup",
    fails=f"{TYPE} {EMPTY} {REFUSED}",
    hint="V was 4 and the ids [2, -1, 0]: your function gave an answer. A negative",
)
def plain_take(E, ids):
    """np.take alone checks as little as E[ids]: negative ids and bools pass.
    Ask first whether there are ids, then whether they are integers, then whether all are from 0 to V - 1.
    """
    return np.take(E, ids, axis=0)


@misconception(
    "checked_lookup", fails=REFUSED, hint="V was 4 and the ids [2, -1, 0]: your function gave an answer. A negative"
)
def negative_ids_let_through(E, ids):
    """Negative ids pass, and NumPy counts them from the end of the table: id -1 reads the last row. Refuse ids below 0,
    too.
    """
    if ids.size and ids.dtype.kind in "iu":
        for i in ids.ravel().tolist():
            if i >= len(E):
                raise IndexError(message(i, len(E)))
        return E[ids]
    return checked_lookup(E, ids)


@misconception(
    "checked_lookup", fails=REFUSED, hint="V was 4 and the ids [2, 4, 0]: your function gave an answer. V is len(E)."
)
@in_range
def clipped_to_the_table(E, ids, bad):
    """An id out of range reads the first or the last row, as with np.clip or mode="clip". No row is right for it: raise
    IndexError.
    """
    return E[np.clip(ids, 0, len(E) - 1).astype(np.int64)]


@misconception(
    "checked_lookup", fails=REFUSED, hint="V was 4 and the ids [2, 4, 0]: your function gave an answer. V is len(E)."
)
@in_range
def taken_modulo_v(E, ids, bad):
    """An id out of range is taken modulo V, and reads a row that belongs to another id. Raise IndexError."""
    return E[ids.astype(np.int64) % len(E)]


@misconception(
    "checked_lookup", fails=REFUSED, hint="V was 4 and the ids [2, 4, 0]: your function gave an answer. V is len(E)."
)
@in_range
def row_of_zeros(E, ids, bad):
    """An id out of range gets a row of zeros. Nobody would notice: raise IndexError."""
    outside = (ids < 0) | (ids >= len(E))
    out = E[np.where(outside, 0, ids).astype(np.int64)]
    out[outside] = 0
    return out


@misconception(
    "checked_lookup", fails=REFUSED, hint="V was 4 and the ids [2, 4, 0]: your function gave an answer. V is len(E)."
)
@in_range
def bad_ids_left_out(E, ids, bad):
    """Ids out of range were left out, and the result has fewer rows than there are ids. Raise IndexError."""
    return E[ids[(ids >= 0) & (ids < len(E))]]


@misconception(
    "checked_lookup", fails=REFUSED, hint="V was 4 and the ids [2, 4, 0]: your function gave an answer. V is len(E)."
)
@in_range
def nothing_returned(E, ids, bad):
    """For an id out of range your function returns None, perhaps after printing a message. Nobody has to read that:
    raise IndexError with it.
    """
    return


@misconception("checked_lookup", fails=REFUSED, hint="The ids were [2, 4, 0]: ValueError was raised, not IndexError: ")
@in_range
def value_error(E, ids, bad):
    """An id out of range raises ValueError. It should be IndexError, which says that a row is missing."""
    raise ValueError


@misconception(
    "checked_lookup", fails=REFUSED, hint="The ids were [2, 4, 0]: AssertionError was raised, not IndexError: "
)
@in_range
def asserted(E, ids, bad):
    """The range is checked with assert, which raises AssertionError, and nothing at all under `python -O`. Write
    `raise IndexError(...)`.
    """
    raise AssertionError


@misconception(
    "checked_lookup",
    fails="the_message_names_both_numbers",
    hint="V was 23 and the ids [5, 61, 0]: the message should hold 23, the number of",
)
@in_range
def v_not_named(E, ids, bad):
    """The message does not hold V, the number of rows: 23 for a table whose last id is 22. Put len(E) into it."""
    raise IndexError(f"id {bad[0]} is out of range")


@misconception(
    "checked_lookup",
    fails=f"{NAMED} {FIRST}",
    hint="V was 23 and the ids [5, 61, 0]: the message should hold 61, the id that",
)
@in_range
def id_not_named(E, ids, bad):
    """The message does not hold the id that is out of range. Its position does not help in a log: put the id itself
    into it.
    """
    raise IndexError(f"an id is out of range for a table of {len(E)} rows")


@misconception(
    "checked_lookup",
    fails=f"{NAMED} {FIRST}",
    hint="V was 23 and the ids [5, 61, 0]: the message should hold 61, the id that",
)
@in_range
def no_numbers_in_the_message(E, ids, bad):
    """The message holds neither the id that is out of range nor V. Someone who reads it in a log needs both."""
    raise IndexError("an id is out of range")


@misconception(
    "checked_lookup",
    fails="the_message_names_both_numbers",
    hint="V was 23 and the ids [128256, 5, 0]: the message should hold 128256, the",
)
@in_range
def commas_in_numbers(E, ids, bad):
    """The message writes 128,256 for 128256, as {:,} does. A log is searched for plain digits: leave the comma out."""
    raise IndexError(f"id {bad[0]:,} is out of range for a table of {len(E):,} rows")


@misconception(
    "checked_lookup",
    fails=f"{NAMED} {FIRST}",
    hint="V was 23 and the ids [5, 0, -47]: the message should hold -47, the id that",
)
@in_range
def minus_sign_lost(E, ids, bad):
    """The message holds a negative id without its minus sign. Name the id as it stands in ids."""
    raise IndexError(message(abs(bad[0]), len(E)))


@misconception(
    "checked_lookup",
    fails="the_first_in_reading_order_is_named",
    hint="V was 23 and the ids [1, -4, 61, 98, -47]: name -4, the first one, and no",
)
@in_range
def largest_one_named(E, ids, bad):
    """The message names the largest id, from ids.max(), or the smallest, if none is too large. Name the first one that
    is out of range: ids[outside].item(0).
    """
    raise IndexError(message(max(bad) if max(bad) >= len(E) else min(bad), len(E)))


@misconception(
    "checked_lookup",
    fails="the_first_in_reading_order_is_named",
    hint="V was 23 and the ids [1, 98, 61, -4, 70]: name 98, the first one, and no",
)
@in_range
def negative_ones_first(E, ids, bad):
    """Negative ids were looked for first, and ids that are too large after them. Look for both at once, and name the
    one that comes first: outside = (ids < 0) | (ids >= V).
    """
    raise IndexError(message(next((i for i in bad if i < 0), bad[0]), len(E)))


@misconception(
    "checked_lookup",
    fails="the_first_in_reading_order_is_named",
    hint="V was 23 and the ids [1, -4, 61, 98, -47]: name -4, the first one, and no",
)
@in_range
def too_large_ones_first(E, ids, bad):
    """Ids that are too large were looked for first, and negative ones after them. Look for both at once, and name the
    one that comes first: outside = (ids < 0) | (ids >= V).
    """
    raise IndexError(message(next((i for i in bad if i > 0), bad[0]), len(E)))


@misconception(
    "checked_lookup",
    fails="the_first_in_reading_order_is_named",
    hint="V was 23 and the ids [1, 98, 61, -4, 70]: name 98, the first one, and no",
)
@in_range
def last_one_named(E, ids, bad):
    """The message names the last id that is out of range. Name the first: stop at it, or take item 0."""
    raise IndexError(message(bad[-1], len(E)))


@misconception(
    "checked_lookup",
    fails="the_first_in_reading_order_is_named",
    hint="V was 23 and the ids [1, 98, 61, -4, 70]: name 98, the first one, and no",
)
@in_range
def all_of_them_listed(E, ids, bad):
    """The message lists all ids that are out of range, and there may be a million. Name the first one alone."""
    raise IndexError(f"ids {bad} are out of range for a table of {len(E)} rows")


@misconception(
    "checked_lookup",
    fails="the_first_in_reading_order_is_named",
    hint="V was 23 and the ids [[4, 0, 61], [-4, 98, 3]]: name 61, the first one,",
)
@in_range
def first_down_the_columns(E, ids, bad):
    """In a batch, the first id down the columns is named, or the first in memory. Reading order goes along each row:
    ids.ravel() has it, and so has a mask.
    """
    raise IndexError(message(next(i for i in ids.T.ravel().tolist() if not 0 <= i < len(E)), len(E)))


@misconception(
    "checked_lookup",
    fails="the_first_in_reading_order_is_named",
    hint="V was 23 and the ids [1, 23, 61]: name 23, the first one, and no other. It",
)
@in_range
def id_v_let_through(E, ids, bad):
    """Id V passes your check, and NumPy refuses it later, unless a worse one is named before it. The last row is V - 1:
    refuse ids >= V, not > V.
    """
    raise IndexError(message(next((i for i in bad if i != len(E)), len(E)), len(E)))


@misconception("checked_lookup", fails=ALL, hint="id 3 is out of range for a table of 4 rows")
def last_row_refused(E, ids):
    """The last row's id, V - 1, is refused. Ids go from 0 to V - 1, both included: refuse ids >= V, not >= V - 1."""
    if ids.size and ids.dtype.kind in "iu":
        for i in ids.ravel().tolist():
            if not 0 <= i < len(E) - 1:
                raise IndexError(message(i, len(E)))
    return checked_lookup(E, ids)


@misconception("checked_lookup", fails=ALL, hint="id 0 is out of range for a table of 4 rows")
def id_0_refused(E, ids):
    """Id 0 is refused. It is an id like any other, of the first row: refuse ids < 0, not <= 0."""
    if ids.size and ids.dtype.kind in "iu":
        for i in ids.ravel().tolist():
            if not 0 < i < len(E):
                raise IndexError(message(i, len(E)))
    return checked_lookup(E, ids)


@misconception(
    "checked_lookup",
    fails="ids_that_are_no_integers_are_a_type_error",
    hint="The ids were [1.0, 2.0], of dtype float64: your function gave an answer;",
)
def ids_converted(E, ids):
    """Floats and bools are turned into integers, as astype(int) does, and 0.5 reads row 0. Refuse them: raise TypeError
    by ids.dtype.
    """
    return checked_lookup(E, ids.astype(np.int64))


@misconception(
    "checked_lookup",
    fails="ids_that_are_no_integers_are_a_type_error",
    hint="The ids were [True, False, True, True], of dtype bool: your function gave",
)
def floats_alone_refused(E, ids):
    """Floats are refused and bools are not, and NumPy takes bools for a mask. Ask what ids should be, not what they
    should not: np.issubdtype(ids.dtype, np.integer).
    """
    if ids.size and ids.dtype == bool:
        return E[ids]
    return checked_lookup(E, ids)


@misconception(
    "checked_lookup",
    fails="ids_that_are_no_integers_are_a_type_error",
    hint="The ids were [1.0, 7.0], of dtype float64: IndexError was raised, not",
)
def range_before_type(E, ids):
    """The range is looked at before the dtype, so a float that is out of range raises IndexError. Look at the dtype
    first.
    """
    if ids.size and ids.dtype.kind == "f" and ((ids < 0) | (ids >= len(E))).any():
        raise IndexError(message(ids[(ids < 0) | (ids >= len(E))].item(0), len(E)))
    return checked_lookup(E, ids)


@misconception(
    "checked_lookup",
    fails="ids_that_are_no_integers_are_a_type_error",
    hint="The ids were [1.0, 2.0], of dtype float64: ValueError was raised, not",
)
def value_error_for_types(E, ids):
    """Ids that are no integers raise ValueError. It should be TypeError."""
    if ids.size and ids.dtype.kind not in "iu":
        raise ValueError
    return checked_lookup(E, ids)


@misconception(
    "checked_lookup",
    fails="ids_that_are_no_integers_are_a_type_error",
    hint="The ids were [1.0, 2.0], of dtype float64: IndexError was raised, not",
)
def index_error_for_types(E, ids):
    """Ids that are no integers raise IndexError. For floats NumPy does so itself, if they reach E[ids]. This is another
    fault than an id out of range: look at ids.dtype first, and raise TypeError.
    """
    if ids.size and ids.dtype.kind not in "iu":
        raise IndexError
    return checked_lookup(E, ids)


@misconception("checked_lookup", fails="shapes_dtypes_and_inputs", hint="ids must be integers")
def one_integer_dtype_alone(E, ids):
    """Only int64 passes. int8, uint16 and all others are integers, too: np.issubdtype(ids.dtype, np.integer)."""
    if ids.size and ids.dtype != np.int64:
        raise TypeError("ids must be integers")
    return checked_lookup(E, ids)


@misconception("checked_lookup", fails="shapes_dtypes_and_inputs", hint="ids must be integers")
def signed_integers_alone(E, ids):
    """Unsigned ids are refused. uint8 and the like are integers, too: their dtype.kind is "u", and np.integer holds
    both kinds.
    """
    if ids.size and ids.dtype.kind == "u":
        raise TypeError("ids must be integers")
    return checked_lookup(E, ids)


@misconception("checked_lookup", fails="no_ids_pass", hint="ids must be integers")
def empties_must_be_integers(E, ids):
    """An array without ids is refused for its dtype. No id in it can be wrong, and np.array([]) is float64: ask whether
    ids.size is 0 before you look at the dtype.
    """
    if ids.dtype.kind not in "iu" and ids.size == 0:
        raise TypeError("ids must be integers")
    return checked_lookup(E, ids)


@misconception(
    "checked_lookup", fails="no_ids_pass", hint="zero-size array to reduction operation minimum which has no identity"
)
def smallest_of_nothing(E, ids):
    """An array without ids has no smallest id, and ids.min() raises ValueError. Ask whether ids.size is 0 first, or
    make a mask: (ids < 0).any() is False for it.
    """
    ids.min()
    return checked_lookup(E, ids)


@misconception(
    "checked_lookup", fails="no_ids_pass", hint="zero-size array to reduction operation maximum which has no identity"
)
def largest_of_nothing(E, ids):
    """An array without ids has no largest id, and ids.max() raises ValueError. Ask whether ids.size is 0 first, or make
    a mask: (ids >= V).any() is False for it.
    """
    ids.max()
    return checked_lookup(E, ids)


@misconception(
    "checked_lookup", fails="no_ids_pass", hint="arrays used as indices must be of integer (or boolean) type"
)
def empty_floats_as_indices(E, ids):
    """An array without ids passed your checks and reached E[ids], where NumPy refuses floats though there are none.
    Return np.zeros(ids.shape + (d,), E.dtype) for it.
    """
    return checked_lookup(E, ids) if ids.size else E[ids]


@misconception(
    "checked_lookup",
    fails="no_ids_pass",
    hint="The shape is (0,); it should be (0, 3). There were no ids: their shape was",
)
def empties_without_a_width(E, ids):
    """Without ids the result lacks its last axis, d. It has shape ids.shape + (d,), with a 0 in it:
    np.zeros(ids.shape + (d,), E.dtype).
    """
    return checked_lookup(E, ids) if ids.size else np.zeros(ids.shape, E.dtype)


@misconception(
    "checked_lookup", fails="no_ids_pass", hint="The shape is (0, 3); it should be (2, 0, 3). There were no ids: their"
)
def empties_without_rows(E, ids):
    """Without ids the result has shape (0, d), whatever the shape of ids. It is ids.shape + (d,), as for any other
    ids.
    """
    return checked_lookup(E, ids) if ids.size else np.zeros((0, E.shape[1]), E.dtype)


@misconception("checked_lookup", fails="no_ids_pass", hint="there are no ids")
def empties_refused(E, ids):
    """An array without ids is refused with IndexError. No id in it can be wrong: return an empty array of shape
    ids.shape + (d,).
    """
    if ids.size == 0:
        raise IndexError("there are no ids")
    return checked_lookup(E, ids)


@misconception(
    "checked_lookup",
    fails="no_ids_pass",
    hint="The dtype is float64; it should be float32. There were no ids: their shape",
)
def empties_in_double_precision(E, ids):
    """Without ids the result is float64 whatever the table was: np.zeros makes float64. Give it dtype=E.dtype."""
    return checked_lookup(E, ids) if ids.size else np.zeros((*ids.shape, E.shape[1]))


@misconception(
    "checked_lookup",
    fails="valid_ids_give_their_rows the_first_in_reading_order_is_named shapes_dtypes_and_inputs",
    hint="The truth value of an array with more than one element is ambiguous. Use",
)
def loop_over_the_first_axis(E, ids):
    """The loop over ids gets a whole row of a batch, and `if i < 0` has no answer for several numbers. Loop over
    ids.ravel(), or compare all at once: (ids < 0).any().
    """
    if ids.size and ids.dtype.kind in "iu":
        for i in ids:
            if i < 0 or i >= len(E):
                raise IndexError(message(i, len(E)))
    return checked_lookup(E, ids)


@misconception(
    "checked_lookup",
    fails="shapes_dtypes_and_inputs",
    hint="Writing into the row of a single id changed the table: return a copy.",
)
def view_of_a_single_row(E, ids):
    """The row of a single id is a part of the table itself: E[int(ids)] is a view, and writing into it changes E.
    Return a copy, as E[ids] does.
    """
    got = checked_lookup(E, ids)
    return E[int(ids)] if ids.ndim == 0 else got


@misconception(
    "checked_lookup",
    fails="no_ids_pass shapes_dtypes_and_inputs",
    hint="The dtype is float64; it should be float32. There were no ids: their shape",
)
def double_precision(E, ids):
    """The result is float64 whatever the table was, perhaps from np.zeros without a dtype. It has the dtype of E."""
    return checked_lookup(E, ids).astype(np.float64)
