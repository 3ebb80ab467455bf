"""Random calls of each exercise, other than those of its checks: what a mutant is compared with a mistake on."""

from typing import Any

import numpy as np
from hypothesis import strategies as st
from inputs import FLOATS, INTEGERS, SEEDS, SHAPES, odd_values, some_ids

Arguments = dict[str, Any]


@st.composite
def one_hot(draw: st.DrawFn) -> Arguments:
    ids, V, _ = draw(some_ids())
    return {"ids": ids, "V": V}


@st.composite
def embedding_forward(draw: st.DrawFn) -> Arguments:
    ids, V, rng = draw(some_ids())
    return {"E": odd_values(rng, (V, draw(st.integers(1, 4))), draw(st.sampled_from(FLOATS))), "ids": ids}


@st.composite
def embedding_backward(draw: st.DrawFn) -> Arguments:
    ids, V, rng = draw(some_ids())
    grad_out = odd_values(rng, (*ids.shape, draw(st.integers(1, 4))), draw(st.sampled_from(FLOATS)))
    padding = draw(st.sampled_from([{}, {"padding_idx": None}, *({"padding_idx": i} for i in range(-V, V))]))
    return {"ids": ids, "grad_out": grad_out, "V": V, **padding}


@st.composite
def sparse_sgd_step(draw: st.DrawFn) -> Arguments:
    ids, V, rng = draw(some_ids())
    d, dtype = draw(st.integers(1, 4)), draw(st.sampled_from(FLOATS))
    decay = draw(st.sampled_from([{}, {"weight_decay": 0.0}, {"weight_decay": 0.3}]))
    E, grad_out = odd_values(rng, (V, d), dtype), odd_values(rng, (*ids.shape, d), dtype)
    return {"E": E, "ids": ids, "grad_out": grad_out, "lr": draw(st.sampled_from([0.01, 0.5])), **decay}


@st.composite
def lazy_adam_step(draw: st.DrawFn) -> Arguments:
    ids, V, rng = draw(some_ids())
    d, dtype = draw(st.integers(1, 4)), draw(st.sampled_from(FLOATS))
    E, m, grad_out = (odd_values(rng, shape, dtype) for shape in ((V, d), (V, d), (*ids.shape, d)))
    more = draw(st.sampled_from([{}, {"lr": 0.1, "beta1": 0.5, "beta2": 0.75, "eps": 0.25}]))
    v, step = odd_values(rng, (V, d), dtype) ** 2, draw(st.integers(1, 20))
    return {"E": E, "m": m, "v": v, "step": step, "ids": ids, "grad_out": grad_out, **more}


@st.composite
def _bags(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, int, np.random.Generator]:
    rng = np.random.default_rng(draw(SEEDS))
    V, sizes = draw(st.integers(1, 9)), draw(st.lists(st.integers(0, 5), max_size=6))
    ids = rng.choice([0, V - 1, *range(V)], sum(sizes))
    return ids, np.cumsum([0, *sizes])[: len(sizes)], V, rng


@st.composite
def embedding_bag_mean(draw: st.DrawFn) -> Arguments:
    ids, offsets, V, rng = draw(_bags())
    E = odd_values(rng, (V, draw(st.integers(1, 4))), draw(st.sampled_from(FLOATS)))
    return {"E": E, "ids": ids, "offsets": offsets}


@st.composite
def embedding_bag_backward(draw: st.DrawFn) -> Arguments:
    ids, offsets, V, rng = draw(_bags())
    grad_out = odd_values(rng, (len(offsets), draw(st.integers(1, 4))), draw(st.sampled_from(FLOATS)))
    mode = draw(st.sampled_from([{}, {"mode": "mean"}, {"mode": "sum"}, {"mode": "max"}]))
    return {"ids": ids, "offsets": offsets, "grad_out": grad_out, "V": V, **mode}


@st.composite
def tied_bigram_loss_grad(draw: st.DrawFn) -> Arguments:
    rng = np.random.default_rng(draw(SEEDS))
    V, N = draw(st.integers(1, 9)), draw(st.integers(1, 12))
    E = draw(st.sampled_from([1.0, 30.0])) * odd_values(
        rng, (V, draw(st.integers(1, 4))), draw(st.sampled_from(FLOATS))
    )
    return {"E": E, "x": rng.integers(V, size=N), "y": rng.integers(V, size=N)}


