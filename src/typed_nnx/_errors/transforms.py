"""Errors of transforms."""

from __future__ import annotations

from typed_nnx._errors.counts import counted
from typed_nnx._errors.public import public


@public
class StructureChangedError(ValueError):
    """A transform that needs a fixed structure found another one when the function returned.

    Args:
        function: The transform and the function.
        changes: What changed, a line for each place.
        fix: What to do.
    """

    def __init__(
        self,
        function: str,
        changes: list[str],
        fix: str = "change the structure outside, or allow it with graph_updates=True",
    ) -> None:
        super().__init__(function, changes, fix)
        self.function = function
        self.changes = changes
        self.fix = fix

    def __str__(self) -> str:
        lines = "".join(f"\n    {change}" for change in self.changes[:10])
        more = len(self.changes) - 10
        return (
            f"{self.function}: the structure of an argument changed:{lines}"
            + (f"\n    ... and {more} more" if more > 0 else "")
            + f"\n  Fix: {self.fix}"
        )


@public
class ForeignModuleError(TypeError, ValueError):
    """A function under a transform changed a Module of flax.nnx, whose changes would be lost.

    Args:
        function: The transform and the function.
        argument: Which argument.
        kind: The name of the class of the Module.
    """

    def __init__(self, function: str, argument: str, kind: str) -> None:
        super().__init__(function, argument, kind)
        self.function = function
        self.argument = argument
        self.kind = kind

    def __str__(self) -> str:
        return (
            f"{self.function}: {self.argument} has a {self.kind} of flax.nnx, and the function "
            "changed it; typed_nnx writes back the changes of its own Modules only.\n"
            f"  Fix: build {self.kind} with `import typed_nnx as nnx`, or use the transform of flax.nnx"
        )


class _StaticArgumentError(ValueError, TypeError):
    def __init__(self, function: str, argument: str, value: object) -> None:
        super().__init__(function, argument, value)
        self.function = function
        self.argument = argument
        self.value = value


@public
class StaticModuleError(_StaticArgumentError):
    """A static argument of a compiled function is a Module or Variable, or holds one.

    Args:
        function: The transform and the function.
        argument: Which argument.
        value: What it was.
    """

    def __str__(self) -> str:
        return (
            f"{self.function}: the static argument {self.argument} is or holds a Module or Variable "
            f"({type(self.value).__name__}), whose values would stay those of the first call.\n"
            "  Fix: leave it out of static_argnums and static_argnames; what is static about a Module "
            "is so anyway"
        )


@public
class UnhashableArgumentError(_StaticArgumentError):
    """A static argument of a transformed function has no hash.

    Args:
        function: The transform and the function.
        argument: Which argument.
        value: What it was.
    """

    def __str__(self) -> str:
        return (
            f"{self.function}: the static argument {self.argument} has no hash: "
            f"{type(self.value).__name__} {self.value!r}.\n"
            "  Fix: pass a hashable value (a tuple for a list), or do not make the argument static"
        )


@public
class ArgumentOutOfRangeError(ValueError, TypeError):
    """An option of a transform names an argument that the function does not have.

    Args:
        option: The option, with its transform where that helps.
        function: The function.
        argument: The position or name.
        count: How many positional arguments the function has.
    """

    def __init__(self, option: str, function: str, argument: int | str, count: int) -> None:
        super().__init__(option, function, argument, count)
        self.option = option
        self.function = function
        self.argument = argument
        self.count = count

    def __str__(self) -> str:
        return (
            f"{self.option}: {self.function} has no argument {self.argument!r}; it takes "
            f"{counted(self.count, 'positional argument')}.\n"
            "  Fix: name an argument that the function has; positions count from 0"
        )


@public
class BroadcastChangedError(ValueError):
    """A value that all elements of a mapped axis share got another value for each of them.

    Args:
        function: The transform and the function.
        paths: Where the values are.
    """

    def __init__(self, function: str, paths: list[str]) -> None:
        super().__init__(function, paths)
        self.function = function
        self.paths = paths

    def __str__(self) -> str:
        lines = "".join(f"\n    {path}" for path in self.paths[:10])
        return (
            f"{self.function}: values that are not mapped (axis None) were given a value that "
            f"differs along the mapped axis:{lines}\n"
            "  Fix: map them too, with nnx.StateAxes({<filter>: 0, ...: None}) in in_axes or "
            "out_axes, or reduce the value over the axis before it is assigned or returned"
        )


