"""Writes loops over lists of submodules: over their items where an iteration takes just one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import code_of, descendants
from typed_nnx_codegen.migrate.linen.domain.class_plan import ListUse
from typed_nnx_codegen.migrate.linen.write.tidying import reads_of

_IsPure = Callable[[cst.BaseExpression], bool]


def with_items(
    node: cst.FunctionDef, uses: Sequence[ListUse], is_pure: _IsPure
) -> tuple[cst.FunctionDef, list[str]]:
    """Return a method whose loops run over lists of submodules, and the lists that are left.

    Args:
        node: The method, in which ``next(convs)`` is the next item of a list.
        uses: The lists.
        is_pure: Whether an expression has no effect.
    """
    left: list[str] = []
    for use in uses:
        after = _Taking(use, node, is_pure).run()
        if after is None:
            left.append(use.name)
        else:
            node = after
    return node, left


@dataclass(frozen=True)
class _Header:
    """What a loop counts and runs over.

    Attributes:
        index: What it counts with; None where it does not.
        pairs: What is bound to the items of which sequences.
    """

    index: cst.BaseExpression | None
    pairs: tuple[tuple[cst.BaseExpression, cst.BaseExpression], ...]


class _Taking:
    """Takes the items of one list of submodules without an iterator.

    Args:
        use: The list.
        function: The method.
        is_pure: Whether an expression has no effect.
    """

    def __init__(self, use: ListUse, function: cst.FunctionDef, is_pure: _IsPure) -> None:
        self._use = use
        self._function = function
        self._is_pure = is_pure
        names = {one.value for one in descendants(function) if isinstance(one, cst.Name)}
        self._item = use.item
        while self._item in names:
            self._item += "_layer"

    def run(self) -> cst.FunctionDef | None:
        """Return the method; None where its loops do not take one item in each iteration."""
        body = self._function.body
        if self._use.singles is None or not isinstance(body, cst.IndentedBlock):
            return None
        after = self._block(body, self._use.singles)
        return None if after is None else self._function.with_changes(body=after)

    def _block(self, block: cst.IndentedBlock, singles: int) -> cst.IndentedBlock | None:
        """Return a block that takes all of the list, with so many items outside of its loop."""
        counts = [self._count(one) for one in block.body]
        places = [number for number, count in enumerate(counts) if count != 0]
        loops = [number for number in places if not self._is_single(block.body[number])]
        if len(loops) != 1:
            return None
        (place,) = loops
        before = [counts[number] for number in places if number < place]
        behind = [counts[number] for number in places if number > place]
        known = [count for count in (*before, *behind) if count is not None]
        if len(known) != len(before) + len(behind) or sum(known) != singles:
            return None
        loop = self._looped(block.body[place], sum(known[: len(before)]), sum(known[len(before) :]))
        if loop is None:
            return None
        body = list(block.body)
        indexes = iter([*range(sum(known[: len(before)])), *range(-sum(known[len(before) :]), 0)])
        for number in places:
            body[number] = loop if number == place else self._indexed(body[number], indexes)
        return block.with_changes(body=body)

    @staticmethod
    def _is_single(node: cst.BaseStatement) -> bool:
        return isinstance(node, cst.SimpleStatementLine)

    def _count(self, node: cst.CSTNode) -> int | None:
        """Return how many items a statement always takes; None where that depends."""
        total = sum(map(self._takes, (node, *descendants(node))))
        match node:
            case _ if total == 0:
                return 0
            case cst.SimpleStatementLine():
                return None if any(map(self._depends, descendants(node))) else total
            case cst.If(test=test, body=body, orelse=orelse):
                sides = [self._count_all(body), self._count(orelse) if orelse is not None else 0]
                is_plain = not any(map(self._takes, descendants(test)))
                return sides[0] if is_plain and sides[0] == sides[1] else None
            case cst.Else(body=body) | cst.With(body=body):
                return self._count_all(body)
        return None

    def _count_all(self, block: cst.BaseSuite) -> int | None:
        counts = [self._count(one) for one in block.body]
        known = [count for count in counts if count is not None]
        return sum(known) if len(known) == len(counts) else None

    def _takes(self, node: cst.CSTNode) -> bool:
        match node:
            case cst.Call(func=cst.Name(value="next"), args=[cst.Arg(value=cst.Name(value=name))]):
                return name == self._use.name
        return False

    def _depends(self, node: cst.CSTNode) -> bool:
        """Whether an expression takes items, but not always, or not at once."""
        kinds = (cst.Lambda, cst.BaseComp, cst.IfExp, cst.BooleanOperation)
        return isinstance(node, kinds) and any(map(self._takes, descendants(node)))

    # -- loops --------------------------------------------------------------------------------

    def _looped(
        self, node: cst.BaseStatement, before: int, behind: int
    ) -> cst.BaseStatement | None:
        """Return a loop, or branches with one each, over the items of the list.

        Args:
            node: The statement.
            before: How many items are taken before it.
            behind: How many items are taken after it.
        """
        match node:
            case cst.For(body=cst.IndentedBlock() as body, orelse=None):
                leaves = (cst.Break, cst.Continue, cst.Return)
                if any(isinstance(one, leaves) for one in descendants(body)):
                    return None
                return (
                    self._over_items(node, before, behind) if self._count_all(body) == 1 else None
                )
            case cst.If(body=cst.IndentedBlock() as body, orelse=orelse) if (
                not before and not behind
            ):
                changes: dict[str, object] = {}
                if self._count_all(body) != 0:
                    changes["body"] = self._block(body, 0)
                match orelse:
                    case cst.Else(body=cst.IndentedBlock() as other) if self._count(orelse) != 0:
                        block = self._block(other, 0)
                        changes["orelse"] = (
                            None if block is None else orelse.with_changes(body=block)
                        )
                    case cst.If() if self._count(orelse) != 0:
                        changes["orelse"] = self._looped(orelse, 0, 0)
                return None if None in changes.values() else node.with_changes(**changes)
        return None

    def _over_items(self, node: cst.For, before: int, behind: int) -> cst.For:
        body = node.body.visit(_Exchange(self._takes, iter([cst.Name(self._item)] * 2)))
        assert isinstance(body, cst.IndentedBlock)
        header = self._header(node.target, node.iter)
        read = self._read_besides(node, body)
        kept = [
            (target, values)
            for target, values in header.pairs
            if _bound(target) & read or not self._is_pure(values)
        ]
        kept.append((cst.Name(self._item), self._part(before, behind)))
        target, values = kept[0]
        if len(kept) > 1:
            target = _tuple([_closed(one) for one, _ in kept])
            values = cst.Call(cst.Name("zip"), [cst.Arg(one) for _, one in kept])
        if header.index is not None and _bound(header.index) & read:
            target = _tuple([header.index, _closed(target)])
            values = cst.Call(cst.Name("enumerate"), [cst.Arg(values)])
        return node.with_changes(target=target, iter=values, body=body)

    def _header(self, target: cst.BaseExpression, values: cst.BaseExpression) -> _Header:
        match target, values:
            case cst.Tuple(elements=[index, inner]), cst.Call(
                func=cst.Name(value="enumerate"), args=[cst.Arg(star="", value=counted)]
            ):
                below = self._header(inner.value, counted)
                if below.index is None:
                    return _Header(index.value, below.pairs)
            case cst.Tuple(elements=elements), cst.Call(func=cst.Name(value="zip"), args=args) if (
                len(elements) == len(args)
                and all(not arg.star and arg.keyword is None for arg in args)
            ):
                pairs = zip(elements, args, strict=True)
                return _Header(None, tuple((one.value, arg.value) for one, arg in pairs))
            case cst.Name(), cst.Call(func=cst.Name(value="range"), args=[cst.Arg(star="")]):
                return _Header(target, ())
        return _Header(None, ((target, values),))

    def _read_besides(self, loop: cst.For, body: cst.IndentedBlock) -> frozenset[str]:
        """Return the names that are read in the body of a loop, or in code without it."""
        read = set(reads_of(body))
        waiting: list[cst.CSTNode] = [self._function.body]
        while waiting:
            node = waiting.pop()
            if node is loop:
                continue
            if isinstance(node, cst.For):
                own = _bound(node.target)
                read |= {*reads_of(node.body), *reads_of(node.iter)} - own
                continue
            if isinstance(node, cst.IndentedBlock | cst.If | cst.Else | cst.With):
                waiting += node.children
            else:
                read |= set(reads_of(node))
        return frozenset(read)

    def _part(self, before: int, behind: int) -> cst.BaseExpression:
        """Return the part of the list that a loop takes."""
        whole = f"self.{self._use.name}"
        part = f"[{before or ''}:{-behind or ''}]" if before or behind else ""
        return cst.parse_expression(f"{whole}{part}")

    def _indexed(self, node: cst.BaseStatement, indexes: Iterator[int]) -> cst.BaseStatement:
        texts = (f"self.{self._use.name}[{index}]" for index in indexes)
        after = node.visit(_Exchange(self._takes, map(cst.parse_expression, texts)))
        assert isinstance(after, cst.BaseStatement)
        return after


class _Exchange(cst.CSTTransformer):
    """Writes other expressions for calls, in order.

    Args:
        is_meant: Whether a call is one of them.
        others: The expressions.
    """

    def __init__(
        self, is_meant: Callable[[cst.CSTNode], bool], others: Iterator[cst.BaseExpression]
    ) -> None:
        super().__init__()
        self._is_meant = is_meant
        self._others = others

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:
        """Write an expression."""
        return next(self._others) if self._is_meant(original_node) else updated_node


def _bound(target: cst.BaseExpression) -> frozenset[str]:
    return frozenset(
        one.value for one in (target, *descendants(target)) if isinstance(one, cst.Name)
    )


def _tuple(items: Iterable[cst.BaseExpression]) -> cst.Tuple:
    return cst.Tuple([cst.Element(one) for one in items], lpar=[], rpar=[])


def _closed(node: cst.BaseExpression) -> cst.BaseExpression:
    if isinstance(node, cst.Tuple) and not node.lpar:
        return node.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    return node


# -- lists that a loop of the constructor fills ----------------------------------------------------


def with_comprehensions(node: cst.FunctionDef) -> cst.FunctionDef:
    """Return a constructor that builds lists at once which a loop did nothing but fill."""
    if not isinstance(node.body, cst.IndentedBlock):
        return node
    body = list(node.body.body)
    for loop in [one for one in body if isinstance(one, cst.For)]:
        filled = _filled(loop)
        if filled is None:
            continue
        name, item = filled
        empty = [one for one in body if _is_empty(one, name)]
        uses = [one for one in descendants(node.body) if _is_own(one, name)]
        others = {name for one in body if one is not loop for name in reads_of(one)}
        if len(empty) != 1 or len(uses) != 2 or _bound(loop.target) & others:
            continue
        made = cst.ListComp(item, cst.CompFor(loop.target, loop.iter))
        place = body.index(loop)
        body[place] = _with_value(empty[0], made, loop.leading_lines)
        body.remove(empty[0])
    return node.with_changes(body=node.body.with_changes(body=body))


def _filled(loop: cst.For) -> tuple[str, cst.BaseExpression] | None:
    """Return the list to which a loop adds one item in each iteration, and that item."""
    match loop:
        case cst.For(
            body=cst.IndentedBlock(
                body=[
                    cst.SimpleStatementLine(
                        body=[
                            cst.Expr(
                                value=cst.Call(
                                    func=cst.Attribute(
                                        value=cst.Attribute(
                                            value=cst.Name(value="self"),
                                            attr=cst.Name(value=name),
                                        ),
                                        attr=cst.Name(value="append"),
                                    ),
                                    args=[cst.Arg(value=item)],
                                )
                            )
                        ]
                    )
                ]
            ),
            orelse=None,
        ):
            return name, item
    return None


def _is_own(node: cst.CSTNode, name: str) -> bool:
    match node:
        case cst.Attribute(value=cst.Name(value="self"), attr=cst.Name(value=attribute)):
            return attribute == name
    return False


def _is_empty(node: cst.BaseStatement, name: str) -> bool:
    """Whether a statement makes an empty list for an attribute."""
    match node:
        case cst.SimpleStatementLine(
            body=[
                cst.AnnAssign(
                    target=target, value=cst.Call(args=[cst.Arg(value=cst.List())]) as made
                )
            ]
        ):
            return _is_own(target, name) and code_of(made).endswith("List([])")
    return False


def _with_value(
    node: cst.BaseStatement, value: cst.BaseExpression, above: Sequence[cst.EmptyLine]
) -> cst.BaseStatement:
    """Return the statement that makes a list, with its items."""
    match node:
        case cst.SimpleStatementLine(
            body=[cst.AnnAssign(target=target, value=cst.Call() as made)], leading_lines=leading
        ):
            call = made.with_changes(args=[cst.Arg(value)])
            line = cst.Assign([cst.AssignTarget(target)], call)
            return node.with_changes(body=[line], leading_lines=[*leading, *above])
    return node
