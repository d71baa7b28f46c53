"""The hook package that generated model stubs shadow.

``Hooks`` is a base class of ``typed_nnx.Pytree``. As shipped it holds nothing. The command that
generates model stubs writes one overlay file, ``typings/typed_nnx_models.pyi``, which a type
checker finds before this package; there ``Hooks`` carries one overload per model class, and so the
state of each model gets precise attributes in the editor, without a line of the model's source
being touched. At run time nothing of that exists: this module imports nothing and costs nothing.
"""

from __future__ import annotations

__all__ = ["Hooks"]


class Hooks:
    """The base of every Pytree that generated stubs may give typed methods to."""

    __slots__ = ()