@st.composite
def table_cost(draw: st.DrawFn) -> Arguments:
    sizes = st.integers(1, 10**12)
    more = draw(st.sampled_from([{}, {"factor_m": None}, {"factor_m": draw(sizes)}]))
    return {"V": draw(sizes), "d": draw(sizes), "tied": draw(st.booleans()), **more}


@st.composite
def factorized_forward(draw: st.DrawFn) -> Arguments:
    ids, V, rng = draw(some_ids())
    m, d, dtype = draw(st.integers(1, 4)), draw(st.integers(1, 4)), draw(st.sampled_from(FLOATS))
    return {"A": odd_values(rng, (V, m), dtype), "W": odd_values(rng, (m, d), dtype), "ids": ids}


@st.composite
def factorized_backward(draw: st.DrawFn) -> Arguments:
    ids, V, rng = draw(some_ids())
    m, d, dtype = draw(st.integers(1, 4)), draw(st.integers(1, 4)), draw(st.sampled_from(FLOATS))
    A, W, grad_out = (odd_values(rng, shape, dtype) for shape in ((V, m), (m, d), (*ids.shape, d)))
    return {"A": A, "W": W, "ids": ids, "grad_out": grad_out}


@st.composite
def quantize_rows(draw: st.DrawFn) -> Arguments:
    rng = np.random.default_rng(draw(SEEDS))
    V, d = draw(st.integers(1, 6)), draw(st.integers(1, 6))
    size = 10.0 ** rng.integers(-9, 9, (V, 1)) * rng.choice([0, 1, 1, 1], (V, 1))
    return {"E": odd_values(rng, (V, d), draw(st.sampled_from(FLOATS))) * size.astype(np.float32)}


@st.composite
def quantized_lookup(draw: st.DrawFn) -> Arguments:
    ids, V, rng = draw(some_ids())
    codes = rng.integers(-127, 128, (V, draw(st.integers(1, 4)))).astype(np.int8)
    scales = odd_values(rng, (V,), np.float32) ** 2
    scales[~np.isin(np.arange(V), ids)] = draw(st.sampled_from([1, np.inf, np.nan]))
    return {"codes": codes, "scales": scales, "ids": ids}


@st.composite
def checked_lookup(draw: st.DrawFn) -> Arguments:
    rng = np.random.default_rng(draw(SEEDS))
    V, dtype = draw(st.integers(1, 12)), draw(st.sampled_from([*INTEGERS, np.float64, np.bool_]))
    ids = rng.choice(draw(st.sampled_from([[0, V - 1], [*range(V), V, V + 9], [*range(V), -1, -V - 9]])), draw(SHAPES))
    E = odd_values(rng, (V, draw(st.integers(1, 4))), draw(st.sampled_from(FLOATS)))
    return {"E": E, "ids": np.array(ids.astype(dtype), order=draw(st.sampled_from("CF")))}


@st.composite
def sinusoidal_positions(draw: st.DrawFn) -> Arguments:
    return {"T": draw(st.integers(0, 9)), "d": draw(st.integers(1, 9))}


@st.composite
def embed_with_positions(draw: st.DrawFn) -> Arguments:
    rng = np.random.default_rng(draw(SEEDS))
    V, d, T = draw(st.integers(1, 9)), draw(st.integers(1, 4)), draw(st.integers(0, 5))
    ids = rng.integers(V, size=draw(st.sampled_from([(T,), (0, T), (1, T), (3, T)])))
    E = odd_values(rng, (V, d), draw(st.sampled_from(FLOATS)))
    P = odd_values(rng, (draw(st.integers(1, 7)), d), draw(st.sampled_from(FLOATS)))
    scale = draw(st.sampled_from([{}, {"scale": 1.0}, {"scale": 2.5}, {"scale": np.sqrt(d)}]))
    return {"E": E, "P": P, "ids": ids.astype(draw(st.sampled_from(INTEGERS))), **scale}
