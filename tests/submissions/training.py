"""Chapter 04: `sparse_sgd_step` and `lazy_adam_step`."""

import math

import numpy as np
import torch

import solutions
from submissions import right, two_mistakes, wrong

right("sparse_sgd_step")(solutions.sparse_sgd_step)
right("lazy_adam_step")(solutions.lazy_adam_step)


def summed(E, ids, grad_out):
    """Distinct ids, and the sum of the upstream rows of each."""
    grad = solutions.embedding_backward(ids, grad_out, len(E)).astype(E.dtype)
    rows = np.unique(ids)
    return rows, grad[rows]


# sparse_sgd_step: correct


@right("sparse_sgd_step")
def subtract_at_then_decay(E, ids, grad_out, lr, weight_decay=0.0):
    new = E.copy()
    np.subtract.at(new, ids, lr * grad_out)
    for i in set(ids.ravel().tolist()):
        new[i] -= lr * weight_decay * E[i]
    return new


@right("sparse_sgd_step")
def mask_over_the_whole_table(E, ids, grad_out, lr, weight_decay=0.0):
    grad = np.zeros_like(E)
    np.add.at(grad, ids, grad_out)
    occurs = np.zeros((len(E), 1), dtype=bool)
    occurs[ids.ravel()] = True
    return np.where(occurs, E - lr * (grad + weight_decay * E), E)


@right("sparse_sgd_step")
def dictionary_of_sums(E, ids, grad_out, lr, weight_decay=0.0):
    sums = {}
    for position in np.ndindex(ids.shape):
        i = int(ids[position])
        sums[i] = sums.get(i, 0) + grad_out[position]
    new = np.array(E)
    for i, g in sums.items():
        new[i] = E[i] - lr * (g + weight_decay * E[i])
    return new


@right("sparse_sgd_step")
def decay_first_then_gradient(E, ids, grad_out, lr, weight_decay=0.0):
    rows, g = summed(E, ids, grad_out)
    new = E.copy()
    new[rows] = (1 - lr * weight_decay) * E[rows] - lr * g
    return new


@right("sparse_sgd_step")
def sorted_and_reduceat(E, ids, grad_out, lr, weight_decay=0.0):
    new, flat = E.copy(), ids.ravel()
    if flat.size:
        order = np.argsort(flat, kind="stable")
        rows, starts = np.unique(flat[order], return_index=True)
        g = np.add.reduceat(grad_out.reshape(flat.size, -1)[order], starts, axis=0)
        new[rows] = new[rows] - lr * g - lr * weight_decay * new[rows]
    return new


@right("sparse_sgd_step")
def loop_over_all_rows(E, ids, grad_out, lr, weight_decay=0.0):
    new = []
    for i, row in enumerate(E):
        here = grad_out[ids == i]
        new.append(row - lr * (here.sum(axis=0) + weight_decay * row) if len(here) else row)
    return np.array(new, dtype=E.dtype)


@right("sparse_sgd_step")
def one_hot_product(E, ids, grad_out, lr, weight_decay=0.0):
    S = np.eye(len(E), dtype=E.dtype)[ids.ravel()]
    grad = S.T @ grad_out.reshape(ids.size, E.shape[1])
    decay = weight_decay * E * S.any(axis=0)[:, None]
    return (E - lr * (grad + decay)).astype(E.dtype)


# sparse_sgd_step: mistakes

SGD_ALL = (
    "rows_that_occur_take_a_step repeats_add_up decay_reaches_only_rows_that_occur a_row_that_repeats_decays_once "
    "a_row_with_gradient_zero_decays any_shape_of_ids a_table_of_its_own"
)
SGD_REPEATS = "repeats_add_up a_row_that_repeats_decays_once a_row_with_gradient_zero_decays"


@wrong("sparse_sgd_step", SGD_ALL.replace("a_row_with_gradient_zero_decays ", ""), "got 0.55, expected 0.45")
def up_the_gradient_and_decayed(E, ids, grad_out, lr, weight_decay=0.0):
    return solutions.sparse_sgd_step(E, ids, -grad_out, lr, weight_decay)


