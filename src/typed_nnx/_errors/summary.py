"""Errors of summaries: what cannot be tabulated, packages that are not installed."""

from __future__ import annotations

from typed_nnx._errors.public import public


@public
class NotTabulatedError(TypeError, ValueError):
    """`tabulate` was given something that is no object of ours.

    Args:
        got: The type of what was given.
    """

    def __init__(self, got: str) -> None:
        super().__init__(got)
        self.got = got

    def __str__(self) -> str:
        return (
            f"tabulate: argument `obj` is a {self.got}; expected a Module or another nnx.Pytree.\n"
            "  Fix: nnx.tabulate(model, *inputs)"
        )


@public
class MethodNotFoundError(AttributeError, KeyError):
    """`tabulate` was to call a method that the object does not have.

    Args:
        kind: The type of the object.
        method: The name of the method.
        known: The methods that it has.
    """

    def __init__(self, kind: str, method: str, known: tuple[str, ...]) -> None:
        super().__init__(kind, method, known)
        self.kind = kind
        self.method = method
        self.known = known

    def __str__(self) -> str:
        some = ", ".join([*self.known[:10], *["..."][: len(self.known) > 10]])
        known = f"its methods are {some}" if self.known else "it has none that can be tabulated"
        example = self.known[0] if self.known else "forward"
        return (
            f"tabulate: {self.kind} has no method {self.method!r}; {known}.\n"
            f"  Fix: nnx.tabulate(obj, *inputs, method={example!r})"
        )


@public
class MissingPackageError(ImportError):
    """A function needs a package that is not installed.

    Args:
        function: The function.
        package: The package.
        extra: The extra of ``typed-nnx`` that installs it.
    """

    def __init__(self, function: str, package: str, extra: str) -> None:
        super().__init__(function, package, extra)
        self.function = function
        self.package = package
        self.extra = extra

    def __str__(self) -> str:
        return (
            f"{self.function}: needs the package `{self.package}`, which is not installed.\n"
            f"  Fix: pip install 'typed-nnx[{self.extra}]'"
        )
