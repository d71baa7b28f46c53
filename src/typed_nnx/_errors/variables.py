"""Errors of Variables: value, metadata, names."""

from __future__ import annotations

from typed_nnx._errors.public import public


@public
class RefInVariableError(ValueError):
    """An array reference was given as the value of a new Variable.

    Args:
        variable: The name of the Variable's type.
    """

    def __init__(self, variable: str) -> None:
        super().__init__(variable)
        self.variable = variable

    def __str__(self) -> str:
        return (
            f"{self.variable}: the value is an array reference; expected an array.\n"
            f"  Fix: {self.variable}(array, ref=True), which makes the reference itself."
        )


@public
class IncompatibleVariableError(ValueError):
    """`Variable.copy_from` got a Variable of another type.

    Args:
        expected: The type that was expected.
        got: The type that came.
    """

    def __init__(self, expected: str, got: str) -> None:
        super().__init__(expected, got)
        self.expected = expected
        self.got = got

    def __str__(self) -> str:
        return (
            f"copy_from: expected a {self.expected}, got a {self.got}.\n"
            "  Fix: copy the value alone: variable[...] = other[...]"
        )


@public
class FixedMetadataError(ValueError):
    """Metadata that says how the value is stored was to be changed after the Variable was made.

    Args:
        variable: The name of the Variable's type.
        name: The name of the metadata.
    """

    def __init__(self, variable: str, name: str) -> None:
        super().__init__(variable, name)
        self.variable = variable
        self.name = name

    def __str__(self) -> str:
        return (
            f"{self.variable}: metadata {self.name!r} says how the value is stored; it is set when "
            "the Variable is made and cannot be changed or deleted.\n"
            f"  Fix: make another one: nnx.with_vars(node, {self.name}=True)"
        )


@public
class VariableAttributeError(AttributeError, KeyError):
    """Metadata or an attribute of a Variable was read, set or deleted in a way that does not exist.

    Args:
        action: What was tried.
        variable: The name of the Variable's type.
        attribute: The name.
        known: The names of the metadata that there is.
    """

    def __init__(self, action: str, variable: str, attribute: str, known: tuple[str, ...]) -> None:
        super().__init__(action, variable, attribute, known)
        self.action = action
        self.variable = variable
        self.attribute = attribute
        self.known = known

    def __str__(self) -> str:
        what = f"{self.variable}: cannot {self.action} {self.attribute!r}"
        if self.action == "set":
            return (
                f"{what}: metadata is not set by attribute.\n"
                f"  Fix: variable.set_metadata({self.attribute}=value)"
            )
        if self.action == "delete attribute":
            return (
                f"{what}: metadata is not deleted by attribute.\n"
                f"  Fix: variable.del_metadata({self.attribute!r})"
            )
        return (
            f"{what}: there is no such metadata; there is {', '.join(self.known)}.\n"
            f"  Fix: variable.get_metadata({self.attribute!r}, default), or set it first with "
            f"variable.set_metadata({self.attribute}=value)"
        )


@public
class VariableNameError(ValueError):
    """The registry of Variable types does not know a name or type, or knows it already.

    Args:
        problem: What is wrong.
        name: The name.
    """

    def __init__(self, problem: str, name: str) -> None:
        super().__init__(problem, name)
        self.problem = problem
        self.name = name

    def __str__(self) -> str:
        return (
            f"Variable names: {self.problem}.\n"
            f"  Fix: nnx.register_variable_name({self.name!r}, YourVariable), with overwrite=True "
            "to replace another type, or pass allow_register=True"
        )


@public
class MeshRequiredError(ValueError):
    """A Variable has sharding metadata but there is no mesh to place its value on.

    Args:
        spec: The partition of the value.
        where: The Variable, or its path.
    """

    def __init__(self, spec: object, where: str = "Variable") -> None:
        super().__init__(spec, where)
        self.spec = spec
        self.where = where

    def __str__(self) -> str:
        made = self.where.partition(".")[0] if "." in self.where else "Variable"
        return (
            f"{self.where}: no mesh for out_sharding={self.spec}; expected a mesh in "
            "force or in the metadata.\n"
            f"  Fix: `with jax.set_mesh(mesh):` around the construction of the {made}, or "
            "`with nnx.use_eager_sharding(False):` to place it later, or mesh=mesh in the metadata "
            "of the Variable (kernel_metadata={'out_sharding': ..., 'mesh': mesh} of a layer)"
        )


@public
class UnhashableMetadataError(TypeError):
    """A hash of a Variable's metadata was needed and a value in it has none.

    Args:
        items: The names and values without a hash.
    """

    def __init__(self, items: list[tuple[str, object]]) -> None:
        super().__init__(items)
        self.items = items

    def __str__(self) -> str:
        named = ", ".join(f"{name!r} ({type(value).__name__})" for name, value in self.items)
        return (
            f"Variable metadata: {named} has no hash, and a hash is needed here.\n"
            "  Fix: use a hashable value, a tuple for a list: "
            f"variable.set_metadata({self.items[0][0]}=tuple(...))"
        )
