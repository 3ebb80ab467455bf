"""Known mistakes of chapter 04: training a table."""

from collections.abc import Callable
from functools import wraps

import numpy as np

from autograder.misconceptions import misconception
from solutions import embedding_backward, lazy_adam_step, sparse_sgd_step

SGD_ALL = (
    "rows_that_occur_take_a_step repeats_add_up decay_reaches_only_rows_that_occur "
    "a_row_that_repeats_decays_once a_row_with_gradient_zero_decays any_shape_of_ids a_table_of_its_own"
)
ADAM_ALL = (
    "the_first_step averages_of_rows_that_occur rows_that_do_not_occur_stand_still "
    "repeats_add_up_before_squaring the_correction_counts_every_step eps_stands_beside_the_root "
    "a_row_with_gradient_zero_steps any_shape_of_ids_or_none arrays_of_their_own"
)
DECAY = (
    "decay_reaches_only_rows_that_occur a_row_that_repeats_decays_once a_row_with_gradient_zero_decays "
    "a_table_of_its_own"
)
STEP = "the_first_step the_correction_counts_every_step eps_stands_beside_the_root a_row_with_gradient_zero_steps"
ADAM_REPEATS = "repeats_add_up_before_squaring a_row_with_gradient_zero_steps"
SGD_REPEATS = "repeats_add_up a_row_that_repeats_decays_once a_row_with_gradient_zero_decays"


def summed(E, ids, grad_out):
    """Distinct ids, and the sum of the upstream rows of each."""
    rows = np.unique(ids)
    return rows, embedding_backward(ids, grad_out, len(E)).astype(E.dtype)[rows]


# sparse_sgd_step


def stepping(rule: Callable) -> Callable:
    """A step that gives each row that occurs what `rule(E[rows], g, lr, weight_decay)` says."""

    @wraps(rule)
    def function(E, ids, grad_out, lr, weight_decay=0.0):
        rows, g = summed(E, ids, grad_out)
        new = E.copy()
        new[rows] = rule(E[rows], g, lr, weight_decay)
        return new

    return function


@misconception("sparse_sgd_step", fails=SGD_REPEATS, hint="`E[ids] -= lr * grad_out` keeps one of them only")
def fancy_index_trap(E, ids, grad_out, lr, weight_decay=0.0):
    """This is the fancy-indexing trap: `E[ids] -= ...` keeps one upstream row of an id that repeats, not their sum.
    Add up first, with np.add.at.
    """
    new = E.copy()
    new[ids] -= lr * (grad_out + weight_decay * E[ids])
    return new


@misconception("sparse_sgd_step", fails=SGD_REPEATS, hint="Row 2 occurs three times")
def first_of_the_repeats(E, ids, grad_out, lr, weight_decay=0.0):
    """An id that repeats has only its first upstream row; g is the sum of the rows at all its positions."""
    rows, first = np.unique(ids, return_index=True)
    return sparse_sgd_step(E, rows, grad_out.reshape(ids.size, E.shape[1])[first], lr, weight_decay)


@misconception(
    "sparse_sgd_step",
    fails="repeats_add_up a_row_that_repeats_decays_once",
    hint="its gradient is the sum of upstream rows 0, 2 and 3",
)
def mean_of_the_repeats(E, ids, grad_out, lr, weight_decay=0.0):
    """An id that repeats takes a step with the mean of its upstream rows. The chain rule adds them up: do not divide
    by how often the id stands there.
    """
    rows, g = summed(E, ids, grad_out)
    count = np.bincount(ids.ravel(), minlength=len(E))[rows]
    return sparse_sgd_step(E, rows, (g / count[:, None]).astype(E.dtype), lr, weight_decay)


@misconception(
    "sparse_sgd_step",
    fails="rows_that_occur_take_a_step repeats_add_up decay_reaches_only_rows_that_occur "
    "a_row_that_repeats_decays_once any_shape_of_ids",
    hint="got 0.475, expected 0.45",
)
def mean_over_the_positions(E, ids, grad_out, lr, weight_decay=0.0):
    """The gradient was divided by the number of ids. If the loss is a mean, grad_out holds that factor already: add
    up, and do not divide.
    """
    return sparse_sgd_step(E, ids, grad_out / np.maximum(ids.size, 1).astype(E.dtype), lr, weight_decay)


