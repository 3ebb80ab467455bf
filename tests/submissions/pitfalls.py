"""Chapter 12: `checked_lookup`."""

import numpy as np

import solutions
from submissions import right, two_mistakes, wrong

right("checked_lookup")(solutions.checked_lookup)


def no_ids(E, ids):
    return np.empty(ids.shape + (E.shape[1],), E.dtype)


def checked_type(ids):
    if ids.dtype.kind not in "iu":
        raise TypeError(ids.dtype)


@right("checked_lookup")
def one_id_after_the_other(E, ids):
    if ids.size and not np.issubdtype(ids.dtype, np.integer):
        raise TypeError("integers, please")
    rows = []
    for i in ids.flat:
        if not 0 <= i < E.shape[0]:
            raise IndexError(f"{i} not in [0, {E.shape[0]})")
        rows.append(E[int(i)])
    return np.array(rows, dtype=E.dtype).reshape(ids.shape + (E.shape[1],))


@right("checked_lookup")
def argmax_of_the_flat_mask(E, ids):
    if ids.size == 0:
        return no_ids(E, ids)
    checked_type(ids)
    flat = np.ravel(ids)
    bad = np.logical_or(flat < 0, flat >= len(E))
    if np.any(bad):
        raise IndexError(f"id={flat[np.argmax(bad)]:d} V={len(E):d}")
    return np.take(E, ids, axis=0)


@right("checked_lookup")
def next_of_a_generator(E, ids):
    if ids.size == 0:
        return E[np.zeros(ids.shape, dtype=int)]
    if not isinstance(ids.ravel()[0], np.integer):
        raise TypeError
    first = next((i for i in ids.ravel().tolist() if i < 0 or i >= len(E)), None)
    if first is not None:
        raise IndexError("ids must be in range", first, "table has rows:", len(E))
    return E[ids]


@right("checked_lookup")
def argwhere_and_the_place_too(E, ids):
    V, _ = E.shape
    if not ids.size:
        return no_ids(E, ids)
    checked_type(ids)
    places = np.argwhere((ids < 0) | (ids > V - 1))
    if len(places):
        place = tuple(places[0])
        raise IndexError(f"at {[int(p) for p in place]}: id {ids[place]!r}, V = {V}")
    return np.array([E[i] for i in ids.ravel()]).reshape(ids.shape + (E.shape[1],))


@right("checked_lookup")
def one_hot_product_after_the_check(E, ids):
    if ids.size == 0:
        return no_ids(E, ids)
    if not any(np.issubdtype(ids.dtype, kind) for kind in (np.signedinteger, np.unsignedinteger)):
        raise TypeError(str(ids.dtype))
    allowed = set(range(len(E)))
    for i in ids.reshape(-1).tolist():
        if i not in allowed:
            raise IndexError(f"no row {i}: the last of {len(E)} is {len(E) - 1}")
    S = (ids[..., None] == np.arange(len(E))).astype(E.dtype)
    return S @ E


@right("checked_lookup")
def as_python_objects(E, ids):
    if ids.size == 0:
        return no_ids(E, ids)
    values = ids.reshape(-1).astype(object)
    if any(type(i) is not int for i in values):
        raise TypeError("no integer")
    for i in values:
        if i < 0 or i >= len(E):
            raise IndexError(f"{i} {len(E)}")
    return E.take(ids.astype(np.int64), axis=0)


RANGE, NAMED = "out_of_range_is_an_index_error", "the_message_names_both_numbers"
FIRST, TYPE = "the_first_in_reading_order_is_named", "ids_that_are_no_integers_are_a_type_error"
EMPTY, REST = "no_ids_pass", "shapes_dtypes_and_inputs"
REFUSED = f"{RANGE} {NAMED} {FIRST}"


def outside(E, ids):
    """The ids that are out of range, as a list; none if they are no integers."""
    return [i for i in ids.ravel().tolist() if not 0 <= i < len(E)] if ids.dtype.kind in "iu" else []


@two_mistakes("checked_lookup", "id_v_let_through clipped_to_the_table")
def one_too_many(E, ids):
    if ids.size == 0:
        return no_ids(E, ids)
    checked_type(ids)
    if (ids > len(E)).any() or (ids < 0).any():
        raise IndexError(f"id {ids[(ids > len(E)) | (ids < 0)].item(0)}, V = {len(E)}")
    return E.take(ids, axis=0, mode="clip")


