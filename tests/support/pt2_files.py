"""Archives of torch.export: good ones, and one whose loading runs code."""

import io
import os
import zipfile
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn


class Mlp(nn.Module):
    """Two layers of prime sizes, and a buffer."""

    shift: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.fc1 = nn.Linear(13, 17)
        self.fc2 = nn.Linear(17, 11)
        self.register_buffer("shift", torch.linspace(-1, 1, 13))

    def forward(self, x: Tensor) -> Tensor:
        return self.fc2(torch.relu(self.fc1(x + self.shift)))


class AttentionBlock(nn.Module):
    """LayerNorm, self-attention and GELU as torch.nn has them."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(24)
        self.attention = nn.MultiheadAttention(24, 3, batch_first=True)
        self.fc1 = nn.Linear(24, 48)
        self.fc2 = nn.Linear(48, 24)

    def forward(self, x: Tensor) -> Tensor:
        normed = self.norm(x)
        x = x + self.attention(normed, normed, normed, need_weights=False)[0]
        return x + self.fc2(nn.functional.gelu(self.fc1(self.norm(x))))


class Upsampled(nn.Module):
    """A convolution and its norm, nearest neighbours of what that makes, and a convolution of these."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(2, 3, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(3)
        self.up = nn.Upsample(scale_factor=(2, 3))
        self.second = nn.Conv2d(3, 2, 3, padding=1, bias=False)
        for tensor in (self.norm.running_mean, self.norm.running_var, self.norm.weight):
            assert tensor is not None
            nn.init.uniform_(tensor, 0.5, 1.5)

    def forward(self, x: Tensor) -> Tensor:
        return self.second(self.up(torch.relu(self.norm(self.first(x)))))


class Normed(nn.Module):
    """Linear layers of channels that a norm has, and of such that it has not."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.norm = nn.Linear(4, 4, bias=False), nn.BatchNorm1d(4)
        self.second, self.other = nn.Linear(4, 4), nn.BatchNorm1d(4)
        for norm in (self.norm, self.other):
            for tensor in (norm.running_mean, norm.running_var, norm.weight):
                assert tensor is not None
                nn.init.uniform_(tensor, 0.5, 1.5)

    def forward(self, x: Tensor) -> Tensor:
        return self.other(self.second(self.norm(self.first(x))[None]))


def save_pt2(network: nn.Module, example: Tensor, path: Path) -> Path:
    torch.manual_seed(0)
    torch.export.save(torch.export.export(network.eval(), (example,), strict=False), path)
    return path


class _Harm:
    def __init__(self, command: str) -> None:
        self._command = command

    def __reduce__(self) -> Any:
        return os.system, (self._command,)


def poisoned(path: Path, command: str) -> Path:
    """A good archive in which the sample inputs are a pickle that runs `command`."""
    save_pt2(Mlp(), torch.zeros(2, 13), path)
    pickled = io.BytesIO()
    torch.save(_Harm(command), pickled)
    with zipfile.ZipFile(path) as archive:
        members = {m.filename: archive.read(m) for m in archive.infolist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, pickled.getvalue() if "sample_inputs" in name else content)
    return path
