"""Checks of chapter 11: smaller tables, in two factors or in fewer bits."""

import numpy as np

from autograder.checks import check_of
from autograder.checks.tools import expect, two_of


@check_of("factorized_forward", points=1, enforces="Row ``ids[n]`` of A @ W at position n.")
def short_rows_are_widened(factorized_forward):
    """Ids [2, 0, 2] give rows 2, 0 and 2 of A, each multiplied with W: from m = 2 numbers to d = 3."""
    A = np.array([[1.0, -2.0], [9.0, 8.0], [0.5, 3.0], [7.0, -9.0]])
    W = np.array([[2.0, 0.0, -1.0], [1.5, 4.0, 0.5]])
    want = np.array([[5.5, 12.0, 1.0], [-1.0, -8.0, -2.0], [5.5, 12.0, 1.0]])
    hint = "Result n is A[ids[n]] @ W: gather a row of m numbers, then let W turn it into d."
    expect(factorized_forward(A, W, np.array([2, 0, 2])), want, hint)


@check_of(
    "factorized_forward",
    points=1,
    hidden=True,
    enforces="A single id (shape ``()``) and no ids at all (a 0 in the shape) are allowed.",
)
def any_shape_of_ids(factorized_forward):
    """Ids of shape (B, T), a single id of shape (), and no ids at all: d comes after the shape of ids."""
    A = 0.5 + np.arange(10.0).reshape(5, 2)
    W = np.array([[2.0, -1.5, 0.5, 3.0], [-0.25, 1.0, 4.0, 0.75]])
    ids = np.array([[4, 0, 4], [1, 3, 2]])
    want = np.zeros((2, 3, 4))
    for b in range(2):
        for t in range(3):
            for j in range(4):
                want[b, t, j] = A[ids[b, t], 0] * W[0, j] + A[ids[b, t], 1] * W[1, j]
    expect(factorized_forward(A.copy(), W.copy(), ids), want, "Ids of shape (2, 3) give shape (2, 3, d).")
    got = factorized_forward(A.copy(), W.copy(), np.array(4))
    expect(got, want[0, 0], "A single id of shape () gives shape (d,).")
    none = factorized_forward(A, W, np.zeros((2, 0), dtype=np.int64))
    expect(none, np.zeros((2, 0, 4)), "No ids give no rows: shape (2, 0) becomes (2, 0, d).")


@check_of(
    "factorized_forward",
    points=1,
    hidden=True,
    enforces=("m may be larger than d.", "ndarray of A's dtype", "It is not modified."),
)
def any_width_and_dtype(factorized_forward):
    """The result has A's dtype for ids of every integer dtype, also when m is larger than d, and the inputs stay."""
    A = np.array([[1.0, -2.0, 0.5], [0.25, 8.0, 1.5], [4.0, 3.0, -1.0], [7.0, -9.0, 2.0]])
    W = np.array([[2.0], [0.5], [-4.0]])
    want = np.array([[13.5], [-1.0], [1.5]])
    for dtype in (np.float32, np.float64):
        for ids_dtype in (np.uint8, np.int32, np.int64, np.uint32):
            first, second, ids = A.astype(dtype), W.astype(dtype), np.array([2, 0, 3], dtype=ids_dtype)
            hint = f"m was 3 and d was 1; the factors were {np.dtype(dtype)}, the ids {ids.dtype}."
            expected = want.astype(dtype)
            expected[2] = 7.0 * 2.0 - 9.0 * 0.5 - 2.0 * 4.0
            expect(factorized_forward(first, second, ids), expected, hint)
            assert np.array_equal(first, A), "Your function changed A."
            assert np.array_equal(second, W), "Your function changed W."
            assert ids.tolist() == [2, 0, 3], f"Your function changed ids from [2, 0, 3] to {ids.tolist()}."


