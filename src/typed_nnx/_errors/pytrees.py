"""Errors of Pytree attributes: data in static places, annotations that are lost."""

from __future__ import annotations

from typed_nnx._errors.public import public


class _AttributeValueError(ValueError):
    """What the errors about one attribute value have in common.

    Args:
        holder: The type of the Pytree.
        attribute: The name of the attribute.
        value: The value.
        *more: Further arguments of a subclass.
    """

    def __init__(self, holder: type, attribute: str, value: object, *more: object) -> None:
        super().__init__(holder, attribute, value, *more)
        self.holder = holder
        self.attribute = attribute
        self.value = value


@public
class StaticMarkError(_AttributeValueError):
    """A value annotated with `nnx.static` holds arrays, Variables or Pytrees."""

    def __str__(self) -> str:
        return (
            f"Found data in value of type '{type(self.value)}' annotated with nnx.static(...) when "
            f"setting attribute '{self.attribute}' of Pytree type '{self.holder}'.\n"
            f"  Fix: _.{self.attribute} = nnx.data(...)"
        )


@public
class StaticAttributeError(_AttributeValueError):
    """An array, Variable or Pytree was assigned to an attribute that is static."""

    def __str__(self) -> str:
        return (
            f"Cannot assign data value of type '{type(self.value)}' to static attribute "
            f"'{self.attribute}' of Pytree type '{self.holder}'. To override the status explicitly "
            "wrap the value with nnx.data on assignment:\n\n"
            f"  _.{self.attribute} = nnx.data(...)\n"
        )


def _remedies(holder: type, attribute: str, value: object, first: str) -> str:
    name = type(value).__name__
    return (
        "Consider one of the following options:\n\n"
        f"1. {first}\n\n"
        "2. Wrap the value with nnx.data on assignment:\n\n"
        f"  _.{attribute} = nnx.data(...)\n\n"
        "3. Annotate the class attribute with nnx.Data:\n\n"
        f"  class {holder.__name__}({holder.__base__.__name__ if holder.__base__ else 'Pytree'}):\n"
        f"    {attribute}: nnx.Data[{name}]\n\n"
        "4. If the container is a list or dict, try using nnx.List(...) or nnx.Dict(...) instead.\n\n"
        "5. Disable pytree for this class:\n\n"
        f"  class {holder.__name__}(Pytree, pytree=False):\n"
    )


@public
class DataInStaticError(_AttributeValueError):
    """A container with arrays, Variables or Pytrees in it was assigned to a static attribute.

    Args:
        holder: The type of the Pytree.
        attribute: The name of the attribute.
        value: The container.
        found: The names of the types of the data in it.
    """

    def __init__(self, holder: type, attribute: str, value: object, found: list[str]) -> None:
        super().__init__(holder, attribute, value, found)
        self.found = found

    def __str__(self) -> str:
        types = ", ".join(sorted(set(self.found)))
        first = (
            f"If the attribute is meant to be static, remove the data values of type(s): {types}"
        )
        return (
            f"Found data on value of type '{type(self.value)}' assigned to static attribute "
            f"'{self.attribute}' of Pytree type '{self.holder}'. Static attributes should not "
            "contain data values. " + _remedies(self.holder, self.attribute, self.value, first)
        )


@public
class UnexpectedDataError(_AttributeValueError):
    """A static attribute was found to hold arrays, Variables or Pytrees after ``__init__``."""

    def __str__(self) -> str:
        first = (
            "If the attribute is meant to be static, either remove the data value or wrap it in a "
            "static container."
        )
        return (
            f"Found unexpected data on value of type {type(self.value)} in static attribute "
            f"'{self.attribute}' of Pytree type '{self.holder}'.\n"
            + _remedies(self.holder, self.attribute, self.value, first)
        )


@public
class MisplacedMarkError(_AttributeValueError):
    """`nnx.data` or `nnx.static` was put inside a container.

    Args:
        holder: The type of the Pytree.
        attribute: The name of the attribute.
        value: The container.
        tags: The names of the annotations found.
    """

    def __init__(self, holder: type, attribute: str, value: object, tags: set[str]) -> None:
        super().__init__(holder, attribute, value, tags)
        self.tags = tags

    def __str__(self) -> str:
        tags = "{" + ", ".join(map(repr, sorted(self.tags, reverse=True))) + "}"
        return (
            f"Found unexpected tags {tags} on attribute '{self.holder.__name__}.{self.attribute}'. "
            "Values from nnx.data(...) and\n"
            "nnx.static(...) should be assigned to nnx.Pytree attributes directly, they should not "
            f"be inside other structures. Got value of type '{type(self.value)}' on Pytree of type "
            f"'{self.holder}'.\n"
            f"  Fix: annotate the whole attribute: _.{self.attribute} = nnx.data(...)"
        )


@public
class ForeignAttributeError(_AttributeValueError, TypeError):
    """A Module or Variable of flax.nnx was assigned to an attribute: it would never be trained."""

    def __str__(self) -> str:
        kind = type(self.value).__name__
        return (
            f"{self.holder.__name__}.{self.attribute}: the value is, or holds, a {kind} of flax.nnx; "
            "gradients, optimizers, States and checkpoints of typed_nnx would leave it out.\n"
            f"  Fix: build {kind} with `import typed_nnx as nnx`; where it comes from code of others, "
            "call nnx.install_as_flax_nnx() before that is imported"
        )


@public
class UnhashableStaticError(TypeError):
    """A hash of a structure was needed and a static value in it has none.

    Args:
        holder: The name of the type of the node.
        attribute: The attribute or key.
        value: The value.
    """

    def __init__(self, holder: str, attribute: object, value: object) -> None:
        super().__init__(holder, attribute, value)
        self.holder = holder
        self.attribute = attribute
        self.value = value

    def __str__(self) -> str:
        return (
            f"unhashable type: '{type(self.value).__name__}': static attribute {self.attribute!r} "
            f"of {self.holder} holds {self.value!r}, and a hash is needed here.\n"
            f"  Fix: use a hashable value: _.{self.attribute} = ..."
        )