@wrong("sparse_sgd_step", "a_table_of_its_own", "A row that does not occur changed in its last bits")
def there_and_back(E, ids, grad_out, lr, weight_decay=0.0):
    new = solutions.sparse_sgd_step(E, ids, grad_out, lr, weight_decay)
    return ((new + 1) - 1).astype(E.dtype)


@wrong("sparse_sgd_step", "any_shape_of_ids", "The id had shape () and grad_out shape (d,)")
def not_a_single_id(E, ids, grad_out, lr, weight_decay=0.0):
    return solutions.sparse_sgd_step(E, ids, grad_out, lr, weight_decay) if ids.ndim else E.copy()


@wrong("sparse_sgd_step", SGD_ALL, "values are wrong")
def off_by_a_thousandth(E, ids, grad_out, lr, weight_decay=0.0):
    return solutions.sparse_sgd_step(E, ids, grad_out, lr, weight_decay) * E.dtype.type(1.001)


@wrong("sparse_sgd_step", SGD_REPEATS, mistake="fancy_index_trap")
def last_of_the_repeats(E, ids, grad_out, lr, weight_decay=0.0):
    last = {}
    for n, i in enumerate(ids.ravel().tolist()):
        last[i] = grad_out.reshape(ids.size, E.shape[1])[n]
    new = E.copy()
    for i, g in last.items():
        new[i] -= lr * (g + weight_decay * E[i])
    return new


@wrong("sparse_sgd_step", "a_row_with_gradient_zero_decays", mistake="rows_from_the_gradient")
def rows_of_some_size(E, ids, grad_out, lr, weight_decay=0.0):
    grad = solutions.embedding_backward(ids, grad_out, len(E))
    occurs = np.abs(grad).sum(axis=1, keepdims=True) > 0
    return np.where(occurs, E - lr * (grad + weight_decay * E), E)


@wrong("sparse_sgd_step", "a_table_of_its_own", mistake="in_place")
def a_view_for_a_copy(E, ids, grad_out, lr, weight_decay=0.0):
    new = E[:]
    rows, g = summed(E, ids, grad_out)
    new[rows] -= lr * (g + weight_decay * new[rows])
    return new


@wrong(
    "sparse_sgd_step",
    "a_row_that_repeats_decays_once a_row_with_gradient_zero_decays",
    mistake="decay_at_each_position",
)
def decay_times_the_count(E, ids, grad_out, lr, weight_decay=0.0):
    count = np.bincount(ids.ravel(), minlength=len(E)).astype(E.dtype)
    grad = solutions.embedding_backward(ids, grad_out, len(E))
    return (E - lr * (grad + count[:, None] * weight_decay * E)).astype(E.dtype)


# sparse_sgd_step: two mistakes at once


@two_mistakes("sparse_sgd_step", "fancy_index_trap dense_decay")
def trap_and_dense_decay(E, ids, grad_out, lr, weight_decay=0.0):
    new = E - lr * weight_decay * E
    new[ids] -= lr * grad_out
    return new


@two_mistakes("sparse_sgd_step", "decay_without_learning_rate in_place")
def decay_without_learning_rate_in_place(E, ids, grad_out, lr, weight_decay=0.0):
    rows, g = summed(E, ids, grad_out)
    E[rows] -= lr * g + weight_decay * E[rows]
    return E


@two_mistakes("sparse_sgd_step", "decay_of_the_row_after_the_step decay_away_from_zero")
def decay_of_the_row_after_the_step_with_the_wrong_sign(E, ids, grad_out, lr, weight_decay=0.0):
    rows, g = summed(E, ids, grad_out)
    new = E.copy()
    new[rows] -= lr * g
    new[rows] += lr * weight_decay * new[rows]
    return new