@misconception("sparse_sgd_step", fails=SGD_ALL, hint="Row ids[n] becomes E[ids[n]] - lr * grad_out[n]")
@stepping
def without_learning_rate(E, g, lr, weight_decay):
    """The learning rate is missing: a row goes down by lr times (g + weight_decay * E[i])."""
    return E - (g + weight_decay * E)


@misconception("sparse_sgd_step", fails=SGD_ALL, hint="Row ids[n] becomes E[ids[n]] - lr * grad_out[n]")
@stepping
def upwards(E, g, lr, weight_decay):
    """The step goes up the gradient. To lower the loss, subtract lr times the gradient."""
    return E + lr * (g + weight_decay * E)


@misconception(
    "sparse_sgd_step",
    fails="decay_reaches_only_rows_that_occur a_row_that_repeats_decays_once a_row_with_gradient_zero_decays "
    "any_shape_of_ids a_table_of_its_own",
    hint="A row that does not occur does not decay",
)
def dense_decay(E, ids, grad_out, lr, weight_decay=0.0):
    """All rows decay, those that do not occur too. Here only rows whose id occurs take a step: leave the others as
    they are.
    """
    grad = embedding_backward(ids, grad_out, len(E))
    return E - lr * (grad + weight_decay * E)


@misconception(
    "sparse_sgd_step", fails=DECAY, hint="weight_decay * E[i] is added to the gradient of each row that occurs"
)
@stepping
def no_decay(E, g, lr, weight_decay):
    """The decay is missing: add weight_decay * E[i] to the gradient of each row that occurs."""
    return E - lr * g


@misconception("sparse_sgd_step", fails=DECAY, hint="lr multiplies both")
@stepping
def decay_without_learning_rate(E, g, lr, weight_decay):
    """The decay is not multiplied by lr. Both terms are: E[i] - lr * (g + weight_decay * E[i])."""
    return E - (lr * g + weight_decay * E)


@misconception("sparse_sgd_step", fails=DECAY, hint="weight_decay * E[i] is added")
@stepping
def decay_away_from_zero(E, g, lr, weight_decay):
    """The decay pushes rows away from zero: its sign is wrong. weight_decay * E[i] is added to the gradient, and lr
    times the sum is subtracted.
    """
    return E - lr * (g - weight_decay * E)


@misconception(
    "sparse_sgd_step",
    fails="decay_reaches_only_rows_that_occur a_row_that_repeats_decays_once a_table_of_its_own",
    hint="weight_decay * E[i] is added",
)
@stepping
def decay_of_the_row_after_the_step(E, g, lr, weight_decay):
    """The decay is taken of the row after its gradient step. Both terms use the old row: E[i] - lr * (g +
    weight_decay * E[i]).
    """
    new = E - lr * g
    return new - lr * weight_decay * new


@misconception("sparse_sgd_step", fails=DECAY, hint="weight_decay * E[i] is added")
@stepping
def twice_the_decay(E, g, lr, weight_decay):
    """The decay is twice as strong as it should be, as the derivative of weight_decay * E**2 is. The formula has
    weight_decay * E[i], without a 2.
    """
    return E - lr * (g + 2 * weight_decay * E)


@misconception(
    "sparse_sgd_step",
    fails="a_row_that_repeats_decays_once a_row_with_gradient_zero_decays",
    hint="The decay term belongs to the row, not to the position",
)
def decay_at_each_position(E, ids, grad_out, lr, weight_decay=0.0):
    """A row whose id repeats decays once for each position. It takes one step: add up its upstream rows, then decay
    once.
    """
    new = E.copy()
    np.subtract.at(new, ids, lr * (grad_out + weight_decay * E[ids]))
    return new


