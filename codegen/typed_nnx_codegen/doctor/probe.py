"""A program of its own: imports what could break, and writes one line of JSON after each step.

`typed-nnx doctor` runs it in another process: what hangs or crashes here ends here, and the lines
that were written say how far it came. It imports nothing of ours but the runtime.
"""

from __future__ import annotations

import functools
import importlib
import json
import os
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any, Final

IMPORTS: Final = ("jax", "typed_nnx", "flax.nnx")


def _devices() -> dict[str, Any]:
    jax = importlib.import_module("jax")
    devices = jax.devices()
    kinds: dict[str, int] = {}
    for each in devices:
        kinds[each.device_kind] = kinds.get(each.device_kind, 0) + 1
    backend = jax.default_backend()
    # A device that is listed may still not compute.
    total = float(jax.numpy.ones(3).sum())
    return {"backend": backend, "kinds": kinds, "computes": total == 3.0}


def _import(name: str) -> dict[str, Any]:
    importlib.import_module(name)
    return {}


def _step(name: str, work: Callable[[], dict[str, Any]], out: int) -> None:
    _write({"begins": name}, out)
    began = time.monotonic()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        try:
            answer = {"ok": True, **work()}
        except Exception as error:  # noqa: BLE001  # whatever an import or a driver raises
            said = f": {error}" if str(error) else ""
            answer = {"ok": False, "error": f"{type(error).__name__}{said}"}
    answer["seconds"] = time.monotonic() - began
    answer["warnings"] = [str(each.message) for each in caught if each.category is UserWarning]
    _write({"step": name, **answer}, out)


def _write(answer: dict[str, Any], out: int) -> None:
    os.write(out, f"{json.dumps(answer)}\n".encode())


def main() -> None:
    """Take the steps that the command line names, in their order."""
    # What libraries print must not come between our lines.
    out = os.dup(1)
    os.dup2(2, 1)
    for name in sys.argv[1:]:
        if name == "devices":
            _step(name, _devices, out)
        else:
            _step(name, functools.partial(_import, name), out)


if __name__ == "__main__":
    main()