@check_of(
    "factorized_backward",
    points=1,
    enforces="What reaches a row of A from several positions adds up; a row whose id does not occur gets zero.",
)
def rows_of_the_first_factor(factorized_backward):
    """Ids that differ: row ids[n] of A's gradient is upstream row n times W transposed; other rows are zero."""
    A = np.array([[1.0, -2.0], [9.0, 8.0], [0.5, 3.0], [7.0, -9.0]])
    W = np.array([[2.0, 0.0, -1.0], [1.5, 4.0, 0.5]])
    G = np.array([[1.0, 0.5, 2.0], [-2.0, 1.0, 0.25]])
    grad_A, _ = two_of(factorized_backward(A, W, np.array([2, 0]), G), "the gradients of A and of W")
    want = np.array([[-4.25, 1.125], [0.0, 0.0], [0.0, 4.5], [0.0, 0.0]])
    expect(grad_A, want, "A row of A was multiplied with W, so what comes back is multiplied with W transposed.")


@check_of("factorized_backward", points=1, enforces="Every position adds to the gradient of W.")
def the_second_factor_hears_every_position(factorized_backward):
    """W's gradient is a sum over positions: each gives the row of A that was read there times its upstream row."""
    A = np.array([[1.0, -2.0], [9.0, 8.0], [0.5, 3.0], [7.0, -9.0]])
    W = np.array([[2.0, 0.0, -1.0], [1.5, 4.0, 0.5]])
    G = np.array([[1.0, 0.5, 2.0], [-2.0, 1.0, 0.25], [4.0, -1.0, 0.5]])
    ids = np.array([2, 0, 2])
    want = np.zeros((2, 3))
    for n in range(3):
        for k in range(2):
            for j in range(3):
                want[k, j] += A[ids[n], k] * G[n, j]
    _, grad_W = two_of(factorized_backward(A, W, ids, G), "the gradients of A and of W")
    hint = "Entry (k, j) adds up A[ids[n], k] * grad_out[n, j] over all positions n: rows of A transposed times G."
    expect(grad_W, want, hint)


@check_of(
    "factorized_backward", points=1, hidden=True, enforces="What reaches a row of A from several positions adds up"
)
def repeats_add_up(factorized_backward):
    """In A's gradient, an id that stands in many places of a batch receives the sum of what comes from each."""
    rng = np.random.default_rng(29)
    A, W = rng.uniform(0.5, 1.5, (7, 2)), rng.uniform(0.5, 1.5, (2, 3))
    ids = rng.choice([0, 2, 6], size=(4, 9))
    G = rng.uniform(0.5, 1.5, (4, 9, 3))
    want = np.zeros((7, 2))
    for b in range(4):
        for t in range(9):
            for k in range(2):
                want[ids[b, t], k] += sum(G[b, t, j] * W[k, j] for j in range(3))
    grad_A, _ = two_of(factorized_backward(A, W, ids, G), "the gradients of A and of W")
    hint = f"Id 2, for one, stood in {np.sum(ids == 2)} places. `grad_A[ids] += ...` keeps only the last of them."
    expect(grad_A, want, hint)


@check_of(
    "factorized_backward",
    points=1,
    hidden=True,
    enforces=(
        "A single id (shape ``()``) and no ids at all (a 0 in the shape) are allowed.",
        "Without ids, both are zero.",
    ),
)
def batches_single_ids_and_no_ids(factorized_backward):
    """Ids of shape (B, T), a single id of shape (), and no ids at all, which leave both gradients zero."""
    A = 0.5 + np.arange(10.0).reshape(5, 2)
    W = np.array([[2.0, -1.5, 0.5], [-0.25, 1.0, 4.0]])
    for ids in (np.array([[4, 0], [1, 3]]), np.array(4), np.zeros((2, 0), dtype=np.int64)):
        G = 1.0 + np.arange(3.0 * ids.size).reshape(ids.shape + (3,))
        want_A, want_W = np.zeros((5, 2)), np.zeros((2, 3))
        for place in np.ndindex(ids.shape):
            for k in range(2):
                for j in range(3):
                    want_A[ids[place], k] += G[place][j] * W[k, j]
                    want_W[k, j] += A[ids[place], k] * G[place][j]
        hint = f"The ids had shape {ids.shape}, grad_out {G.shape}."
        grad_A, grad_W = two_of(factorized_backward(A, W, ids, G), "the gradients of A and of W")
        expect(grad_A, want_A, f"This is A's gradient. {hint}")
        expect(grad_W, want_W, f"This is W's gradient. {hint}")


