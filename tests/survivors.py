"""Mutants that pass every check, each with the reason why it is as right as the solution."""

DEFAULT_DTYPE = (
    "The sums are float64 for a float32 table, too; they are rounded to the table's dtype when they are put in."
)

NO_TEXT = "The docstring asks for the type of the exception, not for its text."
NEVER_CLIPPED = (
    "No quotient rounds to more than 127 in size: a float32 scale is off by less than a ten millionth. The limits "
    "stand there for the reader."
)

SURVIVORS = {
    "one_hot: return (np.expand_dims(ids, -1) == np.arange(V)).astype(np.float64) -> "
    "return (np.expand_dims(ids, -1) == np.arange(V)).astype(None)": "None is float64 to NumPy.",
    "sparse_sgd_step: g = np.zeros((len(rows), E.shape[1]), dtype=E.dtype) -> "
    "g = np.zeros((len(rows), E.shape[1]), dtype=None)": DEFAULT_DTYPE,
    "sparse_sgd_step: g = np.zeros((len(rows), E.shape[1]), dtype=E.dtype) -> "
    "g = np.zeros((len(rows), E.shape[1]), )": DEFAULT_DTYPE,
    "lazy_adam_step: g = np.zeros((len(rows), E.shape[1]), dtype=E.dtype) -> "
    "g = np.zeros((len(rows), E.shape[1]), dtype=None)": DEFAULT_DTYPE,
    "lazy_adam_step: g = np.zeros((len(rows), E.shape[1]), dtype=E.dtype) -> "
    "g = np.zeros((len(rows), E.shape[1]), )": DEFAULT_DTYPE,
    "embedding_bag_backward: raise ValueError(f\"mode must be 'mean' or 'sum', not {mode!r}\") -> "
    "raise ValueError(None)": NO_TEXT,
    'checked_lookup: if ids.dtype.kind not in "iu":  # signed and unsigned integers -> '
    'if ids.dtype.kind not in "XXiuXX":  # signed and unsigned integers': "No dtype is of kind X.",
    'checked_lookup: raise TypeError(f"ids must be integers; their dtype is {ids.dtype}") -> '
    "raise TypeError(None)": NO_TEXT,
    **{
        "quantize_rows: codes = np.rint(E / scales[:, None]).clip(-127, 127).astype(np.int8) -> "
        f"codes = np.rint(E / scales[:, None]).clip({limits}).astype(np.int8)": NEVER_CLIPPED
        for limits in ("None, 127", "-127, None", "-127, ", "-128, 127", "-127, 128")
    },
}
