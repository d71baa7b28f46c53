"""Errors of functions over mapped axes."""

from __future__ import annotations

from typed_nnx._errors.public import public


@public
class ReplicatedChangedError(ValueError):
    """A value that devices share got values that differ from device to device.

    Args:
        function: The transform and the function.
        places: Path, spec and the axes along which the value differs, of each.
    """

    def __init__(self, function: str, places: list[tuple[str, str, tuple[str, ...]]]) -> None:
        super().__init__(function, places)
        self.function = function
        self.places = places

    def __str__(self) -> str:
        lines = "".join(
            f"\n    {path}: spec {spec}, the value differs along {', '.join(map(repr, axes))}"
            for path, spec, axes in self.places[:10]
        )
        return (
            f"{self.function}: values were given that differ along mesh axes which their specs do "
            f"not name, so that devices cannot share them (replication):{lines}\n"
            "  Fix: reduce the value over the axis before it is assigned, jax.lax.pmean(value, "
            "<axis>); or name the axis in in_specs or out_specs; or pass check_vma=False to take one device's value"
        )


@public
class PrefixStructureError(ValueError):
    """A tree of prefixes has another structure than the value that it is for.

    Args:
        function: The transform and the function.
        option: The option with the prefixes.
        place: Where the structures differ.
        prefix: What the prefix is there.
        value: What the value is there.
    """

    def __init__(self, function: str, option: str, place: str, prefix: str, value: str) -> None:
        super().__init__(function, option, place, prefix, value)
        self.function = function
        self.option = option
        self.place = place
        self.prefix = prefix
        self.value = value

    def __str__(self) -> str:
        return (
            f"{self.function}: {self.option} must be a tree prefix of the values: the structure "
            f"differs at {self.place}, where {self.option} has {self.prefix} and the value is "
            f"{self.value}.\n"
            "  Fix: give one prefix for the whole value, or the same containers as in the value; "
            "inside an object, StateAxes or StateSharding"
        )


@public
class AxisSizeError(ValueError):
    """Values are mapped over axes of different sizes, or over axes that they do not have.

    Args:
        function: The transform and the function.
        sizes: For each size the axes that have it; None for values without such an axis.
    """

    def __init__(self, function: str, sizes: dict[int | None, list[str]]) -> None:
        super().__init__(function, sizes)
        self.function = function
        self.sizes = sizes

    def __str__(self) -> str:
        lines = []
        for size, places in sorted(self.sizes.items(), key=lambda entry: -len(entry[1])):
            begin = "no such axis, the rank is too low" if size is None else f"size {size}"
            more = f" and {len(places) - 3} more" if len(places) > 3 else ""
            lines.append(f"\n    {begin}: {'; '.join(places[:3])}{more}")
        return (
            f"{self.function} got inconsistent sizes for array axes to be mapped:{''.join(lines)}\n"
            "  Fix: map over axes of one size; None, in in_axes or a StateAxes, for what is not mapped"
        )


@public
class PrefixKindError(ValueError):
    """An option that takes prefixes of arguments has one of a kind that the mode does not allow.

    Args:
        transform: The name of the transform.
        option: The name of the option.
        found: What it has.
        rule: What cannot be.
        fix: What to give instead.
    """

    def __init__(self, transform: str, option: str, found: object, rule: str, fix: str) -> None:
        super().__init__(transform, option, found, rule, fix)
        self.transform = transform
        self.option = option
        self.found = found
        self.rule = rule
        self.fix = fix

    def __str__(self) -> str:
        return f"{self.transform}: {self.rule}\n  Found: {self.found!r}\n  Fix: {self.fix}"
