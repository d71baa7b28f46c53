"""Errors of Modules."""

from __future__ import annotations

from typed_nnx._errors.public import public


@public
class VariableTypeError(ValueError):
    """`sow` or `perturb` met an attribute of another type than the one it writes.

    Args:
        module: The name of the Module's type.
        attribute: The attribute.
        expected: The Variable type that was asked for.
        got: The type that is there.
        is_variable: Whether that is a Variable.
    """

    def __init__(
        self, module: str, attribute: str, expected: str, got: str, is_variable: bool = True
    ) -> None:
        super().__init__(module, attribute, expected, got, is_variable)
        self.is_variable = is_variable
        self.module = module
        self.attribute = attribute
        self.expected = expected
        self.got = got

    def __str__(self) -> str:
        wanted = f"of type '{self.expected}'" if self.is_variable else "a Variable"
        return (
            f"Expected '{self.attribute}' to be {wanted}, got '{self.got}' "
            f"(attribute of {self.module}).\n"
            "  Fix: record the value under another name"
        )


@public
class AttributesNotFoundError(ValueError):
    """`set_attributes`, `with_attributes` or `view` was given names that no selected Module has.

    Args:
        function: The function that was called.
        missing: The names.
        root: The name of the type of the root.
    """

    def __init__(self, function: str, missing: list[str], root: str) -> None:
        super().__init__(function, missing, root)
        self.function = function
        self.missing = missing
        self.root = root

    def __str__(self) -> str:
        if self.function == "view":
            return (
                f"Unused keys found in nnx.view: {self.missing} (no `set_view` of a selected Module "
                f"in {self.root} takes them).\n"
                "  Fix: correct the names, or pass raise_if_not_found=False"
            )
        return (
            f"{self.function}: Could not find at least one instance of the following attributes: "
            f"{self.missing} (in the selected Modules of {self.root}).\n"
            "  Fix: correct the names or the filters, or pass raise_if_not_found=False"
        )