@two_mistakes("sparse_sgd_step", "upwards rows_from_the_gradient")
def upwards_where_there_is_a_gradient(E, ids, grad_out, lr, weight_decay=0.0):
    grad = solutions.embedding_backward(ids, grad_out, len(E))
    rows = np.flatnonzero(grad.any(axis=1))
    new = E.copy()
    new[rows] += lr * (grad[rows] + weight_decay * E[rows])
    return new


@two_mistakes("sparse_sgd_step", "mean_of_the_repeats no_decay")
def mean_without_decay(E, ids, grad_out, lr, weight_decay=0.0):
    rows, g = summed(E, ids, grad_out)
    new = E.copy()
    new[rows] -= (lr * g / np.bincount(ids.ravel(), minlength=len(E))[rows, None]).astype(E.dtype)
    return new


# lazy_adam_step: correct


@right("lazy_adam_step")
def list_of_copies(E, m, v, step, ids, grad_out, lr=1e-3, beta1=0.9, beta2=0.999, eps=1e-8):
    E, m, v = (array.copy() for array in (E, m, v))
    rows, g = summed(E, ids, grad_out)
    m[rows] += (1 - beta1) * (g - m[rows])
    v[rows] += (1 - beta2) * (g * g - v[rows])
    E[rows] -= lr * math.sqrt(1 - beta2**step) / (1 - beta1**step) * m[rows] / (np.sqrt(v[rows]) + eps)
    return [E, m, v]


@right("lazy_adam_step")
def row_by_row(E, m, v, step, ids, grad_out, lr=1e-3, beta1=0.9, beta2=0.999, eps=1e-8):
    E, m, v = E.copy(), m.copy(), v.copy()
    for i in set(ids.ravel().tolist()):
        g = grad_out[ids == i].sum(axis=0)
        m[i] = beta1 * m[i] + (1 - beta1) * g
        v[i] = beta2 * v[i] + (1 - beta2) * g**2
        E[i] -= lr * np.sqrt(1 - beta2**step) / (1 - beta1**step) * m[i] / (np.sqrt(v[i]) + eps)
    return E, m, v


@right("lazy_adam_step")
def where_an_id_occurs(E, m, v, step, ids, grad_out, lr=1e-3, beta1=0.9, beta2=0.999, eps=1e-8):
    g = solutions.embedding_backward(ids, grad_out, len(E))
    occurs = np.isin(np.arange(len(E)), ids)[:, None]
    new_m = np.where(occurs, beta1 * m + (1 - beta1) * g, m)
    new_v = np.where(occurs, beta2 * v + (1 - beta2) * g**2, v)
    update = new_m / (np.sqrt(new_v) + eps)
    new_E = E - np.where(occurs, lr * (1 - beta2**step) ** 0.5 / (1 - beta1**step) * update, 0)
    return new_E.astype(E.dtype), new_m, new_v


@right("lazy_adam_step")
def corrected_averages_and_scaled_eps(E, m, v, step, ids, grad_out, lr=1e-3, beta1=0.9, beta2=0.999, eps=1e-8):
    E, m, v = E.copy(), m.copy(), v.copy()
    rows, g = summed(E, ids, grad_out)
    m[rows] = beta1 * m[rows] + (1 - beta1) * g
    v[rows] = beta2 * v[rows] + (1 - beta2) * g**2
    first, second = m[rows] / (1 - beta1**step), v[rows] / (1 - beta2**step)
    E[rows] -= lr * first / (np.sqrt(second) + eps / math.sqrt(1 - beta2**step))
    return E, m, v


@right("lazy_adam_step")
def in_double_precision(E, m, v, step, ids, grad_out, lr=1e-3, beta1=0.9, beta2=0.999, eps=1e-8):
    wide = [array.astype(np.float64) for array in (E, m, v)]
    new = solutions.lazy_adam_step(*wide, step, ids, grad_out.astype(np.float64), lr, beta1, beta2, eps)
    return tuple(array.astype(E.dtype) for array in new)


