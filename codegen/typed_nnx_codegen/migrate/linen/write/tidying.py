"""Makes rewritten functions read well: loops over lists, comments, nothing that nothing reads or needs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.analysis import Analysis
from typed_nnx_codegen.migrate.analysis.syntax import (
    Transformer,
    code_of,
    descendants,
    dotted,
    is_kind,
    name_nodes,
    of_kinds,
    parts_of,
    read_names,
)
from typed_nnx_codegen.migrate.comments import comments_of, with_left_comments, with_only
from typed_nnx_codegen.migrate.linen.domain.class_plan import ListUse
from typed_nnx_codegen.migrate.linen.domain.code import written_with
from typed_nnx_codegen.migrate.linen.domain.names import names_in
from typed_nnx_codegen.migrate.markers import marked_codes

IsPure = Callable[[cst.BaseExpression], bool]

# -- comments --------------------------------------------------------------------------------------


def with_comments(before: cst.CSTNode, after: cst.CSTNode) -> cst.CSTNode:
    """Return a statement with the comments above it that its code lost."""
    leading: Sequence[cst.EmptyLine] | None = getattr(after, "leading_lines", None)
    known = [] if after is before else comments_of(before)
    lost = Counter(known) - Counter(comments_of(after) if known else [])
    texts = [text for text in known if text in lost]
    if leading is None or not texts:
        return after
    lines = [cst.EmptyLine(comment=cst.Comment(text)) for text in dict.fromkeys(texts)]
    return after.with_changes(leading_lines=[*leading, *lines])


# -- names that nothing reads any more -------------------------------------------------------------

# Functions without effects: the results of the others may be unread, and still be asked for.
_PURE: Final = re.compile(
    r"(jax\.(?!debug|experimental|profiler|device_put|config)|numpy\.(?!random)|math\.|itertools\."
    r"|functools\.partial$|operator\."
    r"|(flax\.linen|flax\.nnx|typed_nnx|nnx)\.initializers\."
    r"|flax\.linen\.(checkpoint|jit|map_variables|remat|remat_scan|scan|vmap|add_metadata_axis)$)"
)
_BUILTINS: Final = frozenset(
    {
        *("abs", "bool", "dict", "divmod", "enumerate", "float", "getattr", "hasattr", "int"),
        *("isinstance", "issubclass", "len", "list", "max", "min", "range", "reversed", "round"),
        *("set", "sorted", "str", "sum", "tuple", "type", "zip"),
    }
)
_DYNAMIC: Final = frozenset({"locals", "vars", "eval", "exec"})
_PLAIN: Final = (
    *(cst.Name, cst.BaseNumber, cst.BaseString, cst.Tuple, cst.List, cst.Dict, cst.Set),
    *(cst.UnaryOperation, cst.BinaryOperation, cst.BooleanOperation, cst.Comparison, cst.IfExp),
    *(cst.Attribute, cst.Subscript, cst.Lambda, cst.ListComp, cst.DictComp, cst.SetComp),
    *(cst.GeneratorExp, cst.Call),
)


def pure_in(analysis: Analysis) -> IsPure:
    """Return what says of expressions of a file whether they have no effect."""
    imports = analysis.scope.imports

    def is_pure_call(node: cst.Call) -> bool:
        name = dotted(node.func)
        first, _, rest = name.partition(".")
        binding = imports.get(first)
        if binding is None:
            is_builtin = name in _BUILTINS and name not in analysis.scope.seen
            return is_builtin or (first == "nnx" and _PURE.match(name) is not None)
        full = binding.full if binding.is_from or binding.has_alias else first
        return _PURE.match(f"{full}.{rest}" if rest else full) is not None

    def is_pure(node: cst.BaseExpression) -> bool:
        within = () if isinstance(node, cst.Lambda) else descendants(node)
        for one in (node, *within):
            if isinstance(one, cst.Call) and not is_pure_call(one):
                return False
            if isinstance(one, cst.BaseExpression) and not isinstance(one, _PLAIN):
                return False
        return True

    return is_pure


def without_unread(
    node: cst.FunctionDef,
    names: Iterable[str],
    is_pure: IsPure,
) -> cst.FunctionDef:
    """Return a function without assignments of local names that nothing reads."""
    names = frozenset(names)
    while True:
        read = read_in(node)
        if read & _DYNAMIC or any(of_kinds(descendants(node), *_SHARED)):
            return node
        unread = _Unread(names - (read - _only_changed(node, is_pure)), is_pure)
        body = unread.applied(node.body)
        if not unread.count:
            return node
        node = node.with_changes(body=body)


def _only_changed(node: cst.FunctionDef, is_pure: IsPure) -> frozenset[str]:
    """Return the names that only `units += [1]` reads, of objects that nothing else has."""
    reads = Counter(reads_of(node.body))
    for one in of_kinds(descendants(node.body), cst.AugAssign, cst.Assign):
        match one:
            case cst.AugAssign(target=cst.Name(value=name), value=value):
                reads[name] -= is_pure(value)  # the others stay
            case cst.Assign(value=value) if not _is_fresh(value):
                # What it binds may be a list that others have, too.
                reads.update(bound for each in one.targets for bound in names_in(each.target))
    return frozenset(name for name, count in reads.items() if not count)


def _is_fresh(value: cst.BaseExpression) -> bool:
    """Whether an expression gives an object that nothing else has; `asarray` may give its argument."""
    match value:
        case cst.List() | cst.Tuple() | cst.BinaryOperation() | cst.BaseNumber() | cst.BaseString():
            return True
        case cst.Call(func=cst.Name()):
            return True
    return False


_SHARED: Final = (cst.Global, cst.Nonlocal)


def read_in(node: cst.FunctionDef) -> frozenset[str]:
    """Return the names that a function reads."""
    return frozenset(reads_of(node.body))


# Not all parts of these are read.
_READING: Final = frozenset(
    {
        *(cst.Name, cst.Assign, cst.AnnAssign, cst.For, cst.SimpleString, cst.Attribute, cst.Arg),
        cst.FunctionDef,
    }
)


def reads_of(node: cst.CSTNode) -> Iterator[str]:
    """Yield the names that code reads; those that it only binds are not among them."""
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if type(one) not in _READING:
            waiting += parts_of(one)
            continue
        match one:
            case cst.Name(value=name):
                yield name
            case cst.Attribute(value=value) | cst.Arg(value=value):
                waiting.append(value)
            case cst.Assign(targets=targets, value=value):
                waiting += [value, *(to for each in targets for to in _read_to_bind(each.target))]
            case cst.AnnAssign(target=target, annotation=annotation, value=value):
                waiting += [annotation, *_read_to_bind(target)]
                waiting += [] if value is None else [value]
            case cst.For(target=target, iter=iterable, body=body, orelse=orelse):
                waiting += [*_read_to_bind(target), iterable, body]
                waiting += [] if orelse is None else [orelse]
            case cst.SimpleString() as text:
                yield from read_names(text)
            case cst.FunctionDef() as function:
                waiting += [below for below in parts_of(function) if below is not function.name]


def _read_to_bind(target: cst.BaseExpression) -> Iterator[cst.CSTNode]:
    """Yield what an assignment to a target reads."""
    match target:
        case cst.Name():
            return
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            for one in elements:
                yield from _read_to_bind(one.value)
        case _:
            yield target


_STATEMENTS: Final = (
    *(cst.BaseSuite, cst.BaseCompoundStatement, cst.Else, cst.Finally),
    *(cst.ExceptHandler, cst.ExceptStarHandler, cst.MatchCase),
)


class _Unread(Transformer):
    """Takes out assignments of names, and the functions, branches and loops that are nothing then."""

    def __init__(self, names: frozenset[str], is_pure: IsPure) -> None:
        super().__init__()
        self._names = names
        self._is_pure = is_pure
        self.count = 0

    def on_visit(self, node: cst.CSTNode) -> bool:
        """Leave names of other scopes as they are, and expressions."""
        return isinstance(node, _STATEMENTS) and not isinstance(
            node, cst.ClassDef | cst.FunctionDef
        )

    def leave_FunctionDef(
        self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> cst.BaseStatement | cst.RemovalSentinel:
        """Take out a function that nothing calls any more."""
        is_plain = not original_node.decorators and original_node.name.value in self._names
        return self._gone(updated_node) if is_plain else updated_node

    def leave_SimpleStatementLine(
        self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
    ) -> cst.BaseStatement | cst.RemovalSentinel:
        """Take out an assignment."""
        match original_node.body:
            case [cst.Assign(targets=targets, value=value)]:
                every = [one.target for one in targets]
            case [cst.AnnAssign(target=cst.Name() as target, value=cst.BaseExpression() as value)]:
                every = [target]
            case [cst.AugAssign(target=cst.Name() as target, value=value)]:
                every = [target]
            case _:
                return updated_node
        if marked_codes(original_node.leading_lines):
            return updated_node
        if not all(map(self._is_unread, every)) or not self._is_pure(value):
            return updated_node
        return self._gone(updated_node)

    def leave_If(
        self, original_node: cst.If, updated_node: cst.If
    ) -> cst.BaseStatement | cst.RemovalSentinel:
        """Take out a branch that is empty."""
        orelse = updated_node.orelse
        if isinstance(orelse, cst.Else) and _is_empty(orelse.body):
            updated_node, orelse = updated_node.with_changes(orelse=None), None
        if orelse is None and _is_empty(updated_node.body) and self._is_pure(original_node.test):
            return self._gone(updated_node)
        return updated_node

    def leave_For(
        self, original_node: cst.For, updated_node: cst.For
    ) -> cst.BaseStatement | cst.RemovalSentinel:
        """Take out a loop that is empty."""
        is_unread = updated_node.orelse is None and self._is_unread(original_node.target)
        if is_unread and _is_empty(updated_node.body) and self._is_pure(original_node.iter):
            return self._gone(updated_node)
        return updated_node

    def leave_IndentedBlock(
        self, original_node: cst.IndentedBlock, updated_node: cst.IndentedBlock
    ) -> cst.BaseSuite:
        """Place the comments of what went."""
        del original_node
        block = with_left_comments(updated_node)
        assert isinstance(block, cst.IndentedBlock)
        return block

    def _gone(self, node: cst.BaseStatement) -> cst.SimpleStatementLine | cst.RemovalSentinel:
        self.count += 1
        return with_only(comments_of(node), node)

    def _is_unread(self, target: cst.BaseExpression) -> bool:
        match target:
            case cst.Name(value=name):
                return name in self._names
            case cst.Tuple(elements=elements) | cst.List(elements=elements):
                return all(self._is_unread(one.value) for one in elements)
        return False


def _is_empty(node: cst.BaseSuite) -> bool:
    return isinstance(node, cst.IndentedBlock) and not node.body


# -- loops over lists of submodules ------------------------------------------------------------------


def with_items(
    node: cst.FunctionDef, uses: Sequence[ListUse], is_pure: IsPure
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

    def __init__(self, use: ListUse, function: cst.FunctionDef, is_pure: IsPure) -> None:
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
        """Return a loop over the items of the list; None where it does not take one in each iteration.

        Args:
            node: The statement.
            before: How many items are taken before it.
            behind: How many items are taken after it.
        """
        if not isinstance(node, cst.For) or node.orelse is not None:
            return None
        leaves = (cst.Break, cst.Continue, cst.Return)
        if any(isinstance(one, leaves) for one in descendants(node.body)):
            return None
        return self._over_items(node, before, behind) if self._count_all(node.body) == 1 else None

    def _over_items(self, node: cst.For, before: int, behind: int) -> cst.For:
        body = _Exchange(self._takes, iter([cst.Name(self._item)] * 2)).applied(node.body)
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
        return _Exchange(self._takes, map(cst.parse_expression, texts)).applied(node)


class _Exchange(Transformer):
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


# -- names of locals -------------------------------------------------------------------------------

_NUMBERED: Final = re.compile(r"(\w+_(?:features|sizes|shape))_(\d+)")


def renumbered(node: cst.FunctionDef) -> cst.FunctionDef:
    """Return a constructor whose locals for sizes have no numbers that trials of loops took."""
    names = list(name_nodes(node))
    used = {one.value for one in names}
    given = {one.name.value for one in descendants(node) if isinstance(one, cst.Param)}
    numbered = (_NUMBERED.fullmatch(name) for name in used - given)
    renamed: dict[str, str] = {}
    for base, number in sorted((one[1], int(one[2])) for one in numbered if one is not None):
        name = f"{base}_{number}"
        lower = (base, *(f"{base}_{k}" for k in range(2, number)))
        renamed[name] = next((one for one in lower if one not in used), name)
        used = used - {name} | {renamed[name]}
    return written_with(node, {one: renamed[one.value] for one in names if one.value in renamed})


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
        empty = [one for one in body if _is_empty_list(one, name)]
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


def _is_empty_list(node: cst.BaseStatement, name: str) -> bool:
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


# -- expressions without what says nothing ---------------------------------------------------------

_ATOMS: Final = (
    *(cst.Name, cst.Attribute, cst.Call, cst.Subscript, cst.SimpleString, cst.FormattedString),
    *(cst.List, cst.Dict, cst.ListComp, cst.DictComp, cst.SetComp),
)
# What keeps its parentheses wherever it stands.
_CLOSED: Final = (cst.Tuple, cst.GeneratorExp, cst.NamedExpr, cst.Yield, cst.ConcatenatedString)
# Where an expression stands alone; ruff takes care of statements.
_PLACES: Final = (cst.Arg, cst.Element, cst.DictElement, cst.Index)
_SHAPE: Final = "tuple[int, ...]"


class _Simple(Transformer):
    """Leaves out parentheses that nothing needs, and copies of tuples.

    Args:
        shapes: The names of tuples.
    """

    def __init__(self, shapes: frozenset[str]) -> None:
        super().__init__()
        self._shapes = shapes

    def on_leave(  # type: ignore[override]  # one handler for all kinds
        self, original_node: cst.CSTNode, updated_node: cst.CSTNode
    ) -> cst.CSTNode | cst.RemovalSentinel | cst.FlattenSentinel[cst.CSTNode]:
        """Write a node."""
        after = updated_node
        if not is_kind(type(after), *_ATOMS, *_PLACES, cst.Tuple):
            return after
        match after:
            case cst.Arg(star="") | cst.Element() | cst.DictElement() | cst.Index():
                return after.with_changes(value=_opened(after.value))
            case cst.Tuple(elements=[cst.StarredElement(value=cst.Name(value=name) as shape)]):
                return shape if name in self._shapes else after
            case cst.Subscript(
                value=cst.Name(value=name) as shape,
                slice=[cst.SubscriptElement(slice=cst.Slice(lower=None, upper=None, step=None))],
            ):
                return shape if name in self._shapes else after
            case cst.BaseExpression() if isinstance(after, _ATOMS):
                return _opened(after)
        return after


def simple(node: cst.FunctionDef) -> cst.FunctionDef:
    """Return a generated function without parentheses that nothing needs, and without copies of tuples."""
    params = (*node.params.params, *node.params.kwonly_params)
    shapes = frozenset(
        one.name.value
        for one in params
        if one.annotation is not None and code_of(one.annotation.annotation) == _SHAPE
    )
    try:
        return _Simple(shapes).applied(node)
    except cst.CSTValidationError:  # `(a)if(b)else c`: the parentheses part words
        return node


def _opened(node: cst.BaseExpression) -> cst.BaseExpression:
    """Return an expression that stands alone between brackets or commas, without its own."""
    if isinstance(node, _CLOSED) or not node.lpar or "\n" in code_of(node):
        return node
    return node.with_changes(lpar=[], rpar=[])


def with_open_value(before: cst.CSTNode, after: cst.CSTNode) -> cst.CSTNode:
    """Return a node without the parentheses that came with what stands in it now."""
    if (isinstance(after, cst.Arg) and after.star) or not isinstance(after, _PLACES):
        return after
    old, new = getattr(before, "value", None), getattr(after, "value", None)
    if not isinstance(old, cst.BaseExpression) or not isinstance(new, cst.BaseExpression):
        return after
    return after if old is new or old.lpar else after.with_changes(value=_opened(new))
