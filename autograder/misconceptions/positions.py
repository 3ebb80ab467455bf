"""Known mistakes of chapter 08: positions, and the scale of tokens beside them."""

from collections.abc import Callable
from functools import wraps

import numpy as np

from autograder.misconceptions import misconception
from solutions import embed_with_positions, sinusoidal_positions

# sinusoidal_positions

ORDER = "position_0_is_0_1_0_1 the_first_pair_is_the_fastest"
ANGLES = "sines_and_cosines_of_the_right_angles the_first_pair_is_the_fastest odd_width no_positions_and_far_positions"
SINUSOIDS = f"position_0_is_0_1_0_1 {ANGLES}"


def of_angles(angles: Callable) -> Callable:
    """Sines in even columns and cosines in odd ones, of angles that a function gives for positions and columns."""

    @wraps(angles)
    def function(T, d):
        t, j = np.indices((T, d))
        angle = angles(t, j, d)
        return np.where(j % 2, np.cos(angle), np.sin(angle))

    return function


@misconception(
    "sinusoidal_positions", fails=ORDER, hint="got 0, expected 1. d = 4. The columns take turns: sine, cosine, sine,"
)
def sines_first_then_cosines(T, d):
    """All sines come first and then all cosines, as in some libraries. Here the columns take turns: sine, cosine, sine,
    cosine.
    """
    P = sinusoidal_positions(T, d)
    return np.concatenate([P[:, 0::2], P[:, 1::2]], axis=1)