@check_of(
    "factorized_backward",
    points=1,
    hidden=True,
    enforces=(
        "grad_A : ndarray of A's dtype",
        "grad_W : ndarray of A's dtype",
        "m may be larger than d.",
        "It is not modified.",
    ),
)
def dtypes_and_inputs(factorized_backward):
    """The gradients have A's dtype for every dtype of ids, also when m is larger than d, and the inputs stay."""
    A = np.array([[1.0, -2.0, 0.5], [0.25, 8.0, 1.5], [4.0, 3.0, -1.0]])
    W, G = np.array([[2.0], [0.5], [-4.0]]), np.array([[1.5], [-2.0]])
    want_A = np.array([[-4.0, -1.0, 8.0], [0.0, 0.0, 0.0], [3.0, 0.75, -6.0]])
    want_W = np.array([[4.0], [8.5], [-2.5]])
    for dtype in (np.float32, np.float64):
        for ids_dtype in (np.uint8, np.int32, np.int64, np.uint32):
            given = [A.astype(dtype), W.astype(dtype), np.array([2, 0], dtype=ids_dtype), G.astype(dtype)]
            grad_A, grad_W = two_of(factorized_backward(*given), "the gradients of A and of W")
            hint = f"m was 3 and d was 1; the factors and grad_out were {np.dtype(dtype)}, the ids {given[2].dtype}."
            expect(grad_A, want_A.astype(dtype), f"This is A's gradient. {hint}")
            expect(grad_W, want_W.astype(dtype), f"This is W's gradient. {hint}")
            names = ("A", "W", "ids", "grad_out")
            for array, before, name in zip(given, (A, W, np.array([2, 0]), G), names, strict=True):
                assert np.array_equal(array, before), f"Your function changed {name}."


@check_of("quantize_rows", points=1, enforces="E[i, j] / scales[i], rounded to the nearest whole number")
def codes_of_each_row(quantize_rows):
    """Each code is the entry divided by its own row's scale, rounded to the nearest whole number, as int8."""
    E = np.array([[12.7, -6.34, 0.26, 0.0], [0.5, 0.33, -0.11, 0.02], [-254.0, 200.4, 3.1, -0.9]])
    codes, _ = two_of(quantize_rows(E), "codes and scales")
    whole = isinstance(codes, np.ndarray) and codes.dtype == np.int8
    assert whole, f"The codes should be an array of int8; they are {getattr(codes, 'dtype', type(codes).__name__)}."
    want = np.array([[127, -63, 3, 0], [127, 84, -28, 5], [-127, 100, 2, 0]])
    hint = (
        "The largest entry of each row, without its sign, gets the code 127 or -127. Round to the nearest: "
        "`astype` alone cuts the digits off."
    )
    expect(codes.astype(int), want, hint)


@check_of("quantize_rows", points=1, enforces="The scale of a row is its largest entry without sign, divided by 127.")
def one_scale_for_each_row(quantize_rows):
    """The scale of a row is its largest entry without sign, divided by 127, as float32."""
    E = np.array([[12.7, -6.34, 0.26, 0.0], [0.5, 0.33, -0.11, 0.02], [-254.0, 200.4, 3.1, -0.9]])
    _, scales = two_of(quantize_rows(E), "codes and scales")
    want = np.array([12.7 / 127, 0.5 / 127, 254.0 / 127], dtype=np.float32)
    hint = "Shape (V,): one scale a row. The sign does not count: in the last row -254 is the largest."
    expect(scales, want, hint)


