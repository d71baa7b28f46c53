"""The mypy plugin of typed-nnx: put ``plugins = typed_nnx_mypy`` in the mypy configuration.

It imports mypy and nothing that needs jax, so it also works where jax is not installed.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from mypy.errors import CompileError

if TYPE_CHECKING:
    from typed_nnx_mypy.plugin_class import TypedNnxPlugin

__all__ = ["plugin"]

OLDEST_MYPY: Final = (2, 2)


def plugin(version: str) -> type[TypedNnxPlugin]:
    """Give mypy the plugin class; mypy looks this function up by its name.

    Args:
      version: The version of the running mypy. Every supported version gets the same class.

    Raises:
      CompileError: mypy is too old. It shows the message without a traceback.
    """
    found = re.match(r"(\d+)\.(\d+)", version)
    if found is not None and tuple(map(int, found.groups())) < OLDEST_MYPY:
        oldest = ".".join(map(str, OLDEST_MYPY))
        message = (
            f"typed_nnx_mypy: this is mypy {version}, the plugin needs {oldest} or newer. "
            f"Fix: pip install 'mypy>={oldest}'"
        )
        raise CompileError([message])
    # An older mypy has not all that it imports.
    from typed_nnx_mypy.plugin_class import TypedNnxPlugin

    return TypedNnxPlugin