@public
class PartitionNameError(ValueError):
    """The sharding of a Variable does not have the name of the mapped axis where it should.

    Args:
        function: The transform and the function.
        variable: Where the Variable is, or its type.
        name: The name that was expected.
        axis: Where it was expected.
        found: The sharding of the Variable.
    """

    def __init__(
        self, function: str, variable: str, name: str | None, axis: int, found: tuple[object, ...]
    ) -> None:
        super().__init__(function, variable, name, axis, found)
        self.function = function
        self.variable = variable
        self.name = name
        self.axis = axis
        self.found = found

    def __str__(self) -> str:
        return (
            f"{self.function}: Expected to remove {self.name!r} at index {self.axis} from "
            f"{self.found!r}, the out_sharding of {self.variable}.\n"
            "  Fix: give the Variable an out_sharding with a name for each axis of its value, "
            f"{self.name!r} at index {self.axis}, or change transform_metadata"
        )


@public
class PrefixLengthError(ValueError):
    """A sequence of prefixes has another length than there are arguments.

    Args:
        option: The transform and its option.
        prefixes: The number of prefixes.
        arguments: The number of arguments.
    """

    def __init__(self, option: str, prefixes: int, arguments: int) -> None:
        super().__init__(option, prefixes, arguments)
        self.option = option
        self.prefixes = prefixes
        self.arguments = arguments

    def __str__(self) -> str:
        return (
            f"{self.option} must be a tree prefix of the arguments: it has "
            f"{counted(self.prefixes, 'entry', 'entries')}, the function got "
            f"{counted(self.arguments, 'positional argument')}.\n"
            "  Fix: give one entry for each positional argument, or a single one for all"
        )


@public
class ReturnedInputError(ValueError):
    """A Variable of an argument was returned in a mode in which it must not be.

    Args:
        function: The transform and the function.
        kind: The type of the Variable.
        argument: Where it is among the arguments.
        result: Where it is in the result.
    """

    def __init__(self, function: str, kind: str, argument: str, result: str) -> None:
        super().__init__(function, kind, argument, result)
        self.function = function
        self.kind = kind
        self.argument = argument
        self.result = result

    def __str__(self) -> str:
        transform = self.function.partition(" of ")[0]
        if self.argument.startswith("captured"):
            rule = "Cannot return captured Variables"
        else:
            rule = f"{transform} does not support Variable aliasing of arguments and results"
        return (
            f"{self.function}: Duplicate {self.kind} found at paths:\n    {self.argument}\n"
            f"    {self.result}\n"
            f"  {rule} with graph=False or graph_updates=False.\n"
            "  Fix: return nnx.clone(...) of it, or nothing, since changes are seen outside; or "
            "transform with graph=True and graph_updates=True"
        )


@public
class DeletedArrayError(RuntimeError, ValueError):
    """An argument holds an array whose buffer was given away, as a donated one to an earlier call.

    Args:
        function: The transform and the function.
        place: Where the array is.
    """

    def __init__(self, function: str, place: str) -> None:
        super().__init__(function, place)
        self.function = function
        self.place = place

    def __str__(self) -> str:
        return (
            f"{self.function}: the array at {self.place} has been deleted or donated: an earlier call "
            "took its buffer.\n"
            "  Fix: use what that call returned, pass a copy to it, jnp.copy(...), or do not donate"
        )


@public
class DonatedAliasError(ValueError):
    """An array was donated, and used a second time in the same call.

    Args:
        function: The transform and the function.
        paths: Where the array is.
    """

    def __init__(self, function: str, paths: list[str]) -> None:
        super().__init__(function, paths)
        self.function = function
        self.paths = paths

    def __str__(self) -> str:
        lines = "".join(f"\n    {path}" for path in self.paths)
        return (
            f"{self.function}: one array is donated and used again in the same call:{lines}\n"
            "  Fix: copy it with jnp.copy(...) at one of the places, share the Variable instead of "
            "the array, or do not donate"
        )
