"""book/device.py: which device is chosen, and what it is called."""

import pytest
import torch

from book.device import best_device, device_name


@pytest.mark.parametrize(
    "cuda, mps, chosen", [(True, True, "cuda"), (True, False, "cuda"), (False, True, "mps"), (False, False, "cpu")]
)
def test_an_accelerator_comes_before_the_cpu_and_cuda_before_mps(monkeypatch, cuda, mps, chosen):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: cuda)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: mps)
    assert best_device() == torch.device(chosen)


def test_a_card_is_named_and_a_cpu_is_not(monkeypatch):
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: "Card 9")
    assert device_name(torch.device("cuda")) == "cuda (Card 9)"
    assert device_name(torch.device("mps")) == "mps"
    assert device_name(torch.device("cpu")) == "cpu"