@check_of(
    "quantize_rows",
    points=1,
    hidden=True,
    enforces="The scale of a row that is all zeros is 1, and its codes are 0.",
)
def a_row_of_zeros(quantize_rows):
    """A row that is all zeros gets the scale 1 and codes 0, and the rows beside it keep theirs."""
    E = np.array([[0.0, 0.0, 0.0], [1.5, -2.54, 0.5], [-0.0, 0.0, -0.0]])
    codes, scales = two_of(quantize_rows(E), "codes and scales")
    for part, shape, name in ((codes, (3, 3), "codes"), (scales, (3,), "scales")):
        right = isinstance(part, np.ndarray) and part.shape == shape
        assert right, f"The {name} should be an array of shape {shape}."
    hint = "Rows 0 and 2 are all zeros. Their largest entry is 0: choose the scale 1 before you divide."
    expect(scales[[0, 2]].astype(float), np.array([1.0, 1.0]), hint)
    expect(codes[[0, 2]].astype(int), np.zeros((2, 3), dtype=int), hint)
    assert np.any(codes[1] != 0), "Row 1 is not all zeros, but its codes are."


@check_of("quantize_rows", points=1, hidden=True, enforces="code c of row i stands for c * scales[i].")
def no_entry_is_off_by_more_than_half_a_step(quantize_rows):
    """Codes times scales differ from the table by half a scale at most, for rows of very different size."""
    rng = np.random.default_rng(31)
    E = rng.normal(size=(60, 33)) * 10.0 ** rng.integers(-8, 9, size=(60, 1))
    codes, scales = two_of(quantize_rows(E.copy()), "codes and scales")
    for part, shape, name in ((codes, (60, 33), "codes"), (scales, (60,), "scales")):
        right = isinstance(part, np.ndarray) and part.shape == shape
        assert right, f"The {name} should be an array of shape {shape}."
    step = np.abs(E).max(axis=1, keepdims=True) / 127
    off = np.abs(codes.astype(float) * scales.astype(float)[:, None] - E) / step
    i, j = (int(k) for k in np.unravel_index(np.argmax(off), off.shape))
    hint = "Half of it is the most that rounding to the nearest can do. Is the scale the row's own? Did a code wrap?"
    assert np.all(off <= 0.501), f"Entry [{i}, {j}] is off by {off[i, j]:.3g} of what its row's scale should be. {hint}"


@check_of("quantize_rows", points=1, hidden=True, enforces="Each is from -127 to 127; -128 is not used.")
def codes_stay_within_127(quantize_rows):
    """The largest entry of a row gets exactly 127 or -127, whatever its size; -128 is not used."""
    sizes = np.array([1.0, 3.0, 0.1, 0.7, 1e-30, 2e-30, 1e30, 9.9e29, 5e-7, 123.456])
    for dtype in (np.float32, np.float64):
        E = np.stack([sizes, -sizes, sizes / 1e3 * (sizes > 1e-20)], axis=1).astype(dtype)
        codes, _ = two_of(quantize_rows(E), "codes and scales")
        right = isinstance(codes, np.ndarray) and codes.shape == E.shape
        assert right, f"The codes should be an array of shape {E.shape}."
        hint = f"The table was {np.dtype(dtype)}, and each row held its largest entry with both signs."
        expect(codes[:, :2].astype(int), np.array([[127, -127]] * 10), hint)


@check_of(
    "quantize_rows",
    points=1,
    hidden=True,
    enforces=(
        "codes : ndarray of int8, shape (V, d)",
        "scales : ndarray of float32, shape (V,)",
        "It is not modified.",
    ),
)
def formats_and_inputs(quantize_rows):
    """Codes are int8 and scales float32 for tables of float32 and float64, which stay as they were."""
    values = np.array([[2.0, -1.1], [0.25, 0.1], [-8.0, 3.0], [0.3, 1.0]])
    for dtype in (np.float32, np.float64):
        for E in (values.astype(dtype), values.astype(dtype)[::-1], np.asfortranarray(values.astype(dtype))):
            before = E.copy()
            codes, scales = two_of(quantize_rows(E), "codes and scales")
            for part, kind, shape, name in ((codes, np.int8, (4, 2), "codes"), (scales, np.float32, (4,), "scales")):
                assert type(part) is np.ndarray, f"The {name} should be a NumPy array."
                assert part.dtype == kind, f"The {name} are {part.dtype}; they should be {np.dtype(kind)}."
                assert part.shape == shape, f"The {name} have shape {part.shape}; it should be {shape}."
            assert np.array_equal(E, before), "Your function changed the table."


