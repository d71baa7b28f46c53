"""Errors of recurrent layers."""

from __future__ import annotations

from typed_nnx._errors.public import public


@public
class AbstractCellError(NotImplementedError):
    """A recurrent cell lacks something that each cell must define.

    Args:
        cell: The class of the cell.
        member: What it lacks, as one writes it.
    """

    def __init__(self, cell: str, member: str) -> None:
        super().__init__(cell, member)
        self.cell = cell
        self.member = member

    def __str__(self) -> str:
        return (
            f"{self.cell}: does not define {self.member}; expected a cell with `__call__`, "
            "`initialize_carry` and `num_feature_axes`.\n"
            f"  Fix: define {self.member} in {self.cell}, or use nnx.LSTMCell or nnx.GRUCell"
        )
