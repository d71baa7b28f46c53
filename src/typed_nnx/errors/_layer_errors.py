"""Errors of layers: wrong constructor arguments, inputs that do not fit, missing random streams."""

from __future__ import annotations

from typed_nnx.errors._base_error import Error, Problem


class LayerArgumentError(Error, ValueError):
    """An argument of a layer has a value that the layer cannot work with.

    Attributes:
        layer: The class of the layer, or the function.
        argument: The name of the argument.
        got: What was given, as text.
        expected: What would do, as text.
        fix: The code to write.
    """

    layer: str
    argument: str
    got: str
    expected: str
    fix: str
    template = "{layer}: argument `{argument}` is {got}; expected {expected}.\n  Fix: {fix}"


class LayerInputError(Error, TypeError, ValueError):
    """An array given to a layer does not have the shape or dtype that the layer was made for.

    Attributes:
        layer: The class of the layer, or the function.
        argument: The name of the argument.
        got: Its dtype and shape, as text.
        expected: What would do, as text.
        fix: What to change.
    """

    layer: str
    argument: str
    got: str
    expected: str
    fix: str
    template = "{layer}: `{argument}` is {got}; expected {expected}.\n  Fix: {fix}"


class RngsTypeError(Error, TypeError, ValueError, AttributeError):
    """A layer got something other than random streams.

    Attributes:
        layer: The class of the layer.
        argument: The name of the argument.
        got: What was given.
        expected: The types that would do.
    """

    layer: str
    argument: str
    got: object
    expected: str
    template = (
        "{layer}: argument `{argument}` is {got!r} ({got!t}); expected {expected}.\n"
        "  Fix: {layer}(..., {argument}=nnx.Rngs(0))"
    )


class UnsetModeError(Error, ValueError):
    """Neither the constructor, the call nor the mode of a layer set what its call depends on.

    Attributes:
        layer: The class of the layer.
        argument: The argument that is not set.
        why: Why it is needed now.
        fixes: Ways to set it, each a line of code.
    """

    layer: str
    argument: str
    why: str
    fixes: tuple[str, ...]

    def message(self) -> str:
        """Return the text."""
        fixes = ", or ".join(self.fixes)
        return f"{self.layer}: `{self.argument}` is not set; {self.why}.\n  Fix: {fixes}"


class AbstractMethodError(Problem, NotImplementedError):
    """A recurrent cell or metric lacks a method that each subclass defines."""
