"""Errors of sharding metadata: rules for logical axes, names of mesh axes, partition names."""

from __future__ import annotations

from typed_nnx._errors.public import public


@public
class InvalidAxisRulesError(TypeError, ValueError):
    """The rules for logical axes are not pairs of a name and the mesh axes that it stands for.

    Args:
        function: The function that was called, or the metadata that holds them.
        got: What was given.
    """

    def __init__(self, function: str, got: object) -> None:
        super().__init__(function, got)
        self.function = function
        self.got = got

    def __str__(self) -> str:
        return (
            f"{self.function}: the rules are {self.got!r} ({type(self.got).__name__}); expected "
            "pairs of a logical axis and what it stands for: a mesh axis, a tuple of mesh axes, or "
            "None.\n"
            "  Fix: (('batch', 'data'), ('embed', None))"
        )


@public
class InconsistentAxisRulesError(ValueError):
    """Two sets of rules say different things about one logical axis.

    Args:
        name: The logical axis.
        in_force: What the rules in force say it stands for.
        own: What the ``sharding_rules`` of the Variable say.
    """

    def __init__(self, name: str, in_force: object, own: object) -> None:
        super().__init__(name, in_force, own)
        self.name = name
        self.in_force = in_force
        self.own = own

    def __str__(self) -> str:
        return (
            f"sharding_rules: Inconsistent rules for the logical axis {self.name!r}: it stands for "
            f"{self.own!r} in the `sharding_rules` of the Variable, for {self.in_force!r} in the "
            "`logical_axis_rules` in force.\n"
            f"  Fix: leave {self.name!r} out of one of them, or give it another name in one"
        )


@public
class UnknownMeshAxisError(ValueError):
    """A partition names an axis that the mesh does not have.

    Args:
        where: The Variable, or its path.
        spec: The partition, after the rules for logical axes.
        unknown: The names that are not axes of the mesh.
        axes: The axes of the mesh.
    """

    def __init__(
        self, where: str, spec: object, unknown: tuple[str, ...], axes: tuple[object, ...]
    ) -> None:
        super().__init__(where, spec, unknown, axes)
        self.where = where
        self.spec = spec
        self.unknown = unknown
        self.axes = axes

    def __str__(self) -> str:
        names = ", ".join(map(repr, self.unknown))
        return (
            f"{self.where}: {names} in the partition {self.spec} is not found in mesh: expected "
            f"names among its axes {self.axes!r}.\n"
            f"  Fix: say what it stands for: nnx.logical_axis_rules((({self.unknown[0]!r}, "
            f"{self._example()!r}),)), or sharding_rules=... of the Variable"
        )

    def _example(self) -> object:
        return self.axes[0] if self.axes else None


@public
class MissingPartitionNameError(ValueError):
    """`add_axis` or `remove_axis` was not told the name of the axis.

    Args:
        function: The function that was called.
        got: The names that its ``transform_metadata`` has.
    """

    def __init__(self, function: str, got: tuple[object, ...]) -> None:
        super().__init__(function, got)
        self.function = function
        self.got = got

    def __str__(self) -> str:
        return (
            f'{self.function}: "partition_name" is not specified in transform_metadata, which has '
            f"the names {list(self.got)!r}; expected the name of the axis (or None) under it.\n"
            f"  Fix: {self.function}(tree, index, {{nnx.PARTITION_NAME: 'layers'}})"
        )
