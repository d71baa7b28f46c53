"""Errors of layers: wrong constructor arguments, inputs that do not fit, missing random streams."""

from __future__ import annotations

from typed_nnx._errors.public import public


@public
class LayerArgumentError(ValueError):
    """An argument of a layer has a value that the layer cannot work with.

    Args:
        layer: The class of the layer, or the function.
        argument: The name of the argument.
        got: What was given, as text.
        expected: What would do, as text.
        fix: The code to write.
    """

    def __init__(self, layer: str, argument: str, got: str, expected: str, fix: str) -> None:
        super().__init__(layer, argument, got, expected, fix)
        self.layer = layer
        self.argument = argument
        self.got = got
        self.expected = expected
        self.fix = fix

    def __str__(self) -> str:
        return (
            f"{self.layer}: argument `{self.argument}` is {self.got}; expected {self.expected}.\n"
            f"  Fix: {self.fix}"
        )


@public
class LayerInputError(TypeError, ValueError):
    """An array given to a layer does not have the shape or dtype that the layer was made for.

    Args:
        layer: The class of the layer, or the function.
        argument: The name of the argument.
        got: Its dtype and shape, as text.
        expected: What would do, as text.
        fix: What to change.
    """

    def __init__(self, layer: str, argument: str, got: str, expected: str, fix: str) -> None:
        super().__init__(layer, argument, got, expected, fix)
        self.layer = layer
        self.argument = argument
        self.got = got
        self.expected = expected
        self.fix = fix

    def __str__(self) -> str:
        return (
            f"{self.layer}: `{self.argument}` is {self.got}; expected {self.expected}.\n"
            f"  Fix: {self.fix}"
        )


@public
class InexactDtypeError(ValueError):
    """A layer is to compute in a dtype that is neither float nor complex.

    Args:
        dtype: The dtype.
    """

    def __init__(self, dtype: object) -> None:
        super().__init__(dtype)
        self.dtype = dtype

    def __str__(self) -> str:
        name = getattr(self.dtype, "__name__", self.dtype)
        return (
            f"promote_dtype: dtype is {name}; expected a float or complex dtype.\n"
            "  Fix: dtype=jnp.float32, or leave `dtype` out to compute in what the inputs and "
            "parameters promote to"
        )


@public
class RngsTypeError(TypeError, ValueError, AttributeError):
    """A layer got something else than random streams.

    Args:
        layer: The class of the layer.
        argument: The name of the argument.
        got: What was given.
        expected: The types that would do.
    """

    def __init__(self, layer: str, argument: str, got: object, expected: str) -> None:
        super().__init__(layer, argument, got, expected)
        self.layer = layer
        self.argument = argument
        self.got = got
        self.expected = expected

    def __str__(self) -> str:
        return (
            f"{self.layer}: argument `{self.argument}` is {self.got!r} "
            f"({type(self.got).__name__}); expected {self.expected}.\n"
            f"  Fix: {self.layer}(..., {self.argument}=nnx.Rngs(0))"
        )


@public
class UnsetModeError(ValueError):
    """A layer was never told something that its call depends on.

    Args:
        layer: The class of the layer.
        argument: The argument that neither the constructor nor the call nor the layer's mode set.
        why: Why it is needed now.
        fixes: Ways to set it, each a line of code.
    """

    def __init__(self, layer: str, argument: str, why: str, fixes: tuple[str, ...]) -> None:
        super().__init__(layer, argument, why, fixes)
        self.layer = layer
        self.argument = argument
        self.why = why
        self.fixes = fixes

    def __str__(self) -> str:
        return f"{self.layer}: `{self.argument}` is not set; {self.why}.\n  Fix: " + ", or ".join(
            self.fixes
        )
