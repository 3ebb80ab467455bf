"""Chapter 08: `sinusoidal_positions` and `embed_with_positions`."""

import math

import numpy as np
import torch

import solutions
from submissions import right, wrong

# ---- sinusoidal_positions ----


def side_by_side(first, second, d):
    """Columns of two arrays in turns, d of them."""
    return np.stack([first, second], axis=-1).reshape(len(first), 2 * first.shape[1])[:, :d]


right("sinusoidal_positions")(solutions.sinusoidal_positions)


@right("sinusoidal_positions")
def a_loop_over_every_cell(T, d):
    P = np.empty((T, d))
    for t in range(T):
        for j in range(d):
            angle = t / 10_000 ** ((j - j % 2) / d)
            P[t, j] = math.cos(angle) if j % 2 else math.sin(angle)
    return P


@right("sinusoidal_positions")
def exponentials_of_logarithms(T, d):
    """As most published code has it."""
    slow = np.exp(-np.arange(0, d, 2) * math.log(10_000) / d)
    angles = np.arange(T)[:, None] * slow
    return side_by_side(np.sin(angles), np.cos(angles), d)


@right("sinusoidal_positions")
def complex_hands(T, d):
    hands = np.exp(1j * np.outer(np.arange(T), 1e4 ** (-np.arange(0, d, 2) / d)))
    P = np.zeros((T, 2 * hands.shape[1]))
    P[:, ::2], P[:, 1::2] = hands.imag, hands.real
    return np.ascontiguousarray(P[:, :d])


