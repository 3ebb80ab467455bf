"""Chapter 12: `checked_lookup`."""

import numpy as np

import solutions
from submissions import right, wrong

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


ROWS, RANGE, NAMED = "valid_ids_give_their_rows", "out_of_range_is_an_index_error", "the_message_names_both_numbers"
FIRST, TYPE = "the_first_in_reading_order_is_named", "ids_that_are_no_integers_are_a_type_error"
EMPTY, REST = "no_ids_pass", "shapes_dtypes_and_inputs"


@wrong("checked_lookup", f"{RANGE} {TYPE} {EMPTY}", "A negative id counts from the end in NumPy")
def plain_lookup(E, ids):
    return E[ids]


@wrong("checked_lookup", f"{RANGE} {FIRST}", "the ids [2, -1, 0]: your function gave an answer")
def negative_ids_let_through(E, ids):
    if ids.size == 0:
        return no_ids(E, ids)
    checked_type(ids)
    for i in ids.flat:
        if i >= len(E):
            raise IndexError(f"{i}, {len(E)}")
    return E[ids]


@wrong("checked_lookup", f"{RANGE} {NAMED} {FIRST}", "the ids [2, 4, 0]: your function gave an answer. V is len(E)")
def clipped_to_the_table(E, ids):
    if ids.size == 0:
        return no_ids(E, ids)
    checked_type(ids)
    return E.take(ids.astype(np.int64), axis=0, mode="clip")


@wrong("checked_lookup", f"{RANGE} {NAMED} {FIRST}", "the ids [2, 4, 0]: your function gave an answer")
def taken_modulo_v(E, ids):
    if ids.size:
        checked_type(ids)
    return np.take(E, ids.astype(np.int64), axis=0, mode="wrap")


@wrong("checked_lookup", f"{RANGE} {NAMED} {FIRST}", "ValueError was raised, not IndexError")
def value_error(E, ids):
    try:
        return solutions.checked_lookup(E, ids)
    except IndexError as error:
        raise ValueError(*error.args) from None


@wrong("checked_lookup", f"{RANGE} {NAMED} {FIRST} {TYPE}", "AssertionError was raised, not IndexError")
def asserts(E, ids):
    if ids.size == 0:
        return no_ids(E, ids)
    assert ids.dtype.kind in "iu", "integers"
    assert ids.min() >= 0, ids.min()
    assert ids.max() < len(E), ids.max()
    return E[ids]


@wrong("checked_lookup", NAMED, "the message should hold 23, the number of rows. It says: id 61 is out of range")
def v_not_named(E, ids):
    try:
        return solutions.checked_lookup(E, ids)
    except IndexError as error:
        raise IndexError(str(error).split(" for")[0]) from None


@wrong("checked_lookup", NAMED, "the message should hold 23, the number of rows")
def last_id_named_in_place_of_v(E, ids):
    try:
        return solutions.checked_lookup(E, ids)
    except IndexError as error:
        raise IndexError(f"{str(error).split(' for')[0]}: 0..{len(E) - 1}") from None


@wrong("checked_lookup", f"{NAMED} {FIRST}", "the message should hold 61, the id that is wrong")
def id_not_named(E, ids):
    try:
        return solutions.checked_lookup(E, ids)
    except IndexError:
        raise IndexError(f"an id is out of range for {len(E)} rows") from None


@wrong("checked_lookup", f"{NAMED} {FIRST}", "the message should hold 61, the id that is wrong. It says: position 1")
def place_named_in_place_of_the_id(E, ids):
    try:
        return solutions.checked_lookup(E, ids)
    except IndexError:
        place = np.argmax((ids < 0) | (ids >= len(E)))
        raise IndexError(f"position {place}, V = {len(E)}") from None


@wrong("checked_lookup", FIRST, "name -47, the first one, and no other. It says: id 98")
def largest_id_named(E, ids):
    if ids.size and ids.dtype.kind in "iu":
        if ids.max() >= len(E):
            raise IndexError(f"id {ids.max()}, V = {len(E)}")
        if ids.min() < 0:
            raise IndexError(f"id {ids.min()}, V = {len(E)}")
    return solutions.checked_lookup(E, ids)


