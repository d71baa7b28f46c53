"""Errors of functions over mapped axes."""

from __future__ import annotations

from typed_nnx._errors.public import public


@public
class ReplicatedChangedError(ValueError):
    """A value that devices share got values that differ from device to device.

    Args:
        function: The name of the transform.
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
            "<axis>); or name the axis in in_specs; or pass check_vma=False to take one device's value"
        )