@right("lazy_adam_step")
def torch_functional(E, m, v, step, ids, grad_out, lr=1e-3, beta1=0.9, beta2=0.999, eps=1e-8):
    E, m, v = (torch.tensor(array) for array in (E, m, v))
    flat = torch.tensor(ids.astype(np.int64)).reshape(1, -1)
    values = torch.tensor(grad_out).reshape(ids.size, E.shape[1])
    grad = torch.sparse_coo_tensor(flat, values, E.shape, check_invariants=True)
    torch.optim._functional.sparse_adam(
        [E], [grad], [m], [v], [step], eps=eps, beta1=beta1, beta2=beta2, lr=lr, maximize=False
    )
    return E.numpy(), m.numpy(), v.numpy()


# lazy_adam_step: mistakes

ADAM_ALL = (
    "the_first_step averages_of_rows_that_occur rows_that_do_not_occur_stand_still repeats_add_up_before_squaring "
    "the_correction_counts_every_step eps_stands_beside_the_root a_row_with_gradient_zero_steps "
    "any_shape_of_ids_or_none arrays_of_their_own"
)
STEP = "the_first_step the_correction_counts_every_step eps_stands_beside_the_root a_row_with_gradient_zero_steps"


def lazily(rule):
    """A lazy step that applies `rule(m, v, g, E, step, lr, beta1, beta2, eps)` to the rows that occur."""

    def lazy_adam_step(E, m, v, step, ids, grad_out, lr=1e-3, beta1=0.9, beta2=0.999, eps=1e-8):
        E, m, v = E.copy(), m.copy(), v.copy()
        rows, g = summed(E, ids, grad_out)
        E[rows], m[rows], v[rows] = rule(E[rows], m[rows], v[rows], g, step, lr, beta1, beta2, eps)
        return E, m, v

    lazy_adam_step.__name__ = rule.__name__
    return lazy_adam_step


def averaged(m, v, g, beta1, beta2):
    return beta1 * m + (1 - beta1) * g, beta2 * v + (1 - beta2) * g**2


@wrong("lazy_adam_step", "eps_stands_beside_the_root", "not under the root")
@lazily
def square_of_eps_under_the_root(E, m, v, g, step, lr, beta1, beta2, eps):
    m, v = averaged(m, v, g, beta1, beta2)
    return E - lr * (1 - beta2**step) ** 0.5 / (1 - beta1**step) * m / np.sqrt(v + eps**2), m, v


@wrong("lazy_adam_step", "the_correction_counts_every_step eps_stands_beside_the_root", "This was step 2")
def a_count_for_each_row(E, m, v, step, ids, grad_out, lr=1e-3, beta1=0.9, beta2=0.999, eps=1e-8):
    """Bias correction from 1 where a row has no average yet, as if the table had been idle before."""
    rows, g = summed(E, ids, grad_out)
    E, new_m, new_v = solutions.lazy_adam_step(E, m, v, step, rows, g, 0.0, beta1, beta2, eps)
    count = np.where(m[rows].any(axis=1, keepdims=True), float(step), 1.0)
    size = lr * np.sqrt(1 - beta2**count) / (1 - beta1**count)
    E[rows] -= (size * new_m[rows] / (np.sqrt(new_v[rows]) + eps)).astype(E.dtype)
    return E, new_m, new_v


@wrong("lazy_adam_step", "arrays_of_their_own", "Your function changed the E that it was given: copy it first")
def given_arrays_written_over(E, m, v, step, ids, grad_out, lr=1e-3, beta1=0.9, beta2=0.999, eps=1e-8):
    new = solutions.lazy_adam_step(E, m, v, step, ids, grad_out, lr, beta1, beta2, eps)
    E[...], m[...], v[...] = new
    return new


@wrong("lazy_adam_step", ADAM_ALL, "values are wrong")
def off_by_a_thousandth_of_everything(E, m, v, step, ids, grad_out, lr=1e-3, beta1=0.9, beta2=0.999, eps=1e-8):
    new = solutions.lazy_adam_step(E, m, v, step, ids, grad_out, lr, beta1, beta2, eps)
    return tuple(array * E.dtype.type(1.001) for array in new)


