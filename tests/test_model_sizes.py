"""book/model_sizes.py against PyTorch modules that are built on the device "meta": shapes and no numbers."""

from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from book.model_sizes import MODELS, Config, count

TOTALS = {
    "GPT-2 small": 124_439_808,
    "GPT-2 medium": 354_823_168,
    "GPT-2 large": 774_030_080,
    "GPT-2 XL": 1_557_611_200,
    "BERT-base": 109_482_240,
    "Llama 2 7B": 6_738_415_616,
    "Llama 3 8B": 8_030_261_248,
    "Llama 3.2 1B": 1_235_814_400,
}
#: Percent of the token table, or of both token tables.
SHARES = {
    "GPT-2 small": 31.017,
    "GPT-2 medium": 14.504,
    "GPT-2 large": 8.311,
    "GPT-2 XL": 5.162,
    "BERT-base": 21.411,
    "Llama 2 7B": 3.890,
    "Llama 3 8B": 13.084,
    "Llama 3 70B": 2.978,
    "Llama 3.2 1B": 21.255,
}


def gpt2(c: Config) -> nn.Module:
    """GPT-2: PyTorch's own block has the same parts, in the same sizes."""
    wte = nn.Embedding(c.V, c.d)
    head = nn.Linear(c.d, c.V, bias=False)
    if c.tied:
        head.weight = wte.weight
    blocks = [nn.TransformerEncoderLayer(c.d, c.heads, c.hidden, norm_first=True) for _ in range(c.L)]
    return nn.ModuleList([wte, nn.Embedding(c.positions, c.d), *blocks, nn.LayerNorm(c.d), head])


def bert(c: Config) -> nn.Module:
    tables = [nn.Embedding(c.V, c.d), nn.Embedding(c.positions - 2, c.d), nn.Embedding(2, c.d)]
    blocks = [nn.TransformerEncoderLayer(c.d, c.heads, c.hidden) for _ in range(c.L)]
    return nn.ModuleList([*tables, nn.LayerNorm(c.d), *blocks, nn.Linear(c.d, c.d)])


class LlamaBlock(nn.Module):
    """Grouped-query attention, a gated feed-forward part, and two norms, in the names of the released weights."""

    def __init__(self, c: Config) -> None:
        super().__init__()
        assert c.kv_heads is not None
        width = c.d // c.heads
        self.q_proj = nn.Linear(c.d, c.heads * width, bias=False)
        self.k_proj = nn.Linear(c.d, c.kv_heads * width, bias=False)
        self.v_proj = nn.Linear(c.d, c.kv_heads * width, bias=False)
        self.o_proj = nn.Linear(c.heads * width, c.d, bias=False)
        self.gate_proj = nn.Linear(c.d, c.hidden, bias=False)
        self.up_proj = nn.Linear(c.d, c.hidden, bias=False)
        self.down_proj = nn.Linear(c.hidden, c.d, bias=False)
        self.input_layernorm = nn.RMSNorm(c.d)
        self.post_attention_layernorm = nn.RMSNorm(c.d)


def llama(c: Config) -> nn.Module:
    embed_tokens, lm_head = nn.Embedding(c.V, c.d), nn.Linear(c.d, c.V, bias=False)
    if c.tied:
        lm_head.weight = embed_tokens.weight
    return nn.ModuleList([embed_tokens, *(LlamaBlock(c) for _ in range(c.L)), nn.RMSNorm(c.d), lm_head])


def in_torch(c: Config) -> int:
    build = llama if c.gated else bert if c.pooler else gpt2
    with torch.device("meta"):
        model = build(c)
    return sum(parameter.numel() for parameter in model.parameters())


def total(c: Config) -> int:
    return sum(count(c).values())


@pytest.mark.parametrize("name", MODELS)
def test_a_model_has_as_many_parameters_as_in_torch(name):
    assert total(MODELS[name]) == in_torch(MODELS[name])


@pytest.mark.parametrize("name", TOTALS)
def test_known_totals(name):
    assert total(MODELS[name]) == TOTALS[name]


@pytest.mark.parametrize("name", SHARES)
def test_known_shares(name):
    parts = count(MODELS[name])
    tables = parts["token table"] + parts["output table"]
    assert round(100 * tables / total(MODELS[name]), 3) == SHARES[name]


def test_parts_of_gpt2_small():
    parts = count(MODELS["GPT-2 small"])
    with torch.device("meta"):
        model = gpt2(MODELS["GPT-2 small"])
    found: dict[str, int] = {}
    for name, parameter in model.named_parameters():  # the first is the token table, the second that of positions
        part = {"0": "token table", "1": "position table"}.get(name.partition(".")[0])
        part = part or next(
            part for part, sign in [("attention", "attn"), ("feed-forward", "linear"), ("norms", "")] if sign in name
        )
        found[part] = found.get(part, 0) + parameter.numel()
    assert {name: number for name, number in parts.items() if number} == found


SMALL = st.integers(1, 9)


@settings(max_examples=60)
@given(SMALL, SMALL, SMALL, SMALL, SMALL, st.booleans(), st.sampled_from(["gpt2", "bert", "llama"]), st.data())
def test_any_sizes(V, head_width, heads, L, hidden, tied, kind, data):
    config = Config(V=V, d=head_width * heads, L=L, hidden=hidden, heads=heads, tied=tied)
    if kind == "gpt2":
        config = replace(config, positions=data.draw(SMALL))
    elif kind == "bert":
        config = replace(config, positions=2 + data.draw(SMALL), pooler=True, tied=True)
    else:
        divisors = [k for k in range(1, heads + 1) if heads % k == 0]
        kv_heads = data.draw(st.sampled_from(divisors))
        config = replace(config, kv_heads=kv_heads, gated=True, bias=False, norm=1)
    assert total(config) == in_torch(config)
