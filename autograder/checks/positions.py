"""Checks of chapter 08: positions, and the scale of tokens beside them."""

import numpy as np

from autograder.checks import check_of
from autograder.checks.tools import expect


@check_of(
    "sinusoidal_positions",
    points=1,
    enforces="Even columns (0, 2, ...) hold the sine of their pair's angle, odd columns (1, 3, ...) the cosine.",
)
def position_0_is_0_1_0_1(sinusoidal_positions):
    """At position 0 all angles are 0, so even columns hold sin 0 = 0 and odd columns cos 0 = 1."""
    for d in (4, 6):
        hint = f"d = {d}. The columns take turns: sine, cosine, sine, cosine. Both of a pair have the same angle."
        expect(sinusoidal_positions(1, d), np.array([[0.0, 1, 0, 1, 0, 1]])[:, :d], hint)


@check_of("sinusoidal_positions", points=2, enforces="At position t it is t / 10000**(2*i / d)")
def sines_and_cosines_of_the_right_angles(sinusoidal_positions):
    """Each row holds the sine and the cosine of t / 10000**(2*i/d) for every pair i, in whatever order."""
    for T, d in [(3, 4), (7, 10)]:
        want = np.zeros((T, d))
        for t in range(T):
            angles = [t / 10_000 ** (2 * i / d) for i in range(d // 2)]
            want[t] = sorted([np.sin(angle) for angle in angles] + [np.cos(angle) for angle in angles])
        got = sinusoidal_positions(T, d)
        if isinstance(got, np.ndarray) and got.shape == want.shape:
            got = np.sort(got, axis=1)  # this check is about the numbers, not about their places
        hint = (
            f"T = {T}, d = {d}; the numbers of each row were sorted before they were compared. Positions count from 0, "
            f"pairs from 0 to {d // 2 - 1}, and the exponent of pair i is 2 * i / {d}."
        )
        expect(got, want, hint)


@check_of("sinusoidal_positions", points=1, enforces="the first pair turns by 1 at each position")
def the_first_pair_is_the_fastest(sinusoidal_positions):
    """For d = 4 the columns are sin t, cos t, sin(t/100) and cos(t/100)."""
    t = np.arange(3.0)
    want = np.stack([np.sin(t), np.cos(t), np.sin(t / 100), np.cos(t / 100)], axis=1)
    expect(sinusoidal_positions(3, 4), want, "T = 3, d = 4. Pairs stand side by side, and later pairs are slower.")


@check_of(
    "sinusoidal_positions",
    points=1,
    hidden=True,
    enforces=("If it is odd, the last column is the sine of a pair whose cosine has no room", "Width, 1 or more."),
)
def odd_width(sinusoidal_positions):
    """An odd d leaves out the cosine of the last pair; the exponents still divide by d; d may be 1."""
    for T, d in [(4, 5), (6, 3), (5, 1)]:
        want = np.zeros((T, d))
        for t in range(T):
            row = []
            for i in range(d // 2 + 1):
                angle = t / 10_000 ** (2 * i / d)
                row += [np.sin(angle), np.cos(angle)]
            want[t] = sorted(row[:d])
        got = sinusoidal_positions(T, d)
        if isinstance(got, np.ndarray) and got.shape == want.shape:
            got = np.sort(got, axis=1)  # the order has a check of its own
        expect(got, want, f"T = {T}, d = {d}. There are {d // 2 + 1} sines and {d // 2} cosines.")


@check_of(
    "sinusoidal_positions",
    points=1,
    hidden=True,
    enforces=("Number of positions, 0 or more.", "so that far positions are right, too."),
)
def no_positions_and_far_positions(sinusoidal_positions):
    """T = 0 gives shape (0, d); at position 50,000 the numbers are still right."""
    expect(sinusoidal_positions(0, 6), np.zeros((0, 6)), "T = 0, d = 6: a table without rows.")
    angles = np.array([50_000 / 10_000 ** (2 * i / 6) for i in range(3)])
    want = np.sort(np.concatenate([np.sin(angles), np.cos(angles)]))[np.newaxis]
    got = sinusoidal_positions(50_001, 6)
    if isinstance(got, np.ndarray) and got.shape == (50_001, 6):
        got = np.sort(got[-1:], axis=1)  # the order has a check of its own
    hint = "d = 6, position 50,000. An angle of 2,320.8 in float32 has only some three digits behind the point."
    expect(got, want, hint)


@check_of(
    "embed_with_positions", points=1, enforces="The token at position t of a sequence becomes scale * E[token] + P[t]."
)
def row_of_the_token_plus_row_of_the_position(embed_with_positions):
    """Without a scale, one sequence gives E[ids] plus the first T rows of P; a token that repeats differs by place."""
    E = np.array([[0.5, -1.0], [1.5, 0.25], [-0.75, 2.0]])
    P = np.array([[10.0, 20.0], [30.0, 40.0], [50.0, 60.0], [70.0, 80.0], [90.0, 100.0]])
    want = np.array([[9.25, 22.0], [30.5, 39.0], [49.25, 62.0], [71.5, 80.25]])
    hint = "ids was [2, 0, 2, 1]. Position 0 gets row 0 of P, position 1 row 1, and so on, whatever the tokens are."
    expect(embed_with_positions(E, P, np.array([2, 0, 2, 1])), want, hint)


@check_of("embed_with_positions", points=2, enforces="The rows of P are not multiplied.")
def scale_multiplies_tokens_alone(embed_with_positions):
    """From scale 1 to scale 3 the answer changes by twice the token rows; what the positions add stays as it was."""
    E = np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.5]])
    P = np.array([[4.0, 5.0, 6.0], [7.0, 8.0, 9.0], [1.0, 2.0, 3.0]])
    at_1, at_3 = (embed_with_positions(E.copy(), P.copy(), np.array([1, 0]), scale=scale) for scale in (1.0, 3.0))
    hint = "The answer for scale=3 less the answer for scale=1 should be 2 * E[ids]. P is added as it is."
    if all(isinstance(each, np.ndarray) and each.shape == (2, 3) for each in (at_1, at_3)):
        expect(at_3 - at_1, np.array([[3.0, 0.5, -1.0], [1.0, -2.0, 4.0]]), hint)
    else:
        expect(at_3, np.zeros((2, 3)), hint)  # it says what is wrong with the kind or the shape


