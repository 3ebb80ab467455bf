"""Mutants that pass every check, each with the reason why it is as right as the solution."""

DEFAULT_DTYPE = (
    "The sums are float64 for a float32 table, too; they are rounded to the table's dtype when they are put in."
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
    "raise ValueError(None)": "The docstring asks for the type of the exception, not for its text.",
}
