"""`checked_lookup` against PyTorch's layer, against a plain loop, and on what NumPy would let through."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from inputs import FLOATS, INTEGERS, LAYOUTS, SEEDS, SHAPES, laid_out, odd_values, some_ids, tensor

from autograder.checks import tools
from autograder.exercises import exercise
from solutions import checked_lookup


@given(some_ids(), st.integers(0, 5), st.sampled_from(FLOATS), st.sampled_from(LAYOUTS))
def test_in_range_as_torch(drawn, d, dtype, layout):
    ids, V, rng = drawn
    E = laid_out(odd_values(rng, (V, d), dtype), layout)
    before = E.copy(), ids.copy()
    got = checked_lookup(E, ids)
    want = torch.nn.functional.embedding(tensor(ids), tensor(E)).numpy()
    np.testing.assert_array_equal(got, want, strict=True)
    assert not np.shares_memory(got, E)
    np.testing.assert_array_equal(E, before[0])
    np.testing.assert_array_equal(ids, before[1])


@st.composite
def any_ids(draw):
    """Ids of any shape, dtype and order in memory, of which some or all may be out of range; and V."""
    rng = np.random.default_rng(draw(SEEDS))
    V, dtype = draw(st.integers(1, 12)), draw(st.sampled_from(INTEGERS))
    info = np.iinfo(dtype)
    extremes = [info.min, info.max, V, V + 1, -1, -V, -V - 1]
    pool = [i for i in extremes if info.min <= i <= info.max] + list(range(V)) * draw(st.integers(1, 3))
    shape = draw(SHAPES)
    picked = rng.integers(len(pool), size=shape)
    values = np.array([pool[i] for i in picked.ravel()], dtype=dtype).reshape(shape)
    return np.array(values, order=draw(st.sampled_from("CF"))), V, rng


@given(any_ids(), st.integers(1, 4))
def test_refuses_what_torch_refuses_and_names_the_first(drawn, d):
    ids, V, rng = drawn
    E = odd_values(rng, (V, d), np.float64)
    in_order = [int(i) for i in ids.ravel(order="C").tolist()]
    outside = [i for i in in_order if not 0 <= i < V]
    in_int64 = np.array([min(i, 2**63 - 1) for i in in_order], dtype=np.int64).reshape(ids.shape)
    if not outside:
        np.testing.assert_array_equal(checked_lookup(E, ids), E[ids])
        return
    with pytest.raises(IndexError, match="index out of range in self"):
        torch.nn.functional.embedding(torch.from_numpy(in_int64), torch.from_numpy(E))
    with pytest.raises(IndexError) as caught:
        checked_lookup(E, ids)
    assert str(caught.value) == f"id {outside[0]} is out of range for a table of {V} rows"


NO_INTEGERS = [np.float16, np.float32, np.float64, np.complex128, np.bool_, object, "U3", "m8[s]"]


@pytest.mark.parametrize("dtype", NO_INTEGERS, ids=str)
@given(shape=SHAPES)
def test_other_dtypes_are_refused_unless_there_are_no_ids(dtype, shape):
    E = np.arange(6.0).reshape(2, 3)
    ids = np.ones(shape, dtype=np.int64).astype(dtype)
    if ids.size:
        with pytest.raises(TypeError, match="ids must be integers; their dtype is"):
            checked_lookup(E, ids)
    else:
        np.testing.assert_array_equal(checked_lookup(E, ids), np.zeros(shape + (3,)), strict=True)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_the_largest_id_of_a_dtype_reads_the_last_row(dtype):
    largest = min(int(np.iinfo(dtype).max), 2**17)
    E = np.arange(largest + 1.0)[:, None]
    assert checked_lookup(E, np.array([[0, largest]], dtype=dtype)).tolist() == [[[0.0], [largest]]]
    if largest == np.iinfo(dtype).max:
        with pytest.raises(IndexError, match=f"id {largest} is out of range for a table of {largest} rows"):
            checked_lookup(E[:-1], np.array([largest], dtype=dtype))


def test_an_empty_list_as_an_array():
    assert np.array([]).dtype == np.float64
    assert checked_lookup(np.ones((2, 3), np.float32), np.array([])).dtype == np.float32


def test_a_table_without_rows_has_no_valid_id():
    with pytest.raises(IndexError, match="id 0 is out of range for a table of 0 rows"):
        checked_lookup(np.zeros((0, 2)), np.array([0]))


def test_raised_by():
    assert tools.raised_by(int, "7") is None
    assert isinstance(tools.raised_by(int, "seven"), ValueError)
    with pytest.raises(SystemExit):
        tools.raised_by(exit)


def test_points():
    assert exercise("checked_lookup").points == 7