@wrong("lazy_adam_step", STEP, mistake="no_correction")
@lazily
def plain_averages(E, m, v, g, step, lr, beta1, beta2, eps):
    m, v = m + (1 - beta1) * (g - m), v + (1 - beta2) * (g * g - v)
    return E - lr * m / (v**0.5 + eps), m, v


@wrong("lazy_adam_step", "eps_stands_beside_the_root", mistake="eps_beside_the_corrected_root")
def dense_adam_of_torch(E, m, v, step, ids, grad_out, lr=1e-3, beta1=0.9, beta2=0.999, eps=1e-8):
    """What torch.optim.Adam does, on the rows that occur."""
    E, m, v = E.copy(), m.copy(), v.copy()
    rows, g = summed(E, ids, grad_out)
    m[rows], v[rows] = averaged(m[rows], v[rows], g, beta1, beta2)
    E[rows] -= lr / (1 - beta1**step) * m[rows] / (np.sqrt(v[rows]) / (1 - beta2**step) ** 0.5 + eps)
    return E, m, v


@wrong("lazy_adam_step", "arrays_of_their_own", mistake="all_three_in_place")
def rows_written_into_the_arguments(E, m, v, step, ids, grad_out, lr=1e-3, beta1=0.9, beta2=0.999, eps=1e-8):
    rows, g = summed(E, ids, grad_out)
    m[rows], v[rows] = averaged(m[rows], v[rows], g, beta1, beta2)
    E[rows] -= lr * (1 - beta2**step) ** 0.5 / (1 - beta1**step) * m[rows] / (np.sqrt(v[rows]) + eps)
    return E, m, v


@wrong("lazy_adam_step", ADAM_ALL, mistake="table_alone")
def no_averages_in_the_answer(E, m, v, step, ids, grad_out, lr=1e-3, beta1=0.9, beta2=0.999, eps=1e-8):
    E, m, v = E.copy(), m.copy(), v.copy()
    rows, g = summed(E, ids, grad_out)
    m[rows], v[rows] = averaged(m[rows], v[rows], g, beta1, beta2)
    E[rows] -= lr * (1 - beta2**step) ** 0.5 / (1 - beta1**step) * m[rows] / (np.sqrt(v[rows]) + eps)
    return E


# lazy_adam_step: two mistakes at once


@two_mistakes("lazy_adam_step", "no_correction eps_under_the_root")
@lazily
def no_correction_and_eps_under_the_root(E, m, v, g, step, lr, beta1, beta2, eps):
    m, v = averaged(m, v, g, beta1, beta2)
    return E - lr * m / np.sqrt(v + eps), m, v


@two_mistakes("lazy_adam_step", "averages_of_repeats_trapped no_correction")
def trap_without_correction(E, m, v, step, ids, grad_out, lr=1e-3, beta1=0.9, beta2=0.999, eps=1e-8):
    E, m, v = E.copy(), m.copy(), v.copy()
    m[ids], v[ids] = averaged(m[ids], v[ids], grad_out, beta1, beta2)
    E[ids] -= lr * m[ids] / (np.sqrt(v[ids]) + eps)
    return E, m, v


@two_mistakes("lazy_adam_step", "dense_adam eps_beside_the_corrected_root")
def adam_of_torch(E, m, v, step, ids, grad_out, lr=1e-3, beta1=0.9, beta2=0.999, eps=1e-8):
    m, v = averaged(m, v, solutions.embedding_backward(ids, grad_out, len(E)), beta1, beta2)
    return E - lr * m / (1 - beta1**step) / (np.sqrt(v / (1 - beta2**step)) + eps), m, v


@two_mistakes("lazy_adam_step", "betas_swapped v_before_m")
def everything_swapped(E, m, v, step, ids, grad_out, lr=1e-3, beta1=0.9, beta2=0.999, eps=1e-8):
    new_E, new_m, new_v = solutions.lazy_adam_step(E, m, v, step, ids, grad_out, lr, beta2, beta1, eps)
    return new_E, new_v, new_m
