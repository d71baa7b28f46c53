"""Statements that write variables: `count.value = x` becomes `count.set_value(x)`."""

from __future__ import annotations

import libcst as cst

_OPERATORS: dict[type[cst.BaseAugOp], cst.BaseBinaryOp] = {
    cst.AddAssign: cst.Add(),
    cst.SubtractAssign: cst.Subtract(),
    cst.MultiplyAssign: cst.Multiply(),
    cst.DivideAssign: cst.Divide(),
    cst.FloorDivideAssign: cst.FloorDivide(),
    cst.ModuloAssign: cst.Modulo(),
    cst.PowerAssign: cst.Power(),
    cst.MatrixMultiplyAssign: cst.MatrixMultiply(),
}


def written_variable(
    node: cst.CSTNode, updated: cst.Assign | cst.AugAssign, reading: str
) -> cst.CSTNode:
    """Return a statement that writes a variable, as NNX has it: shape and dtype may change.

    Args:
        node: The statement as it was.
        updated: It with what is below it rewritten.
        reading: What reads the value, after the expression for the variable.
    """
    target = updated.targets[0].target if isinstance(updated, cst.Assign) else updated.target
    if isinstance(target, (cst.Attribute, cst.Subscript)):
        variable = target.value
    elif isinstance(target, cst.Call) and isinstance(target.func, cst.Attribute):
        variable = target.func.value  # `count.get_value()`
    else:
        return updated
    value = updated.value
    if isinstance(updated, cst.AugAssign):
        operator = _OPERATORS.get(type(updated.operator))
        if operator is None:
            return updated
        before = cst.parse_expression(f"{cst.Module([]).code_for_node(variable)}{reading}")
        if not isinstance(value, (cst.Name, cst.Attribute, cst.Call, cst.Subscript, cst.Integer)):
            value = value.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
        value = cst.BinaryOperation(before, operator, value)
    del node
    return cst.Expr(cst.Call(cst.Attribute(variable, cst.Name("set_value")), [cst.Arg(value)]))
