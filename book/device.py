"""Choose where a demonstration runs; chapters 05, 10, 11 and 13 ask here, and say on the page what they got."""

from __future__ import annotations

import torch


def best_device() -> torch.device:
    """The device for a demonstration: an accelerator where there is one, else the CPU.

    Returns
    -------
    torch.device
        ``cuda`` (an NVIDIA or AMD card), else ``mps`` (an Apple chip), else ``cpu``.
    """
    if torch.cuda.is_available():
        return torch.device("cuda")
    if torch.backends.mps.is_available():
        return torch.device("mps")
    return torch.device("cpu")


def device_name(device: torch.device) -> str:
    """What to print for a device: its type and, for a graphics card, its model.

    Parameters
    ----------
    device : torch.device

    Returns
    -------
    str
        Such as ``"cuda (NVIDIA H200)"``, ``"mps"`` or ``"cpu"``. A CPU's model is left out, so that pages built on two
        machines without a card are the same.
    """
    if device.type == "cuda":
        return f"cuda ({torch.cuda.get_device_name(device)})"
    return device.type


def synchronize(device: torch.device) -> None:
    """Wait until the device has done all that it was given: an accelerator works on while Python goes on.

    Parameters
    ----------
    device : torch.device
    """
    if device.type != "cpu":
        torch.accelerator.synchronize(device)
