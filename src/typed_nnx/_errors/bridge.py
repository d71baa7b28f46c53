"""Errors of `nnx.bridge`, where Modules meet Linen."""

from __future__ import annotations

from typed_nnx._errors.public import public


@public
class FlaxRequiredError(ImportError):
    """A part of `nnx.bridge` that needs flax was used where flax is not installed.

    Args:
        needed_by: What was used.
    """

    def __init__(self, needed_by: str) -> None:
        super().__init__(needed_by)
        self.needed_by = needed_by

    def __str__(self) -> str:
        return (
            f"{self.needed_by} works with Linen, which is part of flax, and flax is not installed; "
            "the rest of typed_nnx does without it.\n"
            "  Fix: pip install flax"
        )


@public
class BridgeRngsError(TypeError):
    """Random streams were given in a form that the bridge does not know.

    Args:
        function: What they were given to.
        got: What was given.
        expected: What it may be.
        fix: The line to write.
    """

    def __init__(self, function: str, got: object, expected: str, fix: str) -> None:
        super().__init__(function, got, expected, fix)
        self.function = function
        self.got = got
        self.expected = expected
        self.fix = fix

    def __str__(self) -> str:
        return (
            f"{self.function}: argument `rngs` is {self.got!r} ({type(self.got).__name__}); "
            f"expected {self.expected}.\n"
            f"  Fix: {self.fix}"
        )


@public
class LazyInitError(ValueError):
    """`lazy_init` was given something that is neither a Module nor a method of one.

    Args:
        got: The name of what was given.
    """

    def __init__(self, got: str) -> None:
        super().__init__(got)
        self.got = got

    def __str__(self) -> str:
        return (
            f"lazy_init: `fn` is {self.got}; it needs to be an NNX Module or a bound method of "
            "one.\n"
            "  Fix: nnx.bridge.lazy_init(model, x) or nnx.bridge.lazy_init(model.method, x)"
        )


@public
class DuplicateVariableError(ValueError):
    """Linen keeps two variables under one path, in two collections; a Module has one attribute.

    Args:
        path: The path.
        first: The collection that it was found in first.
        second: The other collection.
    """

    def __init__(self, path: tuple[object, ...], first: str, second: str) -> None:
        super().__init__(path, first, second)
        self.path = path
        self.first = first
        self.second = second

    def __str__(self) -> str:
        return (
            f"Found duplicate variable path {self.path} in the Linen collections {self.first!r} and "
            f"{self.second!r}; a Module has one attribute for both.\n"
            "  Fix: give one of the two Linen variables another name"
        )


@public
class CollectionNameError(ValueError):
    """The Linen collection of a value cannot be told.

    Args:
        got: The value, or what stands in a path of jax in place of the name.
        where: Where it stands.
    """

    def __init__(self, got: object, where: str) -> None:
        super().__init__(got, where)
        self.got = got
        self.where = where

    def __str__(self) -> str:
        return (
            f"Cannot infer collection name from value at {self.where}: {self.got!r} "
            f"({type(self.got).__name__}); expected Variables in nested dicts.\n"
            "  Fix: wrap the value in a Variable: nnx.Param(value), nnx.Cache(value), ..."
        )


@public
class LinenBoxError(TypeError):
    """The metadata of a Linen variable and of a Variable cannot be turned into each other.

    Args:
        box: The name of the type of the Linen metadata.
        found: What does not fit.
    """

    def __init__(self, box: str, found: str) -> None:
        super().__init__(box, found)
        self.box = box
        self.found = found

    def __str__(self) -> str:
        return (
            f"the Linen metadata {self.box} {self.found}.\n"
            "  Fix: make it a dataclass (flax.struct.dataclass) with a field `value`, and the "
            "collection that of its Variable type"
        )


