"""Chapter 08: `sinusoidal_positions` and `embed_with_positions`."""

import math

import numpy as np
import torch

import solutions
from submissions import right, two_mistakes, wrong

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


@wrong("sinusoidal_positions", "odd_width", "There are 3 sines and 2 cosines")
def odd_width_refused(T, d):
    if d % 2:
        return np.zeros((T, d))
    return solutions.sinusoidal_positions(T, d)


@wrong("sinusoidal_positions", "no_positions_and_far_positions", "The shape is (1, 6); it should be (0, 6)")
def at_least_one_position(T, d):
    return solutions.sinusoidal_positions(max(T, 1), d)


@wrong("sinusoidal_positions", "odd_width", "Your function raised ValueError: d must be even")
def odd_width_raises(T, d):
    if d % 2:
        raise ValueError("d must be even")
    return solutions.sinusoidal_positions(T, d)


@wrong("sinusoidal_positions", ALL_SINES, "got 0.001, expected 0")
def off_by_a_thousandth(T, d):
    return solutions.sinusoidal_positions(T, d) + 1e-3


@wrong("sinusoidal_positions", f"{ORDER} odd_width", mistake="cosine_before_sine")
def side_by_side_the_wrong_way_round(T, d):
    angles = np.arange(T)[:, None] / 10_000 ** (np.arange(0, d, 2) / d)
    return side_by_side(np.cos(angles), np.sin(angles), d)


@wrong("sinusoidal_positions", ANGLES, mistake="exponent_without_the_two")
def pairs_over_the_width(T, d):
    return with_angles(T, d, lambda i: i / d)


@wrong("sinusoidal_positions", ANGLES, mistake="exponent_doubled")
def twos_counted_twice(T, d):
    """The loop that many tutorials have: i goes 0, 2, 4, ..., and the formula has 2 * i."""
    P = np.zeros((T, d))
    for t in range(T):
        for i in range(0, d, 2):
            P[t, i] = math.sin(t / 10_000 ** (2 * i / d))
            if i + 1 < d:
                P[t, i + 1] = math.cos(t / 10_000 ** (2 * i / d))
    return P


@wrong("sinusoidal_positions", ANGLES, mistake="column_for_pair")
def an_angle_for_the_sine_and_one_for_the_cosine(T, d):
    P = np.zeros((T, d))
    for i in range(0, d, 2):
        P[:, i] = np.sin(np.arange(T) / 10_000 ** (2 * i / d))
        if i + 1 < d:
            P[:, i + 1] = np.cos(np.arange(T) / 10_000 ** (2 * (i + 1) / d))
    return P


@wrong("sinusoidal_positions", ALL_SINES, mistake="positions_from_1")
def one_to_t(T, d):
    return with_angles(T, d, lambda i: 2 * i / d, first=1)


@wrong("sinusoidal_positions", "odd_width", mistake="odd_width_forgotten")
def odd_width_forgotten_in_columns(T, d):
    P = np.empty((T, d))
    angles = np.outer(np.arange(T), np.exp(-math.log(10_000) * np.arange(0, d, 2) / d))
    P[:, ::2], P[:, 1::2] = np.sin(angles), np.cos(angles)
    return P