@misconception(
    "sparse_sgd_step", fails="a_row_with_gradient_zero_decays", hint="Find the rows from ids, not from the gradient"
)
def rows_from_the_gradient(E, ids, grad_out, lr, weight_decay=0.0):
    """A row that occurs with a gradient of zero was left out. It still decays: find the rows from ids, not from
    where the gradient differs from zero.
    """
    grad = embedding_backward(ids, grad_out, len(E))
    rows = np.flatnonzero(grad.any(axis=1))
    new = E.copy()
    new[rows] -= lr * (grad[rows] + weight_decay * E[rows])
    return new


@misconception(
    "sparse_sgd_step", fails=SGD_ALL, hint="Row ids[n] becomes E[ids[n]] - lr * grad_out[n]. Return the whole table"
)
def other_rows_zero(E, ids, grad_out, lr, weight_decay=0.0):
    """Rows that do not occur came back as zeros. They keep their values: begin with E.copy(), not with zeros."""
    rows, g = summed(E, ids, grad_out)
    new = np.zeros_like(E)
    new[rows] = E[rows] - lr * (g + weight_decay * E[rows])
    return new


@misconception("sparse_sgd_step", fails=SGD_ALL, hint="Return the whole table")
def change_instead_of_the_table(E, ids, grad_out, lr, weight_decay=0.0):
    """You return the change, not the table: what should come back is the new E, the change added."""
    return sparse_sgd_step(E, ids, grad_out, lr, weight_decay) - E


@misconception("sparse_sgd_step", fails=SGD_ALL, hint="The shape is (2, 2); it should be (4, 2)")
def only_the_rows_that_occur(E, ids, grad_out, lr, weight_decay=0.0):
    """You return only the rows that occur. The answer is the whole table: copy E and write these rows into it."""
    rows, g = summed(E, ids, grad_out)
    return E[rows] - lr * (g + weight_decay * E[rows])


@misconception(
    "sparse_sgd_step",
    fails="repeats_add_up decay_reaches_only_rows_that_occur a_row_that_repeats_decays_once any_shape_of_ids",
    hint="Row 2 occurs three times",
)
def id_0_taken_for_padding(E, ids, grad_out, lr, weight_decay=0.0):
    """Row 0 takes no step, as a padding row would. Here id 0 is an id like any other."""
    new = sparse_sgd_step(E, ids, grad_out, lr, weight_decay)
    new[0] = E[0]
    return new


@misconception("sparse_sgd_step", fails="any_shape_of_ids", hint="Treat ids of shape (B, T) as one list")
def first_sequence_of_the_batch(E, ids, grad_out, lr, weight_decay=0.0):
    """Only the first sequence of the batch takes part. Every position of ids passes its upstream row on."""
    if ids.ndim > 1:
        ids, grad_out = ids[0], grad_out[0]
    return sparse_sgd_step(E, ids, grad_out, lr, weight_decay)


@misconception("sparse_sgd_step", fails="a_table_of_its_own", hint="Your function changed E: work on a copy")
def in_place(E, ids, grad_out, lr, weight_decay=0.0):
    """Your function changed E itself, and E belongs to the caller. Begin with E.copy(): `new = E` and `new = E[:]`
    are the same memory.
    """
    rows, g = summed(E, ids, grad_out)
    E[rows] -= lr * (g + weight_decay * E[rows])
    return E


@misconception("sparse_sgd_step", fails="a_table_of_its_own", hint="For ids [] the result is E itself or a view of it")
def the_same_table_where_nothing_occurs(E, ids, grad_out, lr, weight_decay=0.0):
    """Where there are no ids you return E itself. The result is an array of its own there too: return E.copy()."""
    return sparse_sgd_step(E, ids, grad_out, lr, weight_decay) if ids.size else E


@misconception("sparse_sgd_step", fails="a_table_of_its_own", hint="Your function changed grad_out")
def grad_out_scaled_in_place(E, ids, grad_out, lr, weight_decay=0.0):
    """Your function multiplies grad_out itself by lr, and grad_out belongs to the caller. Write `lr * grad_out`,
    which makes a new array.
    """
    new = E.copy()
    grad_out *= lr
    np.subtract.at(new, ids, grad_out)
    rows = np.unique(ids)
    new[rows] -= lr * weight_decay * E[rows]
    return new