@wrong("checked_lookup", FIRST, "the ids [[4, 0, 61], [-4, 98, 3]]: name 61")
def in_the_order_of_memory(E, ids):
    return solutions.checked_lookup(E, ids if ids.size == 0 or ids.ndim == 0 else np.ravel(ids, "K")).reshape(
        ids.shape + (E.shape[1],)
    )


@wrong("checked_lookup", REST, "Your function changed ids from [7, 0, 299] to [0, 7, 299]")
def ids_sorted_in_place(E, ids):
    got = solutions.checked_lookup(E, ids)
    if ids.ndim == 1:
        ids.sort()
    return got


@wrong("checked_lookup", f"{REFUSED} {EMPTY}", "ZeroDivisionError was raised, not IndexError")
def an_odd_exception(E, ids):
    if ids.size == 0 or outside(E, ids):
        raise ZeroDivisionError
    return solutions.checked_lookup(E, ids)


@wrong(
    "checked_lookup", f"valid_ids_give_their_rows {REFUSED} {TYPE} {EMPTY} {REST}", "raised TypeError: integers only"
)
def integers_of_python_alone(E, ids):
    for i in ids.flat:
        if not isinstance(i, int):
            raise TypeError("integers only")
    return solutions.checked_lookup(E, ids)


@wrong("checked_lookup", f"valid_ids_give_their_rows {REFUSED} {TYPE} {EMPTY} {REST}", "object is not callable")
def a_slip_of_the_pen(E, ids):
    return solutions.checked_lookup(E, ids())


# Known mistakes in other words


@wrong("checked_lookup", f"{REFUSED} {TYPE} {EMPTY}", mistake="plain_lookup")
def row_by_row_without_a_check(E, ids):
    try:
        return E[ids]
    except IndexError as error:
        raise IndexError(f"your ids are wrong, says NumPy: {error}") from error


@wrong("checked_lookup", REFUSED, mistake="negative_ids_let_through")
def too_large_only(E, ids):
    if ids.size == 0:
        return no_ids(E, ids)
    checked_type(ids)
    if ids.max() >= len(E):
        raise IndexError(f"{ids[ids >= len(E)][0]!r}, but the last row is {len(E) - 1} of V={len(E)}")
    return E[ids]


@wrong("checked_lookup", REFUSED, mistake="asserted")
def two_asserts(E, ids):
    if ids.size == 0:
        return no_ids(E, ids)
    checked_type(ids)
    assert ids.min() >= 0, f"negative id {ids.min()}"
    assert ids.max() < len(E), f"id {ids.max()} of {len(E)}"
    return E[ids]


@wrong("checked_lookup", REFUSED, mistake="value_error")
def value_error_with_a_message(E, ids):
    try:
        return solutions.checked_lookup(E, ids)
    except IndexError as error:
        raise ValueError(*error.args) from None


@wrong("checked_lookup", REFUSED, mistake="taken_modulo_v")
def wrapped_by_take(E, ids):
    if ids.size:
        checked_type(ids)
    return np.take(E, ids.astype(np.int64), axis=0, mode="wrap")


@wrong("checked_lookup", NAMED, mistake="v_not_named")
def last_id_named_in_place_of_v(E, ids):
    for i in outside(E, ids):
        raise IndexError(f"{i} is not in 0..{len(E) - 1}")
    return solutions.checked_lookup(E, ids)


@wrong("checked_lookup", f"{NAMED} {FIRST}", mistake="id_not_named")
def place_named_in_place_of_the_id(E, ids):
    if outside(E, ids):
        place = np.argmax(((ids < 0) | (ids >= len(E))).ravel())
        raise IndexError(f"position {place}, V = {len(E)}")
    return solutions.checked_lookup(E, ids)


@wrong("checked_lookup", f"{NAMED} {FIRST}", mistake="no_numbers_in_the_message")
def a_bare_index_error(E, ids):
    if outside(E, ids):
        raise IndexError
    return solutions.checked_lookup(E, ids)