@misconception(
    "sinusoidal_positions",
    fails=f"{ORDER} odd_width",
    hint="got 1, expected 0. d = 4. The columns take turns: sine, cosine, sine,",
)
def cosine_before_sine(T, d):
    """Sine and cosine are swapped: even columns (0, 2, ...) hold the sine, odd columns the cosine."""
    P = np.zeros((T, d))
    angles = np.arange(T)[:, None] / 10_000 ** (np.arange(0, d, 2) / d)
    P[:, 0::2] = np.cos(angles)
    P[:, 1::2] = np.sin(angles[:, : d // 2])
    return P


@misconception(
    "sinusoidal_positions",
    fails=ANGLES,
    hint="got 0.0998334, expected 0.00999983. T = 3, d = 4; the numbers of each row",
)
@of_angles
def exponent_without_the_two(t, j, d):
    """The exponent of pair i is i / d. It should be 2 * i / d: with arange(0, d, 2), which counts in twos, it is that
    divided by d.
    """
    return t / 10_000 ** (j // 2 / d)


@misconception(
    "sinusoidal_positions", fails=ANGLES, hint="got 0.0001, expected 0.00999983. T = 3, d = 4; the numbers of each row"
)
@of_angles
def exponent_doubled(t, j, d):
    """The exponent is twice too large. If i counts in twos (0, 2, 4, ...), it is the 2i of the formula already: divide
    it by d without another 2.
    """
    return t / 10_000 ** (2 * (j // 2 * 2) / d)


@misconception(
    "sinusoidal_positions", fails=ANGLES, hint="got 0.841471, expected 0.540302. T = 3, d = 4; the numbers of each row"
)
@of_angles
def exponent_of_each_column(t, j, d):
    """Each column has an angle of its own, with its number j in the exponent. Sine and cosine of a pair have the same
    angle: the exponent is 2 * (j // 2) / d.
    """
    return t / 10_000 ** (j / d)


@misconception(
    "sinusoidal_positions", fails=ANGLES, hint="got 0.0001, expected 0.00999983. T = 3, d = 4; the numbers of each row"
)
@of_angles
def column_for_pair(t, j, d):
    """The number of the column stands in the exponent where the number of the pair should: 2 * j / d. Columns 2i and
    2i + 1 are pair i, and share an angle: 2 * (j // 2) / d.
    """
    return t / 10_000 ** (2 * j / d)


@misconception(
    "sinusoidal_positions", fails=ANGLES, hint="got 0.0001, expected 0.00999983. T = 3, d = 4; the numbers of each row"
)
@of_angles
def exponent_over_the_pairs_less_one(t, j, d):
    """The exponent of pair i is i / (number of pairs - 1), as in some libraries, so that the last is exactly 1. Here it
    is 2 * i / d.
    """
    return t / 10_000 ** (j // 2 / max((d + 1) // 2 - 1, 1))


@misconception(
    "sinusoidal_positions",
    fails=SINUSOIDS,
    hint="got 0, expected 1. d = 4. The columns take turns: sine, cosine, sine,",
)
def table_of_tensor2tensor(T, d):
    """This is the table of another library: all sines, then all cosines, and exponents of i / (number of pairs - 1).
    Here sines and cosines take turns, and the exponent of pair i is 2 * i / d.
    """
    pairs = (d + 1) // 2
    angles = np.arange(T)[:, None] / 10_000 ** (np.arange(pairs) / max(pairs - 1, 1))
    return np.concatenate([np.sin(angles), np.cos(angles[:, : d // 2])], axis=1)


@misconception(
    "sinusoidal_positions",
    fails=ANGLES,
    hint="got 0.540302, expected 0.00999983. T = 3, d = 4; the numbers of each row",
)
@of_angles
def exponent_cut_to_a_whole_number(t, j, d):
    """All pairs turn equally fast: the exponent is 0 for each of them, as 2 * i // d is. Divide with /."""
    return t / 10_000 ** (j // 2 * 2 // d)


@misconception(
    "sinusoidal_positions",
    fails=ANGLES,
    hint="got -0.506366, expected 0.00999983. T = 3, d = 4; the numbers of each row",
)
@of_angles
def multiplied_by_the_power(t, j, d):
    """Later pairs turn faster and faster: the position was multiplied by 10000**(2*i / d). Divide by it."""
    return t * 10_000 ** (j // 2 * 2 / d)


@misconception(
    "sinusoidal_positions",
    fails=ANGLES,
    hint="got 0.0316175, expected 0.00999983. T = 3, d = 4; the numbers of each row",
)
@of_angles
def base_1000(t, j, d):
    """The base is 1000. It should be 10000, with four zeros."""
    return t / 1_000 ** (j // 2 * 2 / d)


@misconception(
    "sinusoidal_positions",
    fails=ANGLES,
    hint="got -2.44929e-16, expected 0.00999983. T = 3, d = 4; the numbers of each",
)
@of_angles
def a_whole_turn_at_each_position(t, j, d):
    """The angles are 2 * pi times too large. They are in radians as they stand: t / 10000**(2*i / d)."""
    return 2 * np.pi * t / 10_000 ** (j // 2 * 2 / d)


@misconception(
    "sinusoidal_positions",
    fails=SINUSOIDS,
    hint="got 0.841471, expected 0. d = 4. The columns take turns: sine, cosine,",
)
@of_angles
def positions_from_1(t, j, d):
    """Positions were counted from 1. The first is position 0, where all angles are 0: np.arange(T)."""
    return (t + 1) / 10_000 ** (j // 2 * 2 / d)


@misconception(
    "sinusoidal_positions",
    fails=SINUSOIDS,
    hint="got 0, expected 1. d = 4. The columns take turns: sine, cosine, sine,",
)
def sines_alone(T, d):
    """All columns hold sines. Odd columns (1, 3, ...) hold the cosine of their pair's angle."""
    return np.sin(np.arange(T)[:, None] / 10_000 ** (np.arange(d) // 2 * 2 / d))


@misconception(
    "sinusoidal_positions",
    fails=SINUSOIDS,
    hint="got 0, expected 1. d = 4. The columns take turns: sine, cosine, sine,",
)
def turns_taken_by_rows(T, d):
    """Rows take turns, sines at one position and cosines at the next. It is the columns that do: P[:, 0::2] and
    P[:, 1::2].
    """
    t, j = np.indices((T, d))
    angle = t / 10_000 ** (j // 2 * 2 / d)
    return np.where(t % 2, np.cos(angle), np.sin(angle))


@misconception(
    "sinusoidal_positions",
    fails="the_first_pair_is_the_fastest",
    hint="got 0.00999983, expected 0.841471. T = 3, d = 4. Pairs stand side by side,",
)
def slowest_pair_first(T, d):
    """The pairs are in reverse order. Pair 0 comes first, and is the fastest: its angle is t."""
    P = np.zeros((T, d + d % 2))
    P[:, :d] = sinusoidal_positions(T, d)
    return P.reshape(T, (d + 1) // 2, 2)[:, ::-1].reshape(T, d) if d % 2 == 0 else sinusoidal_positions(T, d)


@misconception(
    "sinusoidal_positions", fails="odd_width", hint="could not broadcast input array from shape (4,3) into shape (4,2)"
)
def odd_width_forgotten(T, d):
    """An odd d has one cosine less than it has sines, and so they do not fit into the odd columns. Cut the cosines to
    d // 2 columns.
    """
    angles = np.arange(T)[:, None] / 10_000 ** (np.arange(0, d, 2) / d)
    P = np.zeros((T, d))
    P[:, 0::2] = np.sin(angles)
    P[:, 1::2] = np.cos(angles)
    return P


@misconception(
    "sinusoidal_positions",
    fails="odd_width",
    hint="got 0.00215443, expected 0.000630957. T = 4, d = 5. There are 3 sines and",
)
def odd_width_of_the_next_even_table(T, d):
    """An odd d was made of the table for d + 1, with its last column cut off. The exponents divide by d itself, the odd
    number.
    """
    return sinusoidal_positions(T, d + d % 2)[:, :d]


@misconception(
    "sinusoidal_positions",
    fails="odd_width",
    hint="The shape is (4, 4); it should be (4, 5). T = 4, d = 5. There are 3 sines",
)
def odd_width_one_column_short(T, d):
    """An odd d gives a table of d - 1 columns. The last sine has no cosine beside it, and stands in the last column all
    the same.
    """
    return sinusoidal_positions(T, d)[:, : d - d % 2]


@misconception(
    "sinusoidal_positions",
    fails="odd_width",
    hint="The shape is (4, 6); it should be (4, 5). T = 4, d = 5. There are 3 sines",
)
def odd_width_one_column_more(T, d):
    """An odd d gives a table of d + 1 columns. The cosine of the last pair has no room: leave it out."""
    angles = np.arange(T)[:, None] / 10_000 ** (np.arange(0, d, 2) / d)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(T, d + d % 2)


@misconception(
    "sinusoidal_positions",
    fails="odd_width",
    hint="got 0, expected 0.000630957. T = 4, d = 5. There are 3 sines and 2 cosines.",
)
def odd_width_last_column_zero(T, d):
    """The last column of an odd d was left zero, as there are d // 2 whole pairs. It holds the sine of one pair
    more.
    """
    P = sinusoidal_positions(T, d)
    P[:, d - d % 2 :] = 0
    return P


@misconception(
    "sinusoidal_positions",
    fails="no_positions_and_far_positions",
    hint="got -0.665571, expected -0.665559. d = 6, position 50,000. An angle of",
)
def angles_in_single_precision(T, d):
    """The angles were computed in float32, which is too coarse for far positions. Compute in float64, as NumPy does
    unless you say otherwise.
    """
    slow = (10_000 ** (np.arange(0, d, 2) / d)).astype(np.float32)
    angles = np.arange(T, dtype=np.float32)[:, None] / slow
    P = np.zeros((T, d))
    P[:, 0::2] = np.sin(angles)
    P[:, 1::2] = np.cos(angles[:, : d // 2])
    return P


@misconception(
    "sinusoidal_positions",
    fails=SINUSOIDS,
    hint="The dtype is float32; it should be float64. d = 4. The columns take turns:",
)
def single_precision_table(T, d):
    """The table is float32. It should be float64, which NumPy makes unless you say otherwise."""
    return sinusoidal_positions(T, d).astype(np.float32)


@misconception(
    "sinusoidal_positions",
    fails=SINUSOIDS,
    hint="The dtype is int64; it should be float64. d = 4. The columns take turns:",
)
def integer_table(T, d):
    """The table was made of integers, which cut off all after the decimal point. np.zeros((T, d)) is float64."""
    return sinusoidal_positions(T, d).astype(int)


@misconception(
    "sinusoidal_positions",
    fails="no_positions_and_far_positions",
    hint="The shape is (0,); it should be (0, 6). T = 0, d = 6: a table without rows.",
)
def no_positions_in_a_list(T, d):
    """For T = 0 a list of rows is empty, and np.array knows no width of it: shape (0,). Begin with np.zeros((T, d))."""
    return np.array(list(sinusoidal_positions(T, d)))


@misconception(
    "sinusoidal_positions",
    fails=SINUSOIDS,
    hint="The shape is (4, 1); it should be (1, 4). d = 4. The columns take turns:",
)
def transposed(T, d):
    """The table is transposed. It has a row for each position and a column for each of the d numbers: shape (T, d)."""
    return sinusoidal_positions(T, d).T.copy()


# embed_with_positions

ONE = "row_of_the_token_plus_row_of_the_position"
SCALE = "scale_multiplies_tokens_alone"
BATCH = "every_sequence_starts_at_position_0"
LONG = "more_positions_than_rows"
STRETCH = "one_row_does_not_stretch"
EMPTY = "no_tokens_or_no_sequences"
INPUTS = "dtype_of_the_table_and_inputs"
ALWAYS = f"{ONE} {SCALE} {BATCH} {EMPTY} {INPUTS}"
SUM = f"{ONE} {BATCH} {LONG} {STRETCH} {INPUTS}"


def of_rows(add: Callable) -> Callable:
    """The answer of a function that gets the looked-up rows and the P[:T] that fits them; P is long enough."""

    @wraps(add)
    def function(E, P, ids, scale=1.0):
        T = ids.shape[-1]
        if len(P) < T:
            raise ValueError(f"a sequence has {T} positions, and P has rows for {len(P)}")
        return add(E[ids], P[:T], scale).astype(E.dtype)

    return function


def checked(embed: Callable) -> Callable:
    """The answer of a function, whatever it does, if P is long enough."""

    @wraps(embed)
    def function(E, P, ids, scale=1.0):
        T = ids.shape[-1]
        if len(P) < T:
            raise ValueError(f"a sequence has {T} positions, and P has rows for {len(P)}")
        return embed(E, P, ids, scale)

    return function


def where_too_long(answer: Callable) -> Callable:
    """What a function does if P is too short, and the right answer if it is not."""

    @wraps(answer)
    def function(E, P, ids, scale=1.0):
        right = embed_with_positions if len(P) >= ids.shape[-1] else answer
        return right(E, P, ids, scale)

    return function


@misconception(
    "embed_with_positions", fails=SUM, hint="got -0.75, expected 9.25. ids was [2, 0, 2, 1]. Position 0 gets row 0 of"
)
@of_rows
def positions_forgotten(H, P, scale):
    """The rows of P are missing: the result is scale * E[ids] + P[:T]."""
    return scale * H


@misconception(
    "embed_with_positions",
    fails="scale_multiplies_tokens_alone",
    hint="got 11, expected 3. The answer for scale=3 less the answer for scale=1",
)
@of_rows
def scale_times_the_sum(H, P, scale):
    """The scale multiplies the sum. It multiplies the rows of E alone: scale * E[ids] + P[:T]."""
    return scale * (H + P)


@misconception(
    "embed_with_positions",
    fails="scale_multiplies_tokens_alone",
    hint="got 0, expected 3. The answer for scale=3 less the answer for scale=1",
)
@of_rows
def scale_ignored(H, P, scale):
    """The scale was not used. Multiply the rows of E by it, before P is added."""
    return H + P


@misconception(
    "embed_with_positions",
    fails="scale_multiplies_tokens_alone",
    hint="got 8, expected 3. The answer for scale=3 less the answer for scale=1",
)
@of_rows
def scale_times_the_positions(H, P, scale):
    """The scale multiplies the rows of P. It multiplies the rows of E: scale * E[ids] + P[:T]."""
    return H + scale * P


@misconception(
    "embed_with_positions",
    fails="scale_multiplies_tokens_alone",
    hint="got -1, expected 3. The answer for scale=3 less the answer for scale=1",
)
@of_rows
def divided_by_the_scale(H, P, scale):
    """The rows of E were divided by the scale. Multiply them by it."""
    return H / scale + P


@misconception(
    "embed_with_positions",
    fails=f"{SCALE} {SUM}",
    hint="got 8.93934, expected 9.25. ids was [2, 0, 2, 1]. Position 0 gets row 0 of",
)
@of_rows
def root_of_the_width_as_well(H, P, scale):
    """The rows of E were multiplied by sqrt(d) as well as by the scale. Who calls your function gives sqrt(d) as the
    scale, or something else: multiply by the scale alone.
    """
    return scale * np.sqrt(H.shape[-1]) * H + P


@misconception(
    "embed_with_positions",
    fails=f"{SCALE} {SUM}",
    hint="got 8.93934, expected 9.25. ids was [2, 0, 2, 1]. Position 0 gets row 0 of",
)
@of_rows
def root_of_the_width_for_the_scale(H, P, scale):
    """The rows of E were multiplied by sqrt(d) in place of the scale. sqrt(d) is one scale of many: use the one that is
    given.
    """
    return np.sqrt(H.shape[-1]) * H + P


@misconception(
    "embed_with_positions",
    fails=f"{SCALE} {SUM}",
    hint="got -7.5, expected 9.25. ids was [2, 0, 2, 1]. Position 0 gets row 0 of P,",
)
@of_rows
def rows_multiplied(H, P, scale):
    """The rows of E and P were multiplied. Add them."""
    return scale * H * P


@misconception(
    "embed_with_positions",
    fails=f"{ALWAYS} {SUM}",
    hint="The shape is (4, 4); it should be (4, 2). ids was [2, 0, 2, 1]. Position 0",
)
@of_rows
def rows_side_by_side(H, P, scale):
    """The rows of E and P stand side by side, 2 * d numbers a position. Add them: the result has d."""
    return np.concatenate([scale * H, np.broadcast_to(P, H.shape)], axis=-1)


@misconception(
    "embed_with_positions", fails=SUM, hint="got 49.25, expected 9.25. ids was [2, 0, 2, 1]. Position 0 gets row 0 of"
)
def positions_looked_up_by_id(E, P, ids, scale=1.0):
    """P was looked up with ids. A row of P belongs to a position, whatever token stands there: P[:T]."""
    return (scale * E[ids] + P[ids]).astype(E.dtype)


@misconception(
    "embed_with_positions", fails=SUM, hint="got 29.25, expected 9.25. ids was [2, 0, 2, 1]. Position 0 gets row 0 of"
)
@checked
def rows_of_p_from_1(E, P, ids, scale):
    """Positions were counted from 1. The first token gets row 0 of P: P[:T], not P[1 : T + 1]."""
    return (scale * E[ids] + P[1 : ids.shape[-1] + 1]).astype(E.dtype)


@misconception(
    "embed_with_positions", fails=ALWAYS, hint="operands could not be broadcast together with shapes (4,2) (5,2) "
)
@checked
def all_rows_of_p(E, P, ids, scale):
    """All of P was added, and it may have more rows than a sequence has positions. Take the first T: P[:T]."""
    return (scale * E[ids] + P).astype(E.dtype)


@misconception(
    "embed_with_positions",
    fails="every_sequence_starts_at_position_0",
    hint="got 15.25, expected 9.25. ids had shape (2, 3): sequences, then positions.",
)
@checked
def positions_go_on_through_the_batch(E, P, ids, scale):
    """The second sequence of a batch goes on where the first ended. Every sequence starts at position 0: add P[:T] to
    each of them.
    """
    return (scale * E[ids] + P[np.arange(ids.size).reshape(ids.shape)]).astype(E.dtype)


@misconception(
    "embed_with_positions",
    fails="every_sequence_starts_at_position_0",
    hint="got 9.25, expected 11.25. ids had shape (2, 3): sequences, then positions.",
)
@checked
def a_position_for_each_sequence(E, P, ids, scale):
    """Each sequence of a batch has one row of P for all its tokens. Positions run along the last axis of ids, not along
    the first.
    """
    rows = P[: ids.shape[-1]] if ids.ndim == 1 else P[: len(ids), None]
    return (scale * E[ids] + rows).astype(E.dtype)


@misconception(
    "embed_with_positions",
    fails=f"{BATCH} {LONG} {EMPTY}",
    hint="operands could not be broadcast together with shapes (2,3,2) (2,2) ",
)
def length_of_the_batch(E, P, ids, scale=1.0):
    """len(ids) was taken for T. In a batch it is the number of sequences: T is ids.shape[-1]."""
    if len(P) < len(ids):
        raise ValueError(f"a sequence has {len(ids)} positions, and P has rows for {len(P)}")
    return (scale * E[ids] + P[: len(ids)]).astype(E.dtype)


@misconception(
    "embed_with_positions",
    fails=f"{BATCH} {EMPTY}",
    hint="operands could not be broadcast together with shapes (2,3,2) (2,2) ",
)
@checked
def rows_for_the_length_of_the_batch(E, P, ids, scale):
    """P[:len(ids)] takes as many rows as there are sequences in a batch. Take as many as there are positions:
    P[: ids.shape[-1]].
    """
    return (scale * E[ids] + P[: len(ids)]).astype(E.dtype)


@misconception(
    "embed_with_positions",
    fails=f"{BATCH} {EMPTY}",
    hint="The shape is (3, 2); it should be (2, 3, 2). ids had shape (2, 3):",
)
def first_sequence_alone(E, P, ids, scale=1.0):
    """Only the first sequence of the batch was embedded. Every id of ids has its row in the result."""
    return embed_with_positions(E, P, ids[0] if ids.ndim > 1 else ids, scale)


@misconception(
    "embed_with_positions",
    fails=f"{LONG} {STRETCH}",
    hint="A sequence had 7 tokens and P 5 rows. Your function gave an answer all the",
)
@where_too_long
def last_row_again_and_again(E, P, ids, scale):
    """Positions without a row in P get the last one. There is no right row for them: raise ValueError."""
    places = np.minimum(np.arange(ids.shape[-1]), len(P) - 1)
    return (scale * E[ids] + P[places]).astype(E.dtype)


@misconception(
    "embed_with_positions",
    fails=f"{LONG} {STRETCH}",
    hint="A sequence had 7 tokens and P 5 rows. Your function gave an answer all the",
)
@where_too_long
def positions_begin_again(E, P, ids, scale):
    """Positions without a row in P begin again at row 0. There is no right row for them: raise ValueError."""
    return (scale * E[ids] + P[np.arange(ids.shape[-1]) % len(P)]).astype(E.dtype)


@misconception(
    "embed_with_positions",
    fails=f"{LONG} {STRETCH}",
    hint="A sequence had 7 tokens and P 5 rows. Your function gave an answer all the",
)
@where_too_long
def sequence_cut_off(E, P, ids, scale):
    """A sequence that is too long was cut to as many tokens as P has rows, and nobody is told. Raise ValueError."""
    return embed_with_positions(E, P, ids[..., : len(P)], scale)


@misconception(
    "embed_with_positions",
    fails="one_row_does_not_stretch",
    hint="A sequence had 3 tokens and P 1 row. NumPy stretches an array of one row",
)
@where_too_long
def left_to_numpy(E, P, ids, scale):
    """NumPy refuses a P that is too short, but for one of a single row, which it stretches over all positions. Compare
    T with len(P) yourself.
    """
    return (scale * E[ids] + P).astype(E.dtype)


@misconception(
    "embed_with_positions",
    fails=f"{LONG} {STRETCH}",
    hint="Your function raised IndexError; it should raise ValueError.",
)
@where_too_long
def index_error(E, P, ids, scale):
    """A sequence that is too long raises IndexError, as P[np.arange(T)] does by itself. It should be ValueError."""
    return (scale * E[ids] + P[np.arange(ids.shape[-1])]).astype(E.dtype)


@misconception(
    "embed_with_positions",
    fails=f"{LONG} {STRETCH}",
    hint="Your function raised AssertionError; it should raise ValueError.",
)
@where_too_long
def asserted(E, P, ids, scale):
    """The length is checked with assert, which raises AssertionError, and nothing at all under `python -O`. Write
    `raise ValueError(...)`.
    """
    raise AssertionError


@misconception(
    "embed_with_positions",
    fails="more_positions_than_rows",
    hint="The ValueError should hold both numbers, 7 positions and 5 rows; it says:",
)
@where_too_long
def neither_number_named(E, P, ids, scale):
    """The message says nothing of how long the sequence is, nor of how many rows P has. Put both numbers into it."""
    raise ValueError("the sequence is too long")


@misconception(
    "embed_with_positions",
    fails="more_positions_than_rows",
    hint="The ValueError should hold both numbers, 7 positions and 5 rows; it says:",
)
@where_too_long
def rows_not_named(E, P, ids, scale):
    """The message does not say how many rows P has. Put both numbers into it, len(P) beside T."""
    raise ValueError(f"a sequence of {ids.shape[-1]} is too long")


@misconception(
    "embed_with_positions",
    fails="more_positions_than_rows",
    hint="The ValueError should hold both numbers, 7 positions and 5 rows; it says:",
)
@where_too_long
def length_not_named(E, P, ids, scale):
    """The message does not say how long the sequence is. Put both numbers into it, T beside len(P)."""
    raise ValueError(f"P has only {len(P)} rows")


@misconception(
    "embed_with_positions", fails=f"{LONG} {STRETCH}", hint="a sequence has 5 positions, and P has rows for 5"
)
def last_row_refused(E, P, ids, scale=1.0):
    """A sequence of as many tokens as P has rows is refused. It fits: raise if T > len(P), not if T >= len(P)."""
    if ids.shape[-1] >= len(P):
        raise ValueError(f"a sequence has {ids.shape[-1]} positions, and P has rows for {len(P)}")
    return embed_with_positions(E, P, ids, scale)


@misconception("embed_with_positions", fails="no_tokens_or_no_sequences", hint="need at least one array to stack")
@checked
def sequences_stacked(E, P, ids, scale):
    """A batch of no sequences makes an empty list, and NumPy cannot stack it (ValueError). Index with all of ids at
    once: E[ids] takes any shape.
    """
    if ids.ndim == 1:
        return embed_with_positions(E, P, ids, scale)
    return np.stack([embed_with_positions(E, P, sequence, scale) for sequence in ids])


@misconception(
    "embed_with_positions",
    fails="no_tokens_or_no_sequences",
    hint="The shape is (0,); it should be (0, 3, 4). ids had shape (0, 3).",
)
@checked
def sequences_in_a_list(E, P, ids, scale):
    """A batch of no sequences makes an empty list, and np.array knows no shape of it. Index with all of ids at once:
    E[ids] takes any shape.
    """
    if ids.ndim == 1:
        return embed_with_positions(E, P, ids, scale)
    return np.array([embed_with_positions(E, P, sequence, scale) for sequence in ids])


@misconception(
    "embed_with_positions",
    fails="dtype_of_the_table_and_inputs",
    hint="The dtype is float64; it should be float32. E was float32, P float32, ids",
)
@checked
def widened(E, P, ids, scale):
    """The result is wider than the table: a float64 P, or a scale such as np.sqrt(d), makes float64 of float32. End
    with .astype(E.dtype).
    """
    return scale * E[ids] + P[: ids.shape[-1]]


@misconception(
    "embed_with_positions",
    fails="dtype_of_the_table_and_inputs",
    hint="The dtype is float64; it should be float32. E was float32, P float64, ids",
)
@checked
def dtype_of_the_positions(E, P, ids, scale):
    """The result has the dtype of P. It has that of E: end with .astype(E.dtype)."""
    return embed_with_positions(E, P, ids, scale).astype(P.dtype)


@misconception(
    "embed_with_positions",
    fails=f"{BATCH} {EMPTY} {INPUTS}",
    hint="non-broadcastable output operand with shape (3,2) doesn't match the",
)
@checked
def added_into_the_positions(E, P, ids, scale):
    """`+=` on P[:T] writes into P itself, which belongs to the caller, and does not work for a batch. Write
    scale * E[ids] + P[:T], which makes a new array.
    """
    H = P[: ids.shape[-1]]
    H += scale * E[ids]
    return H.astype(E.dtype)


@misconception(
    "embed_with_positions",
    fails="dtype_of_the_table_and_inputs",
    hint="With scale=2.0 your function changed E; work on a new array.",
)
@checked
def table_scaled_in_place(E, P, ids, scale):
    """`E *= scale` changes the table itself, which belongs to the caller: at the next call it is scaled twice. Write
    scale * E[ids].
    """
    E *= scale
    return embed_with_positions(E, P, ids)