@misconception(
    "sparse_sgd_step", fails="a_table_of_its_own", hint="The dtype is float64; it should be float32. E was float32"
)
def double_precision(E, ids, grad_out, lr, weight_decay=0.0):
    """The new table is float64 whatever E was: np.zeros makes float64, and a sum with it is float64 too. Give
    np.zeros the dtype of E.
    """
    grad, occurs = np.zeros(E.shape), np.zeros((len(E), 1))
    np.add.at(grad, ids, grad_out)
    occurs[ids.ravel()] = 1
    return E - lr * (grad + weight_decay * E * occurs)


@misconception(
    "sparse_sgd_step",
    fails="rows_that_occur_take_a_step repeats_add_up decay_reaches_only_rows_that_occur "
    "a_row_that_repeats_decays_once",
    hint="Row ids[n] becomes E[ids[n]] - lr * grad_out[n]",
)
def integer_accumulator(E, ids, grad_out, lr, weight_decay=0.0):
    """The gradient was added up in integers, which cut off all after the decimal point. Give np.zeros the dtype of
    E.
    """
    grad = np.zeros(E.shape, dtype=int)
    np.add.at(grad, ids, grad_out)
    rows = np.unique(ids)
    return sparse_sgd_step(E, rows, grad[rows].astype(E.dtype), lr, weight_decay)


# lazy_adam_step


def averaged(m, v, g, beta1, beta2):
    """The new averages."""
    return beta1 * m + (1 - beta1) * g, beta2 * v + (1 - beta2) * g**2


def correction(step, beta1, beta2):
    """What lr is multiplied by."""
    return (1 - beta2**step) ** 0.5 / (1 - beta1**step)


def lazily(rule: Callable) -> Callable:
    """A lazy step that applies `rule(E, m, v, g, step, lr, beta1, beta2, eps)` to the rows that occur."""

    @wraps(rule)
    def function(E, m, v, step, ids, grad_out, lr=1e-3, beta1=0.9, beta2=0.999, eps=1e-8):
        E, m, v = E.copy(), m.copy(), v.copy()
        rows, g = summed(E, ids, grad_out)
        E[rows], m[rows], v[rows] = rule(E[rows], m[rows], v[rows], g, step, lr, beta1, beta2, eps)
        return E, m, v

    return function


def of_right_averages(size: Callable) -> Callable:
    """A lazy step with the right m and v, that subtracts `size(m, v, step, lr, beta1, beta2, eps)` from E."""

    @wraps(size)
    def rule(E, m, v, g, step, lr, beta1, beta2, eps):
        m, v = averaged(m, v, g, beta1, beta2)
        return E - size(m, v, step, lr, beta1, beta2, eps), m, v

    return lazily(rule)


@misconception("lazy_adam_step", fails="rows_that_do_not_occur_stand_still", hint="no step, and no averaging either")
def dense_adam(E, m, v, step, ids, grad_out, lr=1e-3, beta1=0.9, beta2=0.999, eps=1e-8):
    """This is Adam over the whole table: rows that do not occur are averaged with a gradient of zero, and m moves
    them on. Here they stand still: write only rows whose id occurs.
    """
    m, v = averaged(m, v, embedding_backward(ids, grad_out, len(E)), beta1, beta2)
    return E - lr * correction(step, beta1, beta2) * m / (np.sqrt(v) + eps), m, v


@misconception(
    "lazy_adam_step", fails="rows_that_do_not_occur_stand_still", hint="These are rows of m whose ids do not occur"
)
def averages_decay_everywhere(E, m, v, step, ids, grad_out, lr=1e-3, beta1=0.9, beta2=0.999, eps=1e-8):
    """Rows that do not occur keep E, but their m and v shrink. They keep all three: average only rows whose id
    occurs.
    """
    new_E, new_m, new_v = lazy_adam_step(E, m, v, step, ids, grad_out, lr, beta1, beta2, eps)
    absent = ~np.isin(np.arange(len(E)), ids)
    new_m[absent] *= beta1
    new_v[absent] *= beta2
    return new_E, new_m, new_v