@wrong("checked_lookup", FIRST, mistake="largest_one_named")
def maximum_and_minimum(E, ids):
    if ids.size and ids.dtype.kind in "iu":
        if ids.max() >= len(E):
            raise IndexError(f"max(ids) = {ids.max()}, V = {len(E)}")
        if ids.min() < 0:
            raise IndexError(f"min(ids) = {ids.min()}, V = {len(E)}")
    return solutions.checked_lookup(E, ids)


@wrong("checked_lookup", FIRST, mistake="all_of_them_listed")
def mask_in_the_message(E, ids):
    if outside(E, ids):
        raise IndexError(f"{ids[(ids < 0) | (ids >= len(E))]} should be below {len(E)}")
    return solutions.checked_lookup(E, ids)


@wrong("checked_lookup", FIRST, mistake="last_one_named")
def loop_without_a_break(E, ids):
    bad = None
    for i in outside(E, ids):
        bad = i
    if bad is not None:
        raise IndexError(f"V is {len(E)}, and there is no row {bad}")
    return solutions.checked_lookup(E, ids)


@wrong("checked_lookup", TYPE, mistake="ids_converted")
def whole_floats_converted(E, ids):
    if ids.size and ids.dtype.kind == "f" and (ids == np.floor(ids)).all():
        ids = ids.astype(np.int64)
    return solutions.checked_lookup(E, ids)


@wrong("checked_lookup", TYPE, mistake="index_error_for_types")
def type_left_to_numpy(E, ids):
    if ids.size and ids.dtype.kind not in "iu":
        return E[ids]
    return solutions.checked_lookup(E, ids)


@wrong("checked_lookup", TYPE, mistake="value_error_for_types")
def value_error_with_the_dtype(E, ids):
    if ids.size and ids.dtype.kind not in "iu":
        raise ValueError(f"no integers, but {ids.dtype}")
    return solutions.checked_lookup(E, ids)


@wrong("checked_lookup", EMPTY, mistake="empties_must_be_integers")
def type_before_size(E, ids):
    checked_type(ids)
    return solutions.checked_lookup(E, ids)


@wrong("checked_lookup", EMPTY, mistake="empties_without_a_width")
def an_empty_array(E, ids):
    return solutions.checked_lookup(E, ids) if ids.size else np.array([])


@wrong("checked_lookup", REST, mistake="signed_integers_alone")
def signedinteger(E, ids):
    if ids.size and not np.issubdtype(ids.dtype, np.signedinteger):
        raise TypeError(f"{ids.dtype} is no signed integer")
    return solutions.checked_lookup(E, ids)


# Two mistakes at once


@two_mistakes("checked_lookup", "v_not_named largest_one_named")
def largest_named_without_v(E, ids):
    bad = outside(E, ids)
    if bad:
        raise IndexError(f"{max(bad) if max(bad) >= len(E) else min(bad)} is out of range")
    return solutions.checked_lookup(E, ids)


@two_mistakes("checked_lookup", "negative_ids_let_through index_error_for_types")
def too_large_only_and_any_type(E, ids):
    if ids.size == 0:
        return no_ids(E, ids)
    if ids.max() >= len(E):
        raise IndexError(f"{ids[ids >= len(E)].item(0)}, {len(E)}")
    return E[ids]


@two_mistakes("checked_lookup", "value_error smallest_of_nothing")
def range_as_value_error_and_no_empties(E, ids):
    checked_type(ids)
    if ids.min() < 0 or ids.max() >= len(E):
        raise ValueError("out of range")
    return E[ids]


@two_mistakes("checked_lookup", "floats_alone_refused largest_of_nothing")
def bools_pass_and_empties_do_not(E, ids):
    if ids.size and ids.dtype.kind == "f":
        raise TypeError("no floats")
    if ids.dtype == bool and ids.size:
        return E[ids]
    ids.max()
    return solutions.checked_lookup(E, ids)


@two_mistakes("checked_lookup", "all_of_them_listed empties_refused")
def all_listed_and_empties_refused(E, ids):
    if ids.size == 0:
        raise IndexError("there are no ids")
    if outside(E, ids):
        raise IndexError(f"{outside(E, ids)} are not below {len(E)}")
    return solutions.checked_lookup(E, ids)