@right("sinusoidal_positions")
def where_the_column_is_odd(T, d):
    t, j = np.indices((T, d))
    angle = t / np.power(10_000.0, 2 * (j // 2) / d)
    return np.where(j % 2, np.cos(angle), np.sin(angle))


@right("sinusoidal_positions")
def a_cosine_is_a_sine_a_quarter_ahead(T, d):
    j = np.arange(d)
    return np.sin(np.arange(T)[:, None] / 10_000 ** (j // 2 * 2 / d) + (j % 2) * np.pi / 2)


@right("sinusoidal_positions")
def in_double_precision_tensors(T, d):
    angles = torch.arange(T, dtype=torch.float64)[:, None] / 10_000 ** (torch.arange(0, d, 2, dtype=torch.float64) / d)
    P = torch.zeros(T, d, dtype=torch.float64)
    P[:, 0::2] = angles.sin()
    P[:, 1::2] = angles.cos()[:, : d // 2]
    return P.numpy()


def with_angles(T, d, exponent, first=0, base=10_000.0):
    """Sines and cosines that alternate, with the exponent of pair i as given."""
    i = np.arange((d + 1) // 2)
    angles = np.arange(first, first + T)[:, None] / base ** exponent(i)
    return side_by_side(np.sin(angles), np.cos(angles), d)


ORDER = "position_0_is_0_1_0_1 the_first_pair_is_the_fastest"
ANGLES = "sines_and_cosines_of_the_right_angles the_first_pair_is_the_fastest odd_width no_positions_and_far_positions"
ALL_SINES = f"position_0_is_0_1_0_1 {ANGLES}"


@wrong("sinusoidal_positions", ORDER, "The columns take turns: sine, cosine, sine, cosine")
def sines_first_then_cosines(T, d):
    P = solutions.sinusoidal_positions(T, d)
    return np.concatenate([P[:, 0::2], P[:, 1::2]], axis=1)


@wrong("sinusoidal_positions", f"{ORDER} odd_width", "got 1, expected 0")
def cosine_before_sine(T, d):
    angles = np.arange(T)[:, None] / 10_000 ** (np.arange(0, d, 2) / d)
    return side_by_side(np.cos(angles), np.sin(angles), d)


@wrong("sinusoidal_positions", ANGLES, "the exponent of pair i is 2 * i / 4")
def exponent_without_the_two(T, d):
    return with_angles(T, d, lambda i: i / d)


@wrong("sinusoidal_positions", ANGLES, "the exponent of pair i is 2 * i / 4")
def exponent_doubled(T, d):
    return with_angles(T, d, lambda i: 4 * i / d)


@wrong("sinusoidal_positions", ANGLES, "the numbers of each row were sorted")
def a_frequency_for_each_column(T, d):
    """The sine and the cosine of a pair have different angles."""
    t, j = np.indices((T, d))
    angle = t / 10_000 ** (j / d)
    return np.where(j % 2, np.cos(angle), np.sin(angle))


@wrong("sinusoidal_positions", ANGLES, "the exponent of pair i is")
def base_1000(T, d):
    return with_angles(T, d, lambda i: 2 * i / d, base=1_000.0)


@wrong("sinusoidal_positions", ALL_SINES, "got 0.841471, expected 0")
def positions_from_1(T, d):
    return with_angles(T, d, lambda i: 2 * i / d, first=1)


@wrong("sinusoidal_positions", ALL_SINES, "got 0, expected 1")
def sines_alone(T, d):
    return np.sin(np.arange(T)[:, None] / 10_000 ** (np.arange(d) // 2 * 2 / d))


@wrong("sinusoidal_positions", "the_first_pair_is_the_fastest", "later pairs are slower")
def slowest_pair_first(T, d):
    if d % 2:
        return solutions.sinusoidal_positions(T, d)
    return solutions.sinusoidal_positions(T, d).reshape(T, d // 2, 2)[:, ::-1].reshape(T, d)


@wrong("sinusoidal_positions", "odd_width", "There are 3 sines and 2 cosines")
def odd_width_refused(T, d):
    if d % 2:
        return np.zeros((T, d))
    return solutions.sinusoidal_positions(T, d)


@wrong("sinusoidal_positions", "odd_width", "There are 3 sines and 2 cosines")
def odd_width_of_the_next_even_table(T, d):
    return solutions.sinusoidal_positions(T, d + d % 2)[:, :d]


@wrong("sinusoidal_positions", "odd_width", "Your function raised ValueError: could not broadcast input array")
def odd_width_forgotten(T, d):
    angles = np.arange(T)[:, None] / 10_000 ** (np.arange(0, d, 2) / d)
    P = np.zeros((T, d))
    P[:, 0::2] = np.sin(angles)
    P[:, 1::2] = np.cos(angles)
    return P


@wrong("sinusoidal_positions", "no_positions_and_far_positions", "in float32 has only some three digits")
def angles_in_single_precision(T, d):
    slow = (10_000 ** (np.arange(0, d, 2) / d)).astype(np.float32)
    angles = (np.arange(T, dtype=np.float32)[:, None] / slow).astype(np.float64)
    return side_by_side(np.sin(angles), np.cos(angles), d)


@wrong("sinusoidal_positions", f"position_0_is_0_1_0_1 {ANGLES}", "The dtype is float32; it should be float64")
def a_table_of_single_precision(T, d):
    return solutions.sinusoidal_positions(T, d).astype(np.float32)


@wrong("sinusoidal_positions", "no_positions_and_far_positions", "The shape is (1, 6); it should be (0, 6)")
def at_least_one_position(T, d):
    return solutions.sinusoidal_positions(max(T, 1), d)


@wrong("sinusoidal_positions", f"position_0_is_0_1_0_1 {ANGLES}", "The shape is (4, 1); it should be (1, 4)")
def transposed(T, d):
    return np.ascontiguousarray(solutions.sinusoidal_positions(T, d).T)


# ---- embed_with_positions ----

right("embed_with_positions")(solutions.embed_with_positions)


def too_long(T, P):
    if len(P) < T:
        raise ValueError(f"T = {T} > {len(P)} rows")


@right("embed_with_positions")
def a_loop_over_positions(E, P, ids, scale=1.0):
    H = np.zeros((*ids.shape, E.shape[1]), dtype=E.dtype)
    too_long(ids.shape[-1], P)
    for t in range(ids.shape[-1]):
        H[..., t, :] = scale * E[ids[..., t]] + P[t]
    return H


@right("embed_with_positions")
def in_place_on_its_own_copy(E, P, ids, scale=1.0):
    T = ids.shape[-1]
    assert P.shape[1] == E.shape[1]
    if P.shape[0] < T:
        raise ValueError(f"P has {P.shape[0]} rows, which is too few for {T} positions")
    H = E[ids]
    H *= scale
    H += P[:T]
    return H


@right("embed_with_positions")
def two_lookups(E, P, ids, scale=1.0):
    """The positions as ids of their own, as PyTorch models have it."""
    T = ids.shape[-1]
    too_long(T, P)
    places = np.broadcast_to(np.arange(T), ids.shape)
    return (np.take(E, ids, axis=0) * scale + np.take(P, places, axis=0)).astype(E.dtype)


@right("embed_with_positions")
def an_index_error_made_a_value_error(E, P, ids, scale=1.0):
    T, d = ids.shape[-1], E.shape[1]
    out = np.empty((ids.size // T if T else 0, T, d), E.dtype)
    try:
        for b, sequence in enumerate(ids.reshape(-1, T) if T else []):
            for t, i in enumerate(sequence):
                out[b, t] = E[i] * scale + P[t]
    except IndexError as error:
        raise ValueError(f"{T} positions but {len(P)} rows") from error
    if len(P) < T:
        raise ValueError(f"{T} positions but {len(P)} rows")
    return out.reshape(*ids.shape, d)


@right("embed_with_positions")
def products_with_selection_matrices(E, P, ids, scale=1.0):
    T = ids.shape[-1]
    too_long(T, P)
    S = np.eye(len(E))[ids.reshape(-1)]
    where = np.eye(len(P))[np.arange(ids.size) % max(T, 1)]
    return (scale * (S @ E) + where @ P).reshape(*ids.shape, E.shape[1]).astype(E.dtype)


@right("embed_with_positions")
def numpy_compares_the_shapes(E, P, ids, scale=1.0):
    """P goes to as many rows as there are, and NumPy's own message holds both numbers; one row is dealt with apart."""
    T = ids.shape[-1]
    if len(P) == 1 < T:
        raise ValueError(f"{T} positions, 1 row")
    return (scale * E[ids] + P[:T]).astype(E.dtype)


@right("embed_with_positions")
def tensors(E, P, ids, scale=1.0):
    T = ids.shape[-1]
    too_long(T, P)
    H = torch.nn.functional.embedding(torch.tensor(ids.astype(np.int64)), torch.tensor(E)) * scale
    return (H + torch.tensor(P[:T]).to(H.dtype)).numpy().astype(E.dtype)


ONE = "row_of_the_token_plus_row_of_the_position"
BATCH = "every_sequence_starts_at_position_0"
LONG = "more_positions_than_rows"
FIT = f"{ONE} {BATCH} {LONG} one_row_does_not_stretch dtype_of_the_table_and_inputs"


@wrong("embed_with_positions", FIT, "Position 0 gets row 0 of P")
def positions_forgotten(E, P, ids, scale=1.0):
    too_long(ids.shape[-1], P)
    return (scale * E[ids]).astype(E.dtype)


@wrong("embed_with_positions", "scale_multiplies_tokens_alone", "P is added as it is")
def scale_times_the_sum(E, P, ids, scale=1.0):
    too_long(ids.shape[-1], P)
    return (scale * (E[ids] + P[: ids.shape[-1]])).astype(E.dtype)


@wrong("embed_with_positions", "scale_multiplies_tokens_alone", "should be 2 * E[ids]")
def scale_ignored(E, P, ids, scale=1.0):
    return solutions.embed_with_positions(E, P, ids)


@wrong("embed_with_positions", "scale_multiplies_tokens_alone", "should be 2 * E[ids]")
def scale_times_the_positions(E, P, ids, scale=1.0):
    return solutions.embed_with_positions(E, scale * P, ids)


@wrong("embed_with_positions", "scale_multiplies_tokens_alone", "should be 2 * E[ids]")
def divided_by_the_scale(E, P, ids, scale=1.0):
    return solutions.embed_with_positions(E, P, ids, 1 / scale)


@wrong(
    "embed_with_positions",
    f"{ONE} scale_multiplies_tokens_alone {BATCH} {LONG} one_row_does_not_stretch dtype_of_the_table_and_inputs",
    "whatever the tokens are",
)
def root_of_the_width_of_its_own(E, P, ids, scale=1.0):
    """Multiplies by sqrt(d) though the caller gives the scale: applied twice."""
    return solutions.embed_with_positions(E, P, ids, scale * np.sqrt(E.shape[1]))


@wrong("embed_with_positions", f"{ONE} {BATCH} {LONG} dtype_of_the_table_and_inputs", "whatever the tokens are")
def positions_looked_up_by_id(E, P, ids, scale=1.0):
    too_long(ids.shape[-1], P)
    places = np.minimum(ids, len(P) - 1)
    return (scale * E[ids] + P[places]).astype(E.dtype)


@wrong("embed_with_positions", BATCH, "sequences, then positions")
def positions_go_on_through_the_batch(E, P, ids, scale=1.0):
    too_long(ids.shape[-1], P)
    places = np.arange(ids.size).reshape(ids.shape) % len(P)
    return (scale * E[ids] + P[places]).astype(E.dtype)


@wrong("embed_with_positions", f"{BATCH} {LONG}", "ids had shape (2, 3)")
def a_row_for_each_sequence(E, P, ids, scale=1.0):
    if ids.ndim == 1:
        return solutions.embed_with_positions(E, P, ids, scale)
    return (scale * E[ids] + P[: len(ids)][:, None]).astype(E.dtype)


@wrong("embed_with_positions", f"{BATCH} no_tokens_or_no_sequences", "Your function raised ValueError: operands could")
def as_many_rows_as_sequences(E, P, ids, scale=1.0):
    """`P[:len(ids)]` is right for one sequence, and for a square batch."""
    too_long(ids.shape[-1], P)
    return (scale * E[ids] + P[: len(ids)]).astype(E.dtype)


@wrong("embed_with_positions", "more_positions_than_rows one_row_does_not_stretch", "gave an answer all the same")
def the_last_row_again_and_again(E, P, ids, scale=1.0):
    places = np.minimum(np.arange(ids.shape[-1]), len(P) - 1)
    return (scale * E[ids] + P[places]).astype(E.dtype)


@wrong("embed_with_positions", "more_positions_than_rows", "it should raise ValueError")
def an_index_error(E, P, ids, scale=1.0):
    if len(P) == 1 < ids.shape[-1]:
        raise ValueError("1 row")
    return (scale * E[ids] + P[np.arange(ids.shape[-1])]).astype(E.dtype)


@wrong("embed_with_positions", "more_positions_than_rows", "it says: 'the sequence is too long'")
def a_message_without_numbers(E, P, ids, scale=1.0):
    if ids.shape[-1] > len(P):
        raise ValueError("the sequence is too long")
    return solutions.embed_with_positions(E, P, ids, scale)


@wrong("embed_with_positions", "one_row_does_not_stretch", "NumPy stretches an array of one row over all positions")
def broadcasting_left_to_numpy(E, P, ids, scale=1.0):
    return (scale * E[ids] + P[: ids.shape[-1]]).astype(E.dtype)


@wrong("embed_with_positions", f"{LONG} one_row_does_not_stretch", "Your function raised ValueError: as many")
def no_room_for_the_last_row(E, P, ids, scale=1.0):
    if ids.shape[-1] >= len(P):
        raise ValueError("as many positions as rows")
    return solutions.embed_with_positions(E, P, ids, scale)


@wrong("embed_with_positions", "no_tokens_or_no_sequences", "ids had shape (0,)")
def empty_sequences_flattened(E, P, ids, scale=1.0):
    if ids.size == 0:
        return np.zeros((0, 0, E.shape[1]))
    return solutions.embed_with_positions(E, P, ids, scale)


@wrong("embed_with_positions", "dtype_of_the_table_and_inputs", "The dtype is float64; it should be float32")
def widened_by_the_positions(E, P, ids, scale=1.0):
    too_long(ids.shape[-1], P)
    return scale * E[ids] + P[: ids.shape[-1]]


@wrong("embed_with_positions", "dtype_of_the_table_and_inputs", "Your function changed P")
def added_to_the_positions_in_place(E, P, ids, scale=1.0):
    too_long(ids.shape[-1], P)
    H = (scale * E[ids] + P[: ids.shape[-1]]).astype(E.dtype)
    P += 1
    return H


@wrong("embed_with_positions", "dtype_of_the_table_and_inputs", "Your function changed E")
def the_table_scaled_in_place(E, P, ids, scale=1.0):
    H = solutions.embed_with_positions(E, P, ids, scale)
    E *= 1.5 * scale
    return H