@misconception("lazy_adam_step", fails=ADAM_REPEATS, hint="so g is [3, 3]")
def averages_of_repeats_trapped(E, m, v, step, ids, grad_out, lr=1e-3, beta1=0.9, beta2=0.999, eps=1e-8):
    """This is the fancy-indexing trap: `m[ids] = ...` keeps one upstream row of an id that repeats, not their sum.
    Add up first, with np.add.at.
    """
    E, m, v = E.copy(), m.copy(), v.copy()
    m[ids], v[ids] = averaged(m[ids], v[ids], grad_out, beta1, beta2)
    rows = np.unique(ids)
    E[rows] -= lr * correction(step, beta1, beta2) * m[rows] / (np.sqrt(v[rows]) + eps)
    return E, m, v


@misconception("lazy_adam_step", fails=ADAM_REPEATS, hint="add up first, then square")
def squares_before_adding(E, m, v, step, ids, grad_out, lr=1e-3, beta1=0.9, beta2=0.999, eps=1e-8):
    """The squares were taken before the repeats were added up. v averages the square of the sum: add up first, then
    square once.
    """
    E, m, v = E.copy(), m.copy(), v.copy()
    rows, g = summed(E, ids, grad_out)
    _, squares = summed(E, ids, grad_out**2)
    m[rows] = beta1 * m[rows] + (1 - beta1) * g
    v[rows] = beta2 * v[rows] + (1 - beta2) * squares
    E[rows] -= lr * correction(step, beta1, beta2) * m[rows] / (np.sqrt(v[rows]) + eps)
    return E, m, v


@misconception("lazy_adam_step", fails=ADAM_REPEATS, hint="add up first")
def one_step_for_each_position(E, m, v, step, ids, grad_out, lr=1e-3, beta1=0.9, beta2=0.999, eps=1e-8):
    """A row takes a step at each position of its id. It takes one step: add up its upstream rows first, then average
    and step once.
    """
    E, m, v = E.copy(), m.copy(), v.copy()
    for position in np.ndindex(ids.shape):
        one = np.array([ids[position]]), grad_out[position][None]
        E, m, v = lazy_adam_step(E, m, v, step, *one, lr, beta1, beta2, eps)
    return E, m, v


@misconception("lazy_adam_step", fails="repeats_add_up_before_squaring", hint="so g is [3, 3]")
def mean_for_sum(E, m, v, step, ids, grad_out, lr=1e-3, beta1=0.9, beta2=0.999, eps=1e-8):
    """An id that repeats has the mean of its upstream rows as g. The chain rule adds them up: do not divide by how
    often the id stands there.
    """
    rows, g = summed(E, ids, grad_out)
    count = np.bincount(ids.ravel(), minlength=len(E))[rows]
    return lazy_adam_step(E, m, v, step, rows, (g / count[:, None]).astype(E.dtype), lr, beta1, beta2, eps)


@misconception("lazy_adam_step", fails=STEP, hint="makes of them a step of lr")
@of_right_averages
def no_correction(m, v, step, lr, beta1, beta2, eps):
    """The bias correction is missing: multiply lr by sqrt(1 - beta2**step) / (1 - beta1**step)."""
    return lr * m / (np.sqrt(v) + eps)


@misconception("lazy_adam_step", fails=STEP, hint="makes of them a step of lr")
@of_right_averages
def correction_without_root(m, v, step, lr, beta1, beta2, eps):
    """The root is missing in the bias correction. v is a square, and so its part is sqrt(1 - beta2**step)."""
    return lr * (1 - beta2**step) / (1 - beta1**step) * m / (np.sqrt(v) + eps)


@misconception("lazy_adam_step", fails=STEP, hint="makes of them a step of lr")
@of_right_averages
def correction_of_m_only(m, v, step, lr, beta1, beta2, eps):
    """The bias correction corrects m only. v starts at zero too: multiply by sqrt(1 - beta2**step)."""
    return lr / (1 - beta1**step) * m / (np.sqrt(v) + eps)


