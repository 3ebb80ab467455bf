"""What crosses the pipe between grader and student arrives as it was; all else is refused, whatever the bytes are."""

import io
import json
import random
import sys
from pathlib import Path

import numpy as np
import pytest

from autograder.examine import outputs_of
from autograder.session import Session
from autograder.student import wire


@pytest.mark.parametrize(
    "value",
    [
        None, True, 0, -(10**300), 1.5, float("inf"), "text", (), [1, (2.5, None)], {"a": {1: "b"}},
        np.float32(2.5), np.int64(7), np.bool_(True),
    ],
    ids=repr,
)  # fmt: skip
def test_values_cross(value, tmp_path):
    got = there_and_back(value, tmp_path)
    assert got == value
    assert type(got) is type(value)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6.0).reshape(2, 3), np.asfortranarray(np.arange(6).reshape(2, 3)), np.zeros((0, 4), np.uint8),
        np.array(3), np.array(["ab", "c"]), np.array([1 + 2j]), np.arange(5)[::2], np.arange(3, dtype=">i4"),
    ],
    ids=repr,
)  # fmt: skip
def test_arrays_cross(array, tmp_path):
    got = there_and_back(array, tmp_path)
    np.testing.assert_array_equal(got, array)
    assert got.dtype == array.dtype
    assert got.flags.writeable
    assert got.flags.f_contiguous or not array.flags.f_contiguous


def there_and_back(value, folder):
    with open(folder / "pipe", "wb") as stream:
        wire.write(stream, {"value": value})
    with open(folder / "pipe", "rb") as stream:
        return wire.read(stream)["value"]


def test_half_of_a_surrogate_pair_becomes_a_question_mark(tmp_path):
    assert there_and_back(["a\ud800"], tmp_path) == ["a?"]
    for order in "<>":
        array = np.array([["a\ud800", ""]]).astype(order + "U2")
        assert there_and_back(array, tmp_path).tolist() == [["a?", ""]]


def message_with(text: bytes, *arrays: bytes) -> bytes:
    """The bytes of a message."""
    data = len(text).to_bytes(4, "big") + text + b"".join(len(each).to_bytes(8, "big") + each for each in arrays)
    return len(data).to_bytes(8, "big") + data


def test_an_answer_may_not_take_gigabytes_when_it_is_read():
    data = message_with(b'["dict", [[["str", "a"], ["list", [' + b"[]," * 3_000_000 + b"[]]]]]]")
    with pytest.raises(wire.WireError, match=r"9,000,0\d\d bytes of JSON"):
        wire.read(io.BytesIO(data), wire.ANSWER_LIMIT)


# Any bytes


class Answer:
    """A student's process that has sent these bytes and closed the pipe; see `autograder.process.Process`."""

    def __init__(self, data: bytes) -> None:
        self.stdin, self.stdout = io.BytesIO(), io.BytesIO(data)

    def kill(self):
        pass

    def how_it_ended(self, seconds):
        return "by the test"


