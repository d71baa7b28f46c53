"""The checks of the mypy plugin for users of any type checker: ``typed-nnx lint``."""

from __future__ import annotations