@wrong("checked_lookup", FIRST, "name 61, the first one, and no other. It says: id -47")
def negative_ones_first(E, ids):
    if ids.size and ids.dtype.kind in "iu" and (ids < 0).any():
        raise IndexError(f"id {ids[ids < 0][0]}, V = {len(E)}")
    return solutions.checked_lookup(E, ids)


@wrong("checked_lookup", FIRST, "name -47, the first one, and no other. It says: ids [-47")
def all_of_them_listed(E, ids):
    if ids.size and ids.dtype.kind in "iu" and ((ids < 0) | (ids >= len(E))).any():
        raise IndexError(f"ids {ids[(ids < 0) | (ids >= len(E))].tolist()}, V = {len(E)}")
    return solutions.checked_lookup(E, ids)


@wrong("checked_lookup", FIRST, "the ids [[4, 0, 61], [-47, 98, 3]]: name 61")
def in_the_order_of_memory(E, ids):
    return solutions.checked_lookup(E, ids if ids.size == 0 or ids.ndim == 0 else np.ravel(ids, "K")).reshape(
        ids.shape + (E.shape[1],)
    )


@wrong("checked_lookup", RANGE, "the ids [2, 4, 0]: your function gave an answer")
def one_too_many(E, ids):
    if ids.size == 0:
        return no_ids(E, ids)
    checked_type(ids)
    if (ids > len(E)).any() or (ids < 0).any():
        raise IndexError(f"id {ids[(ids > len(E)) | (ids < 0)].item(0)}, V = {len(E)}")
    return E.take(ids, axis=0, mode="clip")


@wrong("checked_lookup", TYPE, "The ids were [1.0, 2.0], of dtype float64: your function gave an answer")
def whole_floats_converted(E, ids):
    if ids.size and ids.dtype.kind == "f" and (ids == np.floor(ids)).all():
        ids = ids.astype(np.int64)
    return solutions.checked_lookup(E, ids)


@wrong("checked_lookup", TYPE, "of dtype bool: your function gave an answer")
def bools_pass_as_mask(E, ids):
    if ids.size and ids.dtype == bool:
        return E[ids]
    return solutions.checked_lookup(E, ids)


@wrong("checked_lookup", TYPE, "The ids were [1.0, 7.0], of dtype float64: IndexError was raised, not TypeError")
def range_before_type(E, ids):
    if ids.size and ((ids < 0) | (ids >= len(E))).any():
        raise IndexError(f"id {ids[(ids < 0) | (ids >= len(E))].item(0)}, V = {len(E)}")
    return solutions.checked_lookup(E, ids)


@wrong("checked_lookup", TYPE, "IndexError was raised, not TypeError")
def type_error_left_to_numpy(E, ids):
    if ids.size and ids.dtype.kind == "f":
        return E[ids]
    return solutions.checked_lookup(E, ids)


@wrong("checked_lookup", EMPTY, "Your function raised TypeError: float64")
def empties_must_be_integers(E, ids):
    checked_type(ids)
    return solutions.checked_lookup(E, ids)


@wrong("checked_lookup", EMPTY, "Your function raised ValueError")
def maximum_of_nothing(E, ids):
    ids.min(), ids.max()
    return solutions.checked_lookup(E, ids)


@wrong("checked_lookup", EMPTY, "The shape is (0,); it should be (0, 3). There were no ids")
def empties_come_back_as_they_are(E, ids):
    return np.zeros(0) if ids.size == 0 else solutions.checked_lookup(E, ids)


@wrong("checked_lookup", REST, "Writing into the row of a single id changed the table")
def view_of_a_single_row(E, ids):
    got = solutions.checked_lookup(E, ids)
    return E[int(ids)] if ids.ndim == 0 else got


@wrong("checked_lookup", REST, "The dtype is float64; it should be float32")
def always_float64(E, ids):
    return solutions.checked_lookup(E, ids).astype(np.float64)


@wrong("checked_lookup", REST, "Your function raised TypeError: uint8")
def signed_integers_only(E, ids):
    if ids.size and ids.dtype.kind == "u":
        raise TypeError(ids.dtype)
    return solutions.checked_lookup(E, ids)


@wrong("checked_lookup", REST, "Your function changed ids from [7, 0, 299] to [0, 7, 299]")
def ids_sorted_in_place(E, ids):
    got = solutions.checked_lookup(E, ids)
    if ids.ndim == 1:
        ids.sort()
    return got