@check_of(
    "embed_with_positions",
    points=1,
    enforces=(
        "In a batch, every sequence starts at position 0.",
        "It may have more rows than a sequence has positions",
    ),
)
def every_sequence_starts_at_position_0(embed_with_positions):
    """In a batch each sequence gets rows 0 to T - 1 of P, be there more, fewer or as many sequences as positions."""
    E, P = np.array([[0.5, -1.0], [1.5, 0.25], [-0.75, 2.0]]), np.arange(10.0, 30.0).reshape(10, 2)
    for batch in ([[0, 2, 1], [2, 2, 0]], [[1, 0], [0, 1], [2, 1]], [[2, 0, 0], [1, 2, 1], [0, 1, 1]], [[1, 2, 0]]):
        ids = np.array(batch)
        want = np.zeros((*ids.shape, 2))
        for b, t in np.ndindex(ids.shape):
            want[b, t] = E[ids[b, t]] + P[t]
        hint = (
            f"ids had shape {ids.shape}: sequences, then positions. Row t of P belongs to position t of each sequence."
        )
        expect(embed_with_positions(E.copy(), P.copy(), ids.copy()), want, hint)


@check_of(
    "embed_with_positions",
    points=1,
    enforces=("If T is larger than the number of rows of P", "The message holds both numbers."),
)
def more_positions_than_rows(embed_with_positions):
    """A sequence of 7 with a P of 5 rows raises ValueError with both numbers; a sequence of 5 does not."""
    E, P = np.array([[0.5, -1.0], [1.5, 0.25]]), np.arange(10.0).reshape(5, 2)
    got = embed_with_positions(E.copy(), P.copy(), np.array([1, 0, 1, 0, 0]))
    expect(got, E[[1, 0, 1, 0, 0]] + P, "The sequence had 5 tokens and P had 5 rows: they fit.")
    for ids in (np.array([1, 0, 1, 0, 0, 1, 1]), np.array([[1, 0, 1, 0, 0, 1, 1], [0, 0, 0, 0, 0, 0, 0]])):
        raised = None
        try:
            embed_with_positions(E.copy(), P.copy(), ids)
        except Exception as error:
            raised = error
        assert raised is not None, "A sequence had 7 tokens and P 5 rows. Your function gave an answer all the same."
        kind, told = type(raised).__name__, str(raised)
        assert isinstance(raised, ValueError), f"Your function raised {kind}; it should raise ValueError."
        both = "7" in told and "5" in told
        assert both, f"The ValueError should hold both numbers, 7 positions and 5 rows; it says: {told[:200]!r}"