@check_of("quantized_lookup", points=1, enforces="codes[i] * scales[i] for each id i.")
def codes_times_the_scale_of_their_row(quantized_lookup):
    """Ids [3, 1, 3] give codes 3, 1 and 3, each multiplied with the scale of its own row, as float32."""
    codes = np.array([[1, 2], [127, -4], [5, 6], [-100, 9]], dtype=np.int8)
    scales = np.array([8.0, 0.5, 16.0, 0.25], dtype=np.float32)
    got = quantized_lookup(codes, scales, np.array([3, 1, 3]))
    want = np.array([[-25.0, 2.25], [63.5, -2.0], [-25.0, 2.25]], dtype=np.float32)
    expect(got, want, "Row n is codes[i] * scales[i] with i = ids[n]: gather codes and scales with the same ids.")


@check_of("quantized_lookup", points=1, hidden=True, enforces="One scale for each row.")
def as_many_columns_as_ids_or_rows(quantized_lookup):
    """A scale belongs to a row, never to a column, also when d equals the number of ids or V."""
    codes = np.array([[10, -20, 30], [40, 50, -60], [70, 80, 127]], dtype=np.int8)
    scales = np.array([1.0, 0.5, 2.0], dtype=np.float32)
    want = np.array([[140, 160, 254], [10, -20, 30], [20, 25, -30]], dtype=np.float32)
    hint = "Here V, d and the number of ids are all 3. Put the scales of the rows into a column of their own."
    expect(quantized_lookup(codes, scales, np.array([2, 0, 1])), want, hint)


@check_of(
    "quantized_lookup",
    points=1,
    hidden=True,
    enforces=(
        "A single id (shape ``()``) and no ids at all (a 0 in the shape) are allowed.",
        "ids : ndarray of any integer dtype and any shape",
        "The array is not modified.",
    ),
)
def any_shape_and_dtype_of_ids(quantized_lookup):
    """Ids of any shape and integer dtype work; the inputs stay as they were."""
    codes = np.array([[1, -2], [127, -127], [5, 6], [-100, 9]], dtype=np.int8)
    scales = np.array([8.0, 0.5, 16.0, 0.25], dtype=np.float32)
    table = np.array([[8, -16], [63.5, -63.5], [80, 96], [-25, 2.25]], dtype=np.float32)
    for dtype in (np.uint8, np.int32, np.int64, np.uint32):
        for shape in ((2, 3), (2, 1, 1), (), (2, 0)):
            ids = np.resize([3, 0, 3, 1, 2, 0], shape).astype(dtype)
            want = np.zeros(shape + (2,), dtype=np.float32)
            for place in np.ndindex(shape):
                want[place] = table[ids[place]]
            originals: list = [codes, scales, ids]
            given = [each.copy() for each in originals]
            hint = f"The ids had shape {ids.shape} and dtype {ids.dtype}; the result has shape ids.shape + (d,)."
            expect(quantized_lookup(*given), want, hint)
            for array, before, name in zip(given, originals, ("codes", "scales", "ids"), strict=True):
                assert np.array_equal(array, before), f"Your function changed {name}."


@check_of(
    "quantized_lookup",
    points=1,
    hidden=True,
    enforces="A row that ids does not name has no influence, whatever its scale is, nan included.",
)
def other_rows_have_no_influence(quantized_lookup):
    """A row that ids does not name does not reach the result, even if its scale is nan."""
    codes = np.array([[9, 9], [20, -4], [9, 9], [-100, 9]], dtype=np.int8)
    scales = np.array([np.nan, 0.5, np.inf, 0.25], dtype=np.float32)
    got = quantized_lookup(codes, scales, np.array([3, 1, 1]))
    want = np.array([[-25.0, 2.25], [10.0, -2.0], [10.0, -2.0]], dtype=np.float32)
    expect(got, want, "The scales of rows 0 and 2 were nan and inf; no id named them. Gather rows, then multiply.")
