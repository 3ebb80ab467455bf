"""What crosses between the grader and the student's process: plain data, never a pickle.

A message is a dictionary. On the wire it is a count of bytes (8, big-endian) and then that many: a count of JSON bytes
(4), the JSON, and NumPy arrays in NumPy's own file format, each after a count of its bytes (8). Both sides run this
file; what comes from a student's process may be any bytes, and `read` raises WireError for all that is not a message.
"""

import io
import json
from functools import lru_cache
from typing import Any, BinaryIO

import numpy as np

#: A message may not be longer. The largest answer that a check of this book asks for has a few kilobytes.
LIMIT = 64 * 2**20
#: Of an answer, this much may be JSON: read into lists of lists, it takes thirty times the memory.
ANSWER_LIMIT = 8 * 2**20
#: How deep tuples, lists and dictionaries may stand in each other.
DEPTH = 20


class WireError(Exception):
    """The other side sent something that is no message."""


class Other:
    """Stands for a value that does not cross: only the name of its type does.

    Attributes
    ----------
    kind : str
        Name of the type, such as ``"DataFrame"``.
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind


def write(stream: BinaryIO, message: dict[str, Any]) -> None:
    """Send a message.

    Raises
    ------
    WireError
        If it is longer than LIMIT.
    """
    arrays: list[bytes] = []
    text = json.dumps(_pack(message, arrays, 0)).encode()
    parts = [len(text).to_bytes(4, "big"), text]
    for each in arrays:
        parts += [len(each).to_bytes(8, "big"), each]
    data = b"".join(parts)
    if len(data) > LIMIT:
        raise WireError(f"a message of {len(data):,} bytes")
    stream.write(len(data).to_bytes(8, "big") + data)
    stream.flush()


def read(stream: BinaryIO, json_limit: int = LIMIT) -> dict[str, Any]:
    """Receive a message.

    Parameters
    ----------
    stream : BinaryIO
    json_limit : int
        How many bytes of it may be JSON.

    Raises
    ------
    EOFError
        If the other side is gone.
    WireError
        If what came is no message, or too long.
    """
    length = int.from_bytes(_exactly(stream, 8), "big")
    if length > LIMIT:
        raise WireError(f"a message of {length:,} bytes")
    data = io.BytesIO(_exactly(stream, length))
    try:
        size = int.from_bytes(_exactly(data, 4), "big")
        if size > json_limit:
            raise WireError(f"a message with {size:,} bytes of JSON")
        text = _exactly(data, size)
        arrays = []
        while length_of_array := data.read(8):
            arrays.append(_array(_exactly(data, int.from_bytes(length_of_array, "big"))))
        message = _unpack(json.loads(text), arrays, 0)
    except WireError:
        raise
    except Exception as error:  # the bytes may be anything
        raise WireError("bytes that are no message") from error
    if type(message) is not dict or not all(type(key) is str for key in message):
        raise WireError("a message of another form")
    return message


def _exactly(stream: BinaryIO, length: int) -> bytes:
    data = stream.read(length)
    if len(data) != length:
        raise EOFError
    return data


def _pack(value: Any, arrays: list[bytes], depth: int) -> list:
    """Turn a value into lists, strings and booleans, which JSON holds; arrays go into the list of arrays."""
    kind = type(value)
    if depth > DEPTH:
        return ["other", kind.__name__]
    if value is None:
        return ["none"]
    if kind is bool:
        return ["bool", value]
    if kind is int:
        return ["int", hex(value)]  # of any size
    if kind is float:
        return ["float", value.hex()]
    if kind is str:
        return ["str", value]
    if isinstance(value, tuple):  # a named tuple, too
        return ["tuple", [_pack(each, arrays, depth + 1) for each in tuple.__iter__(value)]]
    if kind is list:
        return ["list", [_pack(each, arrays, depth + 1) for each in value]]
    if kind is dict:
        return [
            "dict",
            [[_pack(key, arrays, depth + 1), _pack(each, arrays, depth + 1)] for key, each in value.items()],
        ]
    if kind is Other:
        return ["other", value.kind]
    if kind is np.ndarray or (isinstance(value, np.generic) and kind.__module__ == "numpy"):
        array = np.asarray(value)
        if array.dtype.hasobject or array.dtype.names:
            return ["other", f"NumPy array of dtype {array.dtype}"]
        if array.nbytes > LIMIT // 2:
            return ["other", f"NumPy array of shape {array.shape}, which is too large"]
        file = io.BytesIO()
        np.lib.format.write_array(file, array, version=(1, 0), allow_pickle=False)
        arrays.append(file.getvalue())
        return ["array" if kind is np.ndarray else "scalar", len(arrays) - 1]
    return ["other", kind.__name__]


def _unpack(packed: Any, arrays: list[np.ndarray], depth: int) -> Any:
    kind, *rest = packed
    if depth > DEPTH + 1:
        raise WireError("a message that is too deep")
    match kind:
        case "none":
            return None
        case "bool":
            return bool(rest[0])
        case "str":
            return writable(str(rest[0]))
        case "int":
            return int(rest[0], 16)
        case "float":
            return float.fromhex(rest[0])
        case "tuple":
            return tuple(_unpack(each, arrays, depth + 1) for each in rest[0])
        case "list":
            return [_unpack(each, arrays, depth + 1) for each in rest[0]]
        case "dict":
            return {_unpack(key, arrays, depth + 1): _unpack(each, arrays, depth + 1) for key, each in rest[0]}
        case "array":
            return arrays[rest[0]]
        case "scalar":
            return arrays[rest[0]][()]
        case "other":
            return Other(writable(str(rest[0])[:100]))
    raise WireError(f"a value of kind {repr(kind)[:50]}")


def writable(text: str) -> str:
    """A text without halves of surrogate pairs: no file, gradebook or terminal takes them."""
    return text.encode("utf-8", "replace").decode()


def _array(data: bytes) -> np.ndarray:
    """Read an array in NumPy's file format; its header may not ask for more than there is."""
    begin = 10 + int.from_bytes(data[8:10], "little")
    shape, fortran_order, dtype = _header(data[:begin])
    array = np.frombuffer(data, dtype, offset=begin).copy()
    if dtype.kind == "U" and array.nbytes:
        letters = array.view(dtype.str[0] + "u4")
        letters[(letters >= 0xD800) & (letters < 0xE000) | (letters > 0x10FFFF)] = ord("?")  # see writable
    return array.reshape(shape, order="F" if fortran_order else "C")


@lru_cache(maxsize=1000)  # NumPy compiles each header, which takes longer than all else that is done with an array
def _header(data: bytes) -> tuple[tuple[int, ...], bool, np.dtype]:
    file = io.BytesIO(data)
    if np.lib.format.read_magic(file) != (1, 0):
        raise WireError("an array of another version")
    shape, fortran_order, dtype = np.lib.format.read_array_header_1_0(file)
    return shape, fortran_order, _plain(dtype)


def _plain(dtype: np.dtype) -> np.dtype:
    if dtype.hasobject or dtype.names:
        raise WireError(f"an array of dtype {dtype}")
    return dtype
