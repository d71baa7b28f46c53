"""The library that the scenarios of this folder run with: ours, or the oracle to check a scenario.

``TYPED_NNX_TEST_LIBRARY=flax.nnx pytest tests/transforms/test_export.py`` shows that a scenario
asks for what NNX does.
"""

from __future__ import annotations

import importlib
import os
import typing as tp

NAME = os.environ.get("TYPED_NNX_TEST_LIBRARY", "typed_nnx")
OURS = NAME == "typed_nnx"

nnx: tp.Any = importlib.import_module(NAME)