@public
class ReservedNameError(AttributeError, ValueError):
    """A Linen variable has the name of a part of `ToNNX`.

    Args:
        name: The name.
        module: The name of the type of the Linen module.
    """

    # `AttributeError` has attributes of these names.
    def __init__(self, name: str, module: str) -> None:
        super().__init__(name, module)
        self.reserved = name
        self.module = module

    def __str__(self) -> str:
        return (
            f"ToNNX: the Linen module {self.module} has a variable or submodule named "
            f"{self.reserved!r}, which is a part of ToNNX itself.\n"
            "  Fix: give it another name in the Linen module"
        )

    def __reduce__(self) -> tuple[type[ReservedNameError], tuple[str, str]]:
        return type(self), (self.reserved, self.module)


@public
class UnboundModuleError(ValueError):
    """A part of a `bridge.Module` was used that exists only inside `init` and `apply`.

    Args:
        function: What was used.
        module: The name of the type of the Module; empty where there is none.
    """

    def __init__(self, function: str, module: str) -> None:
        super().__init__(function, module)
        self.function = function
        self.module = module

    def __str__(self) -> str:
        of = f" of {self.module}" if self.module else ""
        return (
            f"{self.function}{of}: there is no scope here; Variables, submodules and random numbers "
            "of a bridge.Module exist in `setup()` and in methods wrapped in `@compact`, while "
            "`init` or `apply` runs.\n"
            "  Fix: call it in such a method, and the method by module.init(rngs, x) or "
            "module.apply(variables, x)"
        )


@public
class BridgeVariableError(ValueError):
    """A Variable that a `bridge.Module` asks for is missing or of another kind.

    Args:
        module: The name of the type of the Module.
        name: The attribute.
        expected: The Variable type that was asked for.
        got: What is there; None where there is nothing and no initializer either.
    """

    def __init__(self, module: str, name: str, expected: str, got: str | None) -> None:
        super().__init__(module, name, expected, got)
        self.module = module
        self.name = name
        self.expected = expected
        self.got = got

    def __str__(self) -> str:
        if self.got is None:
            return (
                f"{self.module}: there is no {self.expected} {self.name!r} and `init_fn` is None.\n"
                f"  Fix: pass an initializer: self.variable(..., {self.name!r}, jnp.zeros, shape)"
            )
        return (
            f"{self.module}: Expected {self.name!r} to be a {self.expected}, got {self.got}.\n"
            "  Fix: use another name for one of the two"
        )


@public
class BridgeMethodError(TypeError):
    """The method to call is neither a name nor a callable.

    Args:
        function: The function that was to call it.
        argument: The argument that says which.
        got: What was given.
    """

    def __init__(self, function: str, argument: str, got: object) -> None:
        super().__init__(function, argument, got)
        self.function = function
        self.argument = argument
        self.got = got

    def __str__(self) -> str:
        return (
            f"{self.function}: argument `{self.argument}` is {self.got!r} "
            f"({type(self.got).__name__}); expected the name of a method or a function that takes "
            "the module first.\n"
            f"  Fix: {self.function}(..., {self.argument}='name')"
        )


@public
class FunctionalInitError(ValueError):
    """`Functional.apply` was called before `Functional.init`.

    Args:
        module: The name of the type of the Module.
    """

    def __init__(self, module: str) -> None:
        super().__init__(module)
        self.module = module

    def __str__(self) -> str:
        return (
            f"Functional of {self.module}: apply was called before init, which makes the structure "
            "and the state.\n"
            "  Fix: state = functional.init(rngs=nnx.Rngs(0)); functional.apply(state)(x)"
        )


@public
class FlaxNnxInUseError(RuntimeError):
    """`install_as_flax_nnx` was called when something had taken flax.nnx already.

    Args:
        uses: Who uses it, a phrase for each.
    """

    def __init__(self, uses: list[str]) -> None:
        super().__init__(uses)
        self.uses = uses

    def __str__(self) -> str:
        lines = "".join(f"\n    {use}" for use in self.uses[:5])
        more = len(self.uses) - 5
        return (
            "install_as_flax_nnx: flax.nnx is in use, and its objects do not mix with those of "
            f"typed_nnx:{lines}" + (f"\n    ... and {more} more" if more > 0 else "") + "\n"
            "  Fix: call nnx.install_as_flax_nnx() before the first import that needs flax.nnx, or "
            "start the program by `typed-nnx run program.py`"
        )