@two_mistakes("sinusoidal_positions", "sines_first_then_cosines exponent_without_the_two")
def halves_and_no_two(T, d):
    angles = np.arange(T)[:, None] / 10_000 ** (np.arange((d + 1) // 2) / d)
    return np.concatenate([np.sin(angles), np.cos(angles[:, : d // 2])], axis=1)


@two_mistakes("sinusoidal_positions", "odd_width_forgotten no_positions_in_a_list")
def even_rows_in_a_list(T, d):
    rows = []
    for t in range(T):
        angles = t / 10_000 ** (np.arange(0, d, 2) / d)
        row = np.zeros(d)
        row[0::2] = np.sin(angles)
        row[1::2] = np.cos(angles)
        rows.append(row)
    return np.array(rows)


@two_mistakes("sinusoidal_positions", "positions_from_1 transposed")
def from_1_and_transposed(T, d):
    return with_angles(T, d, lambda i: 2 * i / d, first=1).T.copy()


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


@wrong("embed_with_positions", f"{ONE} {BATCH} {LONG} dtype_of_the_table_and_inputs", "whatever the tokens are")
def positions_looked_up_by_id(E, P, ids, scale=1.0):
    too_long(ids.shape[-1], P)
    places = np.minimum(ids, len(P) - 1)
    return (scale * E[ids] + P[places]).astype(E.dtype)


@wrong("embed_with_positions", "no_tokens_or_no_sequences", "ids had shape (0,)")
def empty_sequences_flattened(E, P, ids, scale=1.0):
    if ids.size == 0:
        return np.zeros((0, 0, E.shape[1]))
    return solutions.embed_with_positions(E, P, ids, scale)


@wrong("embed_with_positions", BATCH, mistake="positions_go_on_through_the_batch")
def flat_positions_from_the_start(E, P, ids, scale=1.0):
    too_long(ids.shape[-1], P)
    places = np.arange(ids.size).reshape(ids.shape) % len(P)
    return (scale * E[ids] + P[places]).astype(E.dtype)


@wrong("embed_with_positions", BATCH, mistake="a_position_for_each_sequence")
def positions_along_the_first_axis(E, P, ids, scale=1.0):
    too_long(ids.shape[-1], P)
    H = (scale * E[ids]).astype(E.dtype)
    if ids.ndim == 1:
        return (H + P[: len(ids)]).astype(E.dtype)
    for b in range(len(ids)):
        H[b] += P[b].astype(E.dtype)
    return H


@wrong("embed_with_positions", LONG, mistake="neither_number_named")
def a_bare_value_error(E, P, ids, scale=1.0):
    if ids.shape[-1] > len(P):
        raise ValueError
    return solutions.embed_with_positions(E, P, ids, scale)


@wrong("embed_with_positions", LONG, mistake="rows_not_named")
def the_length_alone(E, P, ids, scale=1.0):
    if ids.shape[-1] > len(P):
        raise ValueError(f"T={ids.shape[-1]} > max_len")
    return solutions.embed_with_positions(E, P, ids, scale)


@wrong("embed_with_positions", f"{LONG} one_row_does_not_stretch", mistake="asserted")
def assert_with_a_message(E, P, ids, scale=1.0):
    assert ids.shape[-1] <= len(P), f"{ids.shape[-1]} positions, {len(P)} rows"
    return solutions.embed_with_positions(E, P, ids, scale)


@wrong("embed_with_positions", f"{LONG} one_row_does_not_stretch", mistake="last_row_refused")
def less_than(E, P, ids, scale=1.0):
    if not ids.shape[-1] < len(P):
        raise ValueError(f"T must be less than {len(P)}, and is {ids.shape[-1]}")
    return solutions.embed_with_positions(E, P, ids, scale)


@wrong("embed_with_positions", f"{LONG} one_row_does_not_stretch", mistake="index_error")
def row_after_row(E, P, ids, scale=1.0):
    H = scale * E[ids]
    for t in range(ids.shape[-1]):
        H[..., t, :] += P[t]
    return H.astype(E.dtype)


@wrong("embed_with_positions", "scale_multiplies_tokens_alone", mistake="scale_times_the_sum")
def sum_in_place(E, P, ids, scale=1.0):
    too_long(ids.shape[-1], P)
    H = E[ids] + P[: ids.shape[-1]]
    H *= scale
    return H.astype(E.dtype)


@two_mistakes("embed_with_positions", "scale_times_the_sum left_to_numpy")
def sum_scaled_and_stretched(E, P, ids, scale=1.0):
    return (scale * (E[ids] + P[: ids.shape[-1]])).astype(E.dtype)


@two_mistakes("embed_with_positions", "widened left_to_numpy")
def one_line(E, P, ids, scale=1.0):
    return scale * E[ids] + P[: ids.shape[-1]]


@two_mistakes("embed_with_positions", "root_of_the_width_as_well widened")
def root_and_widened(E, P, ids, scale=1.0):
    too_long(ids.shape[-1], P)
    return scale * np.sqrt(E.shape[1]) * E[ids] + P[: ids.shape[-1]]


@two_mistakes("embed_with_positions", "positions_go_on_through_the_batch neither_number_named")
def goes_on_without_numbers(E, P, ids, scale=1.0):
    if ids.shape[-1] > len(P):
        raise ValueError("too long")
    return (scale * E[ids] + P[np.arange(ids.size).reshape(ids.shape) % len(P)]).astype(E.dtype)


@two_mistakes("embed_with_positions", "scale_ignored table_scaled_in_place")
def table_spoiled(E, P, ids, scale=1.0):
    H = solutions.embed_with_positions(E, P, ids)
    E *= scale
    return H