@misconception(
    "lazy_adam_step",
    fails="the_correction_counts_every_step eps_stands_beside_the_root a_row_with_gradient_zero_steps",
    hint="The correction is sqrt(1 - beta2**step) / (1 - beta1**step)",
)
@of_right_averages
def correction_of_the_first_step_always(m, v, step, lr, beta1, beta2, eps):
    """The bias correction is that of step 1 at every step: raise beta1 and beta2 to the power of step."""
    return lr * correction(1, beta1, beta2) * m / (np.sqrt(v) + eps)


@misconception("lazy_adam_step", fails=STEP, hint="In step 1, m is (1 - beta1) * g")
@of_right_averages
def step_counted_from_0(m, v, step, lr, beta1, beta2, eps):
    """The bias correction is that of the next step: step counts from 1 already, so do not add 1."""
    return lr * correction(step + 1, beta1, beta2) * m / (np.sqrt(v) + eps)


@misconception("lazy_adam_step", fails="eps_stands_beside_the_root", hint="not after v was divided by 1 - beta2**step")
@of_right_averages
def eps_beside_the_corrected_root(m, v, step, lr, beta1, beta2, eps):
    """Your eps is added after v was divided by 1 - beta2**step, as in dense Adam. Here, as in SparseAdam, the divisor
    is sqrt(v) + eps with v as it is stored.
    """
    return lr * m / (1 - beta1**step) / (np.sqrt(v / (1 - beta2**step)) + eps)


@misconception("lazy_adam_step", fails="eps_stands_beside_the_root", hint="not under the root")
@of_right_averages
def eps_under_the_root(m, v, step, lr, beta1, beta2, eps):
    """The eps is added under the root. It stands beside it: sqrt(v) + eps."""
    return lr * correction(step, beta1, beta2) * m / np.sqrt(v + eps)


@misconception("lazy_adam_step", fails=STEP, hint="makes of them a step of lr")
@of_right_averages
def no_root(m, v, step, lr, beta1, beta2, eps):
    """The step is divided by v and not by its root. The divisor is sqrt(v) + eps."""
    return lr * correction(step, beta1, beta2) * m / (v + eps)


@misconception("lazy_adam_step", fails=STEP, hint="got 0.6, expected 0.4")
@of_right_averages
def ascent(m, v, step, lr, beta1, beta2, eps):
    """The step goes up the gradient. To lower the loss, subtract it from E."""
    return -lr * correction(step, beta1, beta2) * m / (np.sqrt(v) + eps)


@misconception(
    "lazy_adam_step",
    fails="the_first_step the_correction_counts_every_step eps_stands_beside_the_root",
    hint="whatever the size of g",
)
@lazily
def step_of_the_old_averages(E, m, v, g, step, lr, beta1, beta2, eps):
    """E moves by the old m and v. Average first, and use the new m and v for the step."""
    return E - lr * correction(step, beta1, beta2) * m / (np.sqrt(v) + eps), *averaged(m, v, g, beta1, beta2)


@misconception("lazy_adam_step", fails=STEP, hint="whatever the size of g")
@lazily
def step_of_the_gradient(E, m, v, g, step, lr, beta1, beta2, eps):
    """E moves by the gradient of this step. It moves by m, the running average."""
    m, v = averaged(m, v, g, beta1, beta2)
    return E - lr * correction(step, beta1, beta2) * g / (np.sqrt(v) + eps), m, v


@misconception(
    "lazy_adam_step",
    fails="the_first_step averages_of_rows_that_occur repeats_add_up_before_squaring "
    "the_correction_counts_every_step eps_stands_beside_the_root any_shape_of_ids_or_none",
    hint="whatever the size of g",
)
@lazily
def sums_for_averages(E, m, v, g, step, lr, beta1, beta2, eps):
    """The new gradient enters m and v with weight 1. Its weights are 1 - beta1 and 1 - beta2, so that m and v are
    averages.
    """
    m, v = beta1 * m + g, beta2 * v + g**2
    return E - lr * correction(step, beta1, beta2) * m / (np.sqrt(v) + eps), m, v