@check_of("embed_with_positions", points=1, hidden=True, enforces="be it one row or many.")
def one_row_does_not_stretch(embed_with_positions):
    """A P of one row is enough for sequences of one token; for longer ones it raises ValueError as any other."""
    E, P = np.array([[0.5, -1.0], [1.5, 0.25]]), np.array([[3.0, 4.0]])
    got = embed_with_positions(E.copy(), P.copy(), np.array([1]))
    expect(got, np.array([[4.5, 4.25]]), "The sequence had one token, and P one row.")
    refused = False
    try:
        embed_with_positions(E, P, np.array([1, 0, 1]))
    except ValueError:
        refused = True
    assert refused, (
        "A sequence had 3 tokens and P 1 row. NumPy stretches an array of one row over all positions without an "
        "error, so all of them got row 0. Compare T with the number of rows yourself."
    )


@check_of("embed_with_positions", points=1, hidden=True, enforces="T and B may be 0.")
def no_tokens_or_no_sequences(embed_with_positions):
    """Sequences of no tokens, and batches of no sequences, give an empty array of shape ids.shape + (d,)."""
    E, P = np.ones((3, 4)), np.ones((5, 4))
    for shape in [(0,), (2, 0), (0, 3), (0, 0)]:
        got = embed_with_positions(E, P, np.zeros(shape, dtype=np.int64))
        expect(got, np.zeros((*shape, 4)), f"ids had shape {shape}.")


@check_of(
    "embed_with_positions",
    points=1,
    hidden=True,
    enforces=(
        "ndarray of E's dtype, shape ids.shape + (d,)",
        "its dtype may differ from E's.",
        "scale : float, Python's or NumPy's",
        "It is not modified.",
    ),
)
def dtype_of_the_table_and_inputs(embed_with_positions):
    """The answer has E's dtype for every integer dtype, a float64 P and a NumPy scale; the inputs stay as they were."""
    E, P = np.array([[0.5, -1.0], [1.5, 0.25]]), np.array([[3.0, 4.0], [5.0, 6.0], [7.0, 8.0]])
    ids = np.array([1, 0])
    # Scale 1, so that this is about types alone.
    for dtype in (np.float32, np.float64):
        for P_dtype in (np.float32, np.float64):
            for ids_dtype in (np.uint8, np.int32, np.int64, np.uint32):
                given = E.astype(dtype), P.astype(P_dtype), ids.astype(ids_dtype)
                got = embed_with_positions(*given, scale=np.float64(1.0))
                hint = f"E was {np.dtype(dtype)}, P {np.dtype(P_dtype)}, ids {np.dtype(ids_dtype)}, scale a float64."
                expect(got, np.array([[4.5, 4.25], [5.5, 5.0]], dtype=dtype), hint)
                for name, now, before in zip(("E", "P", "ids"), given, (E, P, ids), strict=True):
                    assert np.array_equal(now, before), f"Your function changed {name}; work on a new array."
    given = E.copy(), P.copy(), ids.copy()
    embed_with_positions(*given, scale=2.0)
    for name, now, before in zip(("E", "P", "ids"), given, (E, P, ids), strict=True):
        assert np.array_equal(now, before), f"With scale=2.0 your function changed {name}; work on a new array."
