"""The verifying mode of the runtime, switched without importing the runtime."""

from __future__ import annotations

import contextlib
import os
import sys

#: The runtime reads it once, when it is imported: any value but "" and "0" turns the mode on.
VARIABLE = "TYPED_NNX_VERIFY"


def asked_by_environment() -> bool:
    """Tell whether the environment turns the mode on."""
    return os.environ.get(VARIABLE, "") not in ("", "0")


class VerifyingMode:
    """The mode, on from now until `restore`.

    Tests and their `conftest.py` set variables such as ``JAX_PLATFORMS`` before they import jax, so
    nothing is imported here: a runtime that is loaded is told, one that comes later reads the variable,
    which processes that a test starts inherit too.
    """

    def __init__(self) -> None:
        self._variable = os.environ.get(VARIABLE)
        self._before = _tell_runtime(True)
        os.environ[VARIABLE] = "1"

    def switch(self, *, on: bool) -> None:
        """Turn the mode on or off."""
        os.environ[VARIABLE] = "1" if on else "0"
        _tell_runtime(on)

    def restore(self) -> None:
        """Set the variable and the runtime back to what they were, or would have been."""
        if self._variable is None:
            del os.environ[VARIABLE]
        else:
            os.environ[VARIABLE] = self._variable
        if self._before is not None:
            self._before.__exit__(None, None, None)
        else:
            _tell_runtime(asked_by_environment())


def _tell_runtime(on: bool) -> contextlib.AbstractContextManager[None] | None:
    """Turn the mode of a loaded runtime on or off; return what sets it back, None without a runtime."""
    # A runtime without the name is being imported right now, and reads the variable.
    setting = getattr(sys.modules.get("typed_nnx"), "set_verify_records", None)
    return None if setting is None else setting(on)