@misconception(
    "lazy_adam_step",
    fails="the_first_step averages_of_rows_that_occur the_correction_counts_every_step "
    "eps_stands_beside_the_root a_row_with_gradient_zero_steps any_shape_of_ids_or_none",
    hint="In step 1, m is (1 - beta1) * g",
)
@lazily
def weights_swapped(E, m, v, g, step, lr, beta1, beta2, eps):
    """The weights of old and new are swapped: beta1 and beta2 weigh the old averages, 1 - beta1 and 1 - beta2 what
    is new.
    """
    m, v = (1 - beta1) * m + beta1 * g, (1 - beta2) * v + beta2 * g**2
    return E - lr * correction(step, beta1, beta2) * m / (np.sqrt(v) + eps), m, v


@misconception(
    "lazy_adam_step",
    fails="averages_of_rows_that_occur the_correction_counts_every_step eps_stands_beside_the_root "
    "a_row_with_gradient_zero_steps any_shape_of_ids_or_none",
    hint="beta1 is the weight of the old average",
)
@lazily
def betas_swapped(E, m, v, g, step, lr, beta1, beta2, eps):
    """The rates are swapped: beta1 belongs to m, and beta2 to v."""
    m, v = averaged(m, v, g, beta2, beta1)
    return E - lr * correction(step, beta2, beta1) * m / (np.sqrt(v) + eps), m, v


@misconception(
    "lazy_adam_step",
    fails="averages_of_rows_that_occur repeats_add_up_before_squaring eps_stands_beside_the_root "
    "a_row_with_gradient_zero_steps",
    hint="beta1 is the weight of the old average",
)
@lazily
def betas_written_as_numbers(E, m, v, g, step, lr, beta1, beta2, eps):
    """Your function uses 0.9 and 0.999 whatever beta1 and beta2 are. These are the defaults; use the arguments."""
    m, v = averaged(m, v, g, 0.9, 0.999)
    return E - lr * correction(step, 0.9, 0.999) * m / (np.sqrt(v) + eps), m, v


@misconception(
    "lazy_adam_step",
    fails="averages_of_rows_that_occur repeats_add_up_before_squaring eps_stands_beside_the_root "
    "a_row_with_gradient_zero_steps any_shape_of_ids_or_none",
    hint="The second array is m",
)
@lazily
def corrected_averages_kept(E, m, v, g, step, lr, beta1, beta2, eps):
    """You return m and v after their bias correction. The next step needs them uncorrected: keep the corrected ones
    for this step only.
    """
    m, v = averaged(m, v, g, beta1, beta2)
    m, v = m / (1 - beta1**step), v / (1 - beta2**step)
    return E - lr * m / (np.sqrt(v) + eps), m, v


@misconception("lazy_adam_step", fails="a_row_with_gradient_zero_steps", hint="Find the rows from ids")
def rows_with_a_gradient(E, m, v, step, ids, grad_out, lr=1e-3, beta1=0.9, beta2=0.999, eps=1e-8):
    """A row that occurs with a gradient of zero was left out. It still averages and moves: find the rows from ids,
    not from where the gradient differs from zero.
    """
    grad = embedding_backward(ids, grad_out, len(E))
    rows = np.flatnonzero(grad.any(axis=1))
    return lazy_adam_step(E, m, v, step, rows, grad[rows], lr, beta1, beta2, eps)


@misconception("lazy_adam_step", fails="any_shape_of_ids_or_none", hint="The ids had shape (2, 2)")
def first_sequence_only(E, m, v, step, ids, grad_out, lr=1e-3, beta1=0.9, beta2=0.999, eps=1e-8):
    """Only the first sequence of the batch takes part. Every position of ids passes its upstream row on."""
    if ids.ndim > 1:
        ids, grad_out = ids[0], grad_out[0]
    return lazy_adam_step(E, m, v, step, ids, grad_out, lr, beta1, beta2, eps)


