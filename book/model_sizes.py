"""How many parameters a language model has, counted from its configuration, for chapter 10.

``tests/test_model_sizes.py`` compares the count with PyTorch modules on the device ``"meta"``, which have shapes and no
numbers.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Config:
    """What decides how many parameters a transformer has.

    Attributes
    ----------
    V, d, L : int
        Rows of the token table, width, and number of blocks.
    hidden : int
        Width of the feed-forward part's inner layer.
    heads : int
        Attention heads of a block. The width of a head is ``d / heads``.
    kv_heads : int, optional
        Heads that keys and values have, if fewer ("grouped-query attention").
    gated : bool
        Whether the feed-forward part has a third matrix, whose output gates the inner layer.
    bias : bool
        Whether linear layers have a bias.
    norm : int
        Numbers that a norm has for each column: 2 for LayerNorm (scale and shift), 1 for RMSNorm.
    outer_norm : bool
        Whether one more norm stands outside the blocks, after the last one or before the first one.
    positions : int
        Rows of learned tables besides the token table: positions, and BERT's two segments. 0 if positions are not
        learned.
    pooler : bool
        Whether BERT's pooler, a last square layer, is counted.
    tied : bool
        Whether the output layer is the token table.
    """

    V: int
    d: int
    L: int
    hidden: int
    heads: int
    kv_heads: int | None = None
    gated: bool = False
    bias: bool = True
    norm: int = 2
    outer_norm: bool = True
    positions: int = 0
    pooler: bool = False
    tied: bool = True


def linear(n_in: int, n_out: int, bias: bool) -> int:
    """Parameters of a linear layer."""
    return n_in * n_out + (n_out if bias else 0)


def count(c: Config) -> dict[str, int]:
    """Parameters of a model, part by part.

    Parameters
    ----------
    c : Config

    Returns
    -------
    dict of str to int
        ``attention``, ``feed-forward`` and ``norms`` are those of all ``L`` blocks together.
    """
    head_width = c.d // c.heads
    d_kv = head_width * (c.kv_heads or c.heads)
    query_and_output = 2 * linear(c.d, c.d, c.bias)
    key_and_value = 2 * linear(c.d, d_kv, c.bias)
    up = (2 if c.gated else 1) * linear(c.d, c.hidden, c.bias)
    down = linear(c.hidden, c.d, c.bias)
    norm = c.norm * c.d
    return {
        "token table": c.V * c.d,
        "output table": 0 if c.tied else c.V * c.d,
        "position table": c.positions * c.d,
        "attention": c.L * (query_and_output + key_and_value),
        "feed-forward": c.L * (up + down),
        "norms": c.L * 2 * norm + (norm if c.outer_norm else 0),
        "pooler": linear(c.d, c.d, c.bias) if c.pooler else 0,
    }


def _gpt(d: int, L: int, heads: int, V: int = 50_257, positions: int = 1_024) -> Config:
    """GPT-2's design in another size; GPT-3's too."""
    return Config(V=V, d=d, L=L, hidden=4 * d, heads=heads, positions=positions)


def _llama(V: int, d: int, L: int, hidden: int, heads: int, kv_heads: int, tied: bool = False) -> Config:
    return Config(
        V=V, d=d, L=L, hidden=hidden, heads=heads, kv_heads=kv_heads, gated=True, bias=False, norm=1, tied=tied
    )


#: Name -> the sizes that were published with the model.
MODELS = {
    "GPT-2 small": _gpt(768, 12, 12),
    "GPT-2 medium": _gpt(1_024, 24, 16),
    "GPT-2 large": _gpt(1_280, 36, 20),
    "GPT-2 XL": _gpt(1_600, 48, 25),
    "GPT-3": _gpt(12_288, 96, 96, positions=2_048),
    "BERT-base": Config(V=30_522, d=768, L=12, hidden=3_072, heads=12, positions=512 + 2, pooler=True),
    "Llama 2 7B": _llama(32_000, 4_096, 32, 11_008, 32, 32),
    "Llama 3 8B": _llama(128_256, 4_096, 32, 14_336, 32, 8),
    "Llama 3 70B": _llama(128_256, 8_192, 80, 28_672, 64, 8),
    "Llama 3.2 1B": _llama(128_256, 2_048, 16, 8_192, 32, 8, tied=True),
}
