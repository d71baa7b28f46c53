"""Errors of transforms: their options, structures, carries, branches, derivatives and meshes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from typed_nnx.errors._base_error import Error, Problem

_CHANGES = "{function}: {problem}:{changes!l}\n  Fix: {fix}"

# -- what changes ------------------------------------------------------------------------------


class StructureChangedError(Error, ValueError):
    """A function changed an object, or its structure, where a transform does not allow it.

    Attributes:
        function: The transform and the function.
        changes: What changed, a line for each place.
        fix: What to do.
        problem: Which rule that breaks.
    """

    function: str
    changes: Sequence[str]
    fix: str = "change the structure outside, or allow it with graph_updates=True"
    problem: str = "the structure of an argument changed"
    template: ClassVar[str] = _CHANGES


class BroadcastChangedError(Error, ValueError):
    """A value that mapped elements or devices share got a different value for each of them.

    Attributes:
        function: The transform and the function.
        problem: Which rule that breaks.
        paths: Where the values are, a line for each.
        fix: What to do.
    """

    function: str
    problem: str
    paths: Sequence[str]
    fix: str
    template = "{function}: {problem}:{paths!l}\n  Fix: {fix}"


class CarryTypeError(Error, TypeError, ValueError):
    """What a loop carries has another structure, shape or dtype after a step than before.

    Attributes:
        function: The transform and the function.
        changes: What changed, a line for each place.
        problem: Which rule that breaks.
        fix: What to do.
    """

    function: str
    changes: Sequence[str]
    problem: str = "carry input and carry output must have equal types; a step changed them"
    fix: str = (
        "keep shape and dtype, for instance with .astype(...) or by starting with the type that a "
        "step returns"
    )
    template: ClassVar[str] = _CHANGES


class BranchMismatchError(Error, TypeError):
    """The branches of `cond` or `switch` leave different structures, or values of different types.

    Attributes:
        function: The name of the transform.
        first: The first branch: its name and the function.
        other: The other branch.
        differences: What differs, a line for each place.
    """

    function: str
    first: str
    other: str
    differences: Sequence[str]
    template = (
        "{function}: {first} and {other} must leave the same structures and types, but they "
        "differ:{differences!l}\n"
        "  Fix: make the same structural changes in every branch, or make them outside; for types, "
        "value.astype(...) or .reshape(...) in one of the branches"
    )


class CompiledCallError(Error, TypeError):
    """A compiled function was called with other arguments than it was compiled for.

    Attributes:
        function: The function.
        changes: What differs, a line for each place.
    """

    function: str
    changes: Sequence[str]
    template = (
        "Function compiled with other arguments than it was called with: {function}{changes!l}\n"
        "  Fix: call it with arguments of the same structure, shapes and dtypes as those given to "
        "lower(...), or call the function that nnx.jit returned, which compiles anew"
    )


class DonationError(Problem, ValueError, RuntimeError):
    """A donated array is used a second time: in the same call, or after an earlier one."""


# -- prefixes and axes -------------------------------------------------------------------------


class PrefixError(Problem, ValueError):
    """Axes or other prefixes of arguments and results do not fit these, or each other."""


class AxisSizeError(Error, ValueError):
    """Values are mapped over axes of different sizes, or over axes that they do not have.

    Attributes:
        function: The transform and the function.
        sizes: For each size the axes that have it; None for values without such an axis.
    """

    function: str
    sizes: dict[int | None, list[str]]

    def message(self) -> str:
        """Return the text."""
        lines: list[str] = []
        for size, places in sorted(self.sizes.items(), key=lambda entry: -len(entry[1])):
            begin = "no such axis, the rank is too low" if size is None else f"size {size}"
            more = f" and {len(places) - 3} more" if len(places) > 3 else ""
            lines.append(f"\n    {begin}: {'; '.join(places[:3])}{more}")
        return (
            f"{self.function} got inconsistent sizes for array axes to be mapped:{''.join(lines)}\n"
            "  Fix: map over axes of one size; None, in in_axes or a StateAxes, for what is not mapped"
        )


# -- sharding ----------------------------------------------------------------------------------


class ShardingError(Problem, ValueError, TypeError):
    """Rules for logical axes, or names of axes in the metadata of Variables, make no sense."""


class MeshRequiredError(Error, ValueError):
    """A Variable has sharding metadata but there is no mesh to place its value on.

    Attributes:
        spec: The partition of the value.
        where: The Variable, or its path.
    """

    spec: object
    where: str = "Variable"
    template = (
        "{where}: no mesh for out_sharding={spec}; expected a current mesh or one in the metadata.\n"
        "  Fix: `with jax.set_mesh(mesh):` around the construction of the {made}, or `with "
        "nnx.use_eager_sharding(False):` to place it later, or mesh=mesh in the metadata of the "
        "Variable (kernel_metadata={{'out_sharding': ..., 'mesh': mesh}} of a layer)"
    )

    @property
    def made(self) -> str:
        """What is under construction: a Module, or the Variable alone."""
        return self.where.partition(".")[0] if "." in self.where else "Variable"


class UnknownMeshAxisError(Error, ValueError):
    """A partition names an axis that the mesh does not have.

    Attributes:
        where: The Variable, or its path.
        spec: The partition, after the rules for logical axes.
        unknown: The names that are not axes of the mesh.
        axes: The axes of the mesh.
    """

    where: str
    spec: object
    unknown: tuple[str, ...]
    axes: tuple[object, ...]

    def message(self) -> str:
        """Return the text."""
        names = ", ".join(map(repr, self.unknown))
        example = self.axes[0] if self.axes else None
        return (
            f"{self.where}: {names} in the partition {self.spec} is not found in mesh: expected "
            f"names among its axes {self.axes!r}.\n"
            f"  Fix: map it to a mesh axis: nnx.logical_axis_rules((({self.unknown[0]!r}, "
            f"{example!r}),)), or sharding_rules=... of the Variable"
        )


class ExportError(Problem, ValueError):
    """A function or a model cannot be exported as it is."""


# -- derivatives -------------------------------------------------------------------------------


class ResultError(Problem, TypeError, ValueError):
    """A function under a transform that differentiates returned something of another form."""


class TangentStructureError(Error, TypeError, ValueError):
    """A tangent or cotangent has another structure than the values that it belongs to.

    Attributes:
        function: The name of the transform.
        place: What the tangent is for.
        expected: What was expected: a type and the paths of its values.
        found: What was given, likewise.
    """

    function: str
    place: str
    expected: str
    found: str
    template = (
        "{function}: unexpected tree structure of {place}: expected {expected}, got {found}.\n"
        "  Fix: give a Module of the same structure, or a State of all of these values, such as "
        "jax.tree.map(jnp.zeros_like, nnx.state(model))"
    )


class MissingRuleError(Problem, AttributeError, ValueError, TypeError):
    """A `custom_vjp` function has no rule yet, or its rule has no cotangent for a value."""