@misconception(
    "lazy_adam_step",
    fails="averages_of_rows_that_occur rows_that_do_not_occur_stand_still repeats_add_up_before_squaring "
    "a_row_with_gradient_zero_steps any_shape_of_ids_or_none",
    hint="The second array is m",
)
def v_before_m(E, m, v, step, ids, grad_out, lr=1e-3, beta1=0.9, beta2=0.999, eps=1e-8):
    """You return E, v and m. The order is E, m, v."""
    new_E, new_m, new_v = lazy_adam_step(E, m, v, step, ids, grad_out, lr, beta1, beta2, eps)
    return new_E, new_v, new_m


@misconception("lazy_adam_step", fails=ADAM_ALL, hint="In step 1, m is (1 - beta1) * g")
def averages_before_the_table(E, m, v, step, ids, grad_out, lr=1e-3, beta1=0.9, beta2=0.999, eps=1e-8):
    """You return m, v and E, in the order in which they are computed. The order is E, m, v."""
    new_E, new_m, new_v = lazy_adam_step(E, m, v, step, ids, grad_out, lr, beta1, beta2, eps)
    return new_m, new_v, new_E


@misconception("lazy_adam_step", fails=ADAM_ALL, hint="Your function should return a tuple of three arrays")
def table_alone(E, m, v, step, ids, grad_out, lr=1e-3, beta1=0.9, beta2=0.999, eps=1e-8):
    """You return the new E alone. The next step needs m and v too: return E, m, v."""
    return lazy_adam_step(E, m, v, step, ids, grad_out, lr, beta1, beta2, eps)[0]


@misconception("lazy_adam_step", fails=ADAM_ALL, hint="The shape is (2, 2); it should be (4, 2)")
def rows_without_the_table(E, m, v, step, ids, grad_out, lr=1e-3, beta1=0.9, beta2=0.999, eps=1e-8):
    """You return only the rows that occur. The answers are whole tables: copy E, m and v and write these rows into
    the copies.
    """
    rows = np.unique(ids)
    new = lazy_adam_step(E, m, v, step, ids, grad_out, lr, beta1, beta2, eps)
    return tuple(array[rows] for array in new)


@misconception(
    "lazy_adam_step", fails="arrays_of_their_own", hint="Your function changed the E that it was given: copy it first"
)
def all_three_in_place(E, m, v, step, ids, grad_out, lr=1e-3, beta1=0.9, beta2=0.999, eps=1e-8):
    """Your function changed E, m and v themselves, and they belong to the caller. Begin with copies of all three."""
    E[...], m[...], v[...] = lazy_adam_step(E, m, v, step, ids, grad_out, lr, beta1, beta2, eps)
    return E, m, v


@misconception(
    "lazy_adam_step", fails="arrays_of_their_own", hint="Your function changed the m that it was given: copy it first"
)
def averages_in_place(E, m, v, step, ids, grad_out, lr=1e-3, beta1=0.9, beta2=0.999, eps=1e-8):
    """Your function copies E, but changes m and v themselves. They belong to the caller too: copy all three."""
    new, m[...], v[...] = lazy_adam_step(E, m, v, step, ids, grad_out, lr, beta1, beta2, eps)
    return new, m, v


@misconception(
    "lazy_adam_step", fails="arrays_of_their_own", hint="For ids [] the new E is an array that was given: return a copy"
)
def the_same_arrays_where_nothing_occurs(E, m, v, step, ids, grad_out, lr=1e-3, beta1=0.9, beta2=0.999, eps=1e-8):
    """Where there are no ids you return the arrays that were given. The results are arrays of their own there too:
    copy them.
    """
    if ids.size == 0:
        return E, m, v
    return lazy_adam_step(E, m, v, step, ids, grad_out, lr, beta1, beta2, eps)


@misconception("lazy_adam_step", fails="arrays_of_their_own", hint="The dtype is float64; it should be float32")
def double_precision_throughout(E, m, v, step, ids, grad_out, lr=1e-3, beta1=0.9, beta2=0.999, eps=1e-8):
    """The results are float64 whatever E was: np.zeros makes float64, and what is computed with it is float64 too.
    Give np.zeros the dtype of E.
    """
    E, m, v, grad_out = (array.astype(np.float64) for array in (E, m, v, grad_out))
    return lazy_adam_step(E, m, v, step, ids, grad_out, lr, beta1, beta2, eps)