def take(data: bytes) -> None:
    """Whatever comes, a cell has an outcome in its form, and a call returns plain data or raises an exception."""
    with Session(Path(), launch=lambda: Answer(data)) as session:
        told = session.run("x")
        assert told is None or [*map(type, told.values())] in ([list, str, str, int], [list, str, int])
        assert told is None or all(type(each) is str for each in told["kinds"])
        notebook = {"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
        cell = {"cell_type": "code", "source": "", "metadata": {}, "execution_count": None, "id": "a"}
        notebook["cells"].append(cell | {"outputs": outputs_of(session.outputs)})
        json.dumps(notebook).encode()
    with Session(Path(), launch=lambda: Answer(data)) as session:
        E = np.arange(6.0).reshape(3, 2)
        try:
            result = session.function("f")(E, ids=np.arange(3))
        except Exception as error:  # it stands where the exception of a student's function would
            str(error).encode()
            return
        assert E.shape in ((3, 2), (2, 3), (6,), (6, 1), (1, 6)) or E.size == 6
        assert E.dtype == np.float64
        is_plain(result)


def is_plain(value) -> None:
    if isinstance(value, (tuple, list)):
        for each in value:
            is_plain(each)
    elif type(value) is dict:
        for key, each in value.items():
            is_plain(key)
            is_plain(each)
    elif isinstance(value, (np.ndarray, np.generic)):
        assert not value.dtype.hasobject
        assert not value.dtype.names
    else:  # the last is what stands for a value of another type
        assert value is None or type(value) in (bool, int, float, str) or vars(type(value)).keys() <= EMPTY


EMPTY = vars(type("Empty", (), {})).keys()


def array_bytes(rng: random.Random) -> bytes:
    """An array in NumPy's file format; now and then its header lies."""
    file = io.BytesIO()
    np.lib.format.write_array(file, rng.choice(ARRAYS), version=(1, 0))
    data = file.getvalue()
    for _ in range(rng.random() < 0.1):
        data = data.replace(rng.choice([b"(", b"<f8", b"False", b"'descr'", b"\1\0"]), rng.choice(LIES), 1)
    return data


ARRAYS = [
    np.arange(3.0), np.arange(6.0).reshape(3, 2), np.arange(6)[::2], np.zeros((0, 9), "<U3"), np.array("x\ud800"),
    np.array([True, False]), np.array(["2026-11-30"], "M8[D]"), np.full((2, 3), np.nan), np.ones(2, ">c16"),
    np.zeros(2, "S0"), np.zeros(3, "V4"), np.asfortranarray(np.ones((3, 2))),
]  # fmt: skip
LIES = [
    b"(-1,",
    b"(9**99,",
    b"(1000000000000,",
    b"[",
    b"|O",
    b"<U99999999",
    b"(2,2)<f8",
    b"|V0",
    b"1",
    b"\2\0",
    b"\xff",
]


def packed(rng: random.Random, depth: int = 0):
    """A packed value; now and then it is of another type than it says."""
    if rng.random() < 0.02:
        return rng.choice(WRONG)
    if depth > 4 or rng.random() < 0.4:
        return rng.choice(RIGHT)
    some = [packed(rng, depth + 1) for _ in range(rng.randrange(4))]
    if rng.random() < 0.6:
        return [rng.choice(["list", "tuple"]), some]
    return ["dict", [[["str", rng.choice(KEYS)], each] for each in some]]


RIGHT = [
    ["none"], ["bool", True], ["int", "0x7"], ["int", "-0x" + "f" * 6000], ["float", "inf"], ["str", "a\ud800\0"],
    ["str", "0"], ["array", 0], ["array", 1], ["array", -1], ["scalar", 1],
    ["other", "A\0"], ["list", [["str", "\0"], ["str", "UnicodeDecodeError"]]],
    ["list", [["tuple", [["int", "0x0"], ["str", "0"], ["int", "0x8"], ["tuple", [["int", "0x8"]]]]]]],
    ["list", [["dict", [[["str", "output_type"], ["str", "stream"]], [["str", "name"], ["str", "stdout"]]]]]],
]  # fmt: skip
WRONG = [
    ["int", "x"], ["int", 7], ["float", None], ["str", 5], ["array", "x"],
    ["other", 5], ["nothing"], [], None, 5, "none", {}, ["list", 5], ["dict", [[["list", []], ["none"]]]], ["tuple"],
]  # fmt: skip
KEYS = [
    "result", "raised", "after", "shares", "outputs", "missing", "kinds", "text", "line", "number", "0", "ids",
    "output_type", "name", "data", "ename", "evalue", "traceback",
]  # fmt: skip


def answer(rng: random.Random) -> bytes:
    """Bytes that are nearly an answer: of the right form and wrong inside, or right and then changed."""
    reply = ["dict", [[["str", key], packed(rng)] for key in rng.sample(KEYS[:6], rng.randrange(1, 5))]]
    data = bytearray(message_with(json.dumps(reply).encode(), *(array_bytes(rng) for _ in range(rng.randrange(2, 4)))))
    for _ in range(rng.choice([0, 0, 0, 0, 1, 3])):
        data[rng.randrange(len(data))] = rng.randrange(256)
    return bytes(data[: rng.randrange(len(data))] if rng.random() < 0.05 else data)


def fuzz(count: int, seed: int = 0) -> None:
    rng = random.Random(seed)
    for number in range(count):
        data = answer(rng)
        try:
            take(data)
        except BaseException:
            print(f"answer {number} of seed {seed}: {data!r}", file=sys.stderr)
            raise


def test_an_output_of_arrays_is_none():
    assert outputs_of([{"output_type": np.zeros(2), "name": np.zeros(2)}, np.zeros(2), 5]) == []


def test_whatever_a_process_sends_is_an_answer_or_refused():
    fuzz(3_000)


def test_an_array_may_not_claim_more_than_it_brings(tmp_path):
    with open(tmp_path / "pipe", "wb") as stream:
        wire.write(stream, {"a": np.zeros(4)})
    data = (tmp_path / "pipe").read_bytes()
    assert data.count(b"(4,), }   ") == 1
    (tmp_path / "pipe").write_bytes(data.replace(b"(4,), }   ", b"(4000,), }"))
    with open(tmp_path / "pipe", "rb") as stream, pytest.raises(wire.WireError):
        wire.read(stream)


def test_a_pickle_does_not_cross(tmp_path):
    assert type(there_and_back(np.array([{}]), tmp_path)) is wire.Other
    assert type(there_and_back(print, tmp_path)) is wire.Other
