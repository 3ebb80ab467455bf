"""The reference function of every exercise, one module a chapter.

Each body stands between the markers that nbgrader takes out. The stub on a chapter's page and the problem-set
notebook are generated from what is written here; the checks are in ``autograder/checks``.
"""

from solutions.backward import embedding_backward
from solutions.bags import embedding_bag_backward, embedding_bag_mean
from solutions.batches import embedding_forward
from solutions.counting import table_cost
from solutions.lookup import one_hot
from solutions.pitfalls import checked_lookup
from solutions.positions import embed_with_positions, sinusoidal_positions
from solutions.smaller import factorized_backward, factorized_forward, quantize_rows, quantized_lookup
from solutions.training import lazy_adam_step, sparse_sgd_step
from solutions.tying import tied_bigram_loss_grad

__all__ = [
    "one_hot",
    "embedding_forward",
    "embedding_backward",
    "sparse_sgd_step",
    "lazy_adam_step",
    "embedding_bag_mean",
    "embedding_bag_backward",
    "tied_bigram_loss_grad",
    "sinusoidal_positions",
    "embed_with_positions",
    "table_cost",
    "factorized_forward",
    "factorized_backward",
    "quantize_rows",
    "quantized_lookup",
    "checked_lookup",
]
