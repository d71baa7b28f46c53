"""The mypy plugin of typed-nnx: put ``plugins = typed_nnx_mypy`` in the mypy configuration.

It imports mypy and nothing else, so it also works where jax is not installed.
"""

from __future__ import annotations

from typed_nnx_mypy.plugin import TypedNnxPlugin

__all__ = ["TypedNnxPlugin", "plugin"]


def plugin(version: str) -> type[TypedNnxPlugin]:
    """Give mypy the plugin class; mypy looks this function up by its name.

    Args:
      version: the version of the running mypy. Every supported version gets the same class.
    """
    del version
    return TypedNnxPlugin
