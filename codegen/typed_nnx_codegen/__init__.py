"""The command ``typed-nnx`` and the generators behind it."""

from __future__ import annotations
