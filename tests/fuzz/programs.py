"""Random programs of nested transforms, made from a seed."""

from __future__ import annotations

import typing as tp

from tests.fuzz.helpers import NAMES
from tests.fuzz.source import Function, Line, Program, Statement
from tests.fuzz.statements import Statements


class Writer(Statements):
    """Writes one program."""

    # -- the objects ---------------------------------------------------------------------------------

    def program(self) -> Program:
        """Return the program."""
        roots = [f"m{n}" for n in range(self.random.randrange(1, 4))]
        setup = [Line(f"{root} = H.M()") for root in roots]
        for n, root in enumerate(roots):
            setup.append(Line(f"{root}.a = {self.variable()}"))
            for name in self.random.sample(NAMES[1:], self.random.randrange(0, 4)):
                setup.append(Line(f"{root}.{name} = {self.attribute(roots, n)}"))
            if self.chance(0.2):
                setup.append(Line(f"{root}.config = H.config({self.random.randrange(3)})"))
            if self.chance(0.3):
                setup.append(Line(f"{root}.mode = {self.one('train', 'eval')!r}"))
        setup.append(Line(f"x = H.arr(0.3, {self.shape})"))
        everything = ", ".join(roots)
        setup.append(Line(f"H.roots = [{everything}]"))
        body: list[Statement] = []
        for _ in range(self.one(1, 1, 2)):
            body += self.call(roots, 0, False, self.rank, False)
            body.append(Line(f"H.see(x, {everything})"))
            while self.chance(0.5):
                body += self.change(roots, True)
            if self.chance(0.1):
                body.append(Line(f"H.swap_class(H.m({self.random.randrange(4)}, {everything}))"))
            if self.chance(0.1):
                body.append(Line(f"H.grow(H.m({self.random.randrange(4)}, {everything}))"))
            if self.functions and self.chance(0.7):
                body += self.again(roots)
                body.append(Line(f"H.see(x, {everything})"))
        return Program(self.seed, self.closures, tuple(setup), tuple(body))

    def block(
        self,
        roots: tp.Sequence[str],
        depth: int,
        grad: bool,
        rank: int,
        loops: bool,
        structure: bool,
    ) -> tuple[Statement, ...]:
        """Return the statements of a function."""
        body: list[Statement] = []
        known = len(self.functions)
        for _ in range(self.one(1, 1, 2, 2, 3)):
            if self.closures and self.functions and not grad and self.chance(0.1):
                body += self.again(roots, depth + 1)
            elif depth < 3 and self.chance((0.5, 0.25, 0.1)[depth]):
                body += self.call(roots, depth + 1, grad, rank, loops, structure)
            else:
                body += self.change(roots, structure)
        if self.chance(0.03):
            body.append(Line("H.fail()"))
        del self.functions[known:]
        return tuple(body)

    # -- calls of transforms ------------------------------------------------------------------------------

    def args(self, roots: tp.Sequence[str], plain: bool) -> list[str]:
        """Choose arguments, often the same or sharing."""
        return [self.arg(roots, plain) for _ in range(self.one(0, 1, 1, 1, 2, 2, 3))]

    def arg(self, roots: tp.Sequence[str], plain: bool) -> str:
        """Return an argument: an object, a container of objects, or a Variable."""
        one, two = self.one(*roots), self.one(*roots)
        if plain or self.chance(0.8):
            return one
        return self.one(
            f"{{'u': {one}, 'v': {two}}}",
            f"[{one}, {two}]",
            f"({one}, {two})",
            f"H.v({self.random.randrange(4)}, {one})",
        )

    def call(
        self, roots: tp.Sequence[str], depth: int, grad: bool, rank: int, loops: bool,
        structure: bool = True,
    ) -> list[Statement]:  # fmt: skip
        """Return the definition of a transformed function and its call."""
        kinds = (
            ["jit"] * 4 + ["remat"] * 2 + ["grad"] * 3 + ["cond"] * 2 + ["switch", "fori", "fori"]
        )
        kinds += ["scan"] * 2 + ["custom", "partial"] + ([] if grad else ["while"] * 2)
        kinds += ["vmap"] * 3 if rank else []
        kind = self.one(*kinds)
        args = self.args(roots, kind in ("grad", "custom", "scan", "vmap"))
        params = [self.name("p") for _ in args]
        # What is captured: sometimes nothing, else all that is in scope.
        captures = self.closures and self.chance(0.6)
        if not args and not captures:
            args, params = [roots[0]], [self.name("p")]
        visible = [*params, *(roots if captures else [])]
        structure = structure and self.structural
        write = getattr(self, f"call_{kind}")
        return write(args, params, visible, depth, grad, rank, structure)

    def returned(self, visible: tp.Sequence[str]) -> str:
        """Return further results: sometimes an object."""
        near, k = ", ".join(visible), self.random.randrange(6)
        if self.chance(0.75):
            return ""
        return ", " + self.one(
            *visible, f"H.o({k}, {near})", f"H.clone(H.o({k}, {near}))", f"{self.variable('x')}"
        )

    def bind(self, call: str, depth: int) -> Line:
        """Return the line that takes up a result, with objects in it."""
        rest = self.name("r")
        held = "" if depth else f"\nH.held.extend(H.own({rest}))"
        return Line(f"x, *{rest} = H.tup({call}){held}")

    def call_jit(self, args, params, visible, depth, grad, rank, structure, how="nnx.jit"):
        name = self.name("f")
        fixed = self.chance(0.12)
        if fixed:
            structure = structure and self.chance(0.2)
            how = f"H.with_options({how}, graph_updates=False)"
        body = self.block(visible, depth, grad, rank, False, structure)
        result = "x" + ("" if fixed else self.returned(visible))
        made = Function(name, ", ".join([*params, "x"]), (), body, result, f"@{how}")
        if depth == 0:
            self.functions.append((name, "jit", len(args), False))
        given = [*args, "x"]
        if self.chance(0.15) and not fixed:  # by name
            first = self.random.randrange(len(given))
            named = zip([*params, "x"][first:], given[first:], strict=True)
            given = [*given[:first], *(f"{p}={a}" for p, a in named)]
        return [made, self.bind(f"{name}({', '.join(given)})", depth)]

    def call_remat(self, args, params, visible, depth, grad, rank, structure):
        return self.call_jit(args, params, visible, depth, grad, rank, structure, "nnx.remat")

    def call_partial(self, args, params, visible, depth, grad, rank, structure):
        made, _ = self.call_jit(args, params, visible, depth, grad, rank, structure)
        if depth == 0:
            self.functions.pop()
        name = self.name("q")
        bound = self.random.randrange(len(args) + 1)
        partial = Line(f"{name} = nnx.cached_partial({', '.join([made.name, *args[:bound]])})")
        call = self.bind(f"{name}({', '.join([*args[bound:], 'x'])})", depth)
        if depth == 0:
            self.functions.append((name, "jit", len(args) - bound, False))
        return [made, partial, call]

    def call_grad(self, args, params, visible, depth, grad, rank, structure):
        name = self.name("g")
        body = self.block(visible, depth, True, rank, False, structure)
        places = list(range(len(args) + 1))
        chosen = self.random.sample(places, self.random.randrange(1, min(3, len(places) + 1)))
        together = self.chance(0.8)  # shared objects are differentiated wherever they are met
        if together:
            chosen = self.random.sample(places, len(places))
        nums = [
            f"nnx.DiffState({n}, {self.one('nnx.Param', 'nnx.BatchStat', '(nnx.Param, nnx.BatchStat)')})"
            if n < len(args) and self.chance(0.3) and (not together or len(args) == 1)
            else str(n)
            for n in chosen
        ]
        argnums = nums[0] if len(nums) == 1 and self.chance(0.7) else f"({', '.join(nums)},)"
        aux = self.chance(0.3)
        value = self.chance(0.5)
        result = f"x.sum(), (x, {self.returned(visible)[2:]})" if aux else "x.sum()"
        how = f"nnx.{'value_and_grad' if value else 'grad'}, argnums={argnums}, has_aux={aux}"
        head = ", ".join([*params, "x"])
        made = Function(name, head, (), body, result, f"@H.with_options({how})")
        if depth == 0:
            self.functions.append((name, "grad", len(args), False))
        return [made, *self.take_gradient(f"{name}({', '.join([*args, 'x'])})", depth)]

    def take_gradient(self, call: str, depth: int) -> list[Statement]:
        name = self.name("d")
        text = f"{name} = {call}\nx = H.use(x, {name})"
        return [
            Line(
                text if depth else text + f"\nH.seen.append((H.describe({name}), H.describe(None)))"
            )
        ]

    def axes(self) -> str:
        return self.one(
            "None", "None", "0", "0",
            "nnx.StateAxes({nnx.Param: 0, ...: None})",
            "nnx.StateAxes({nnx.BatchStat: None, ...: 0})",
        )  # fmt: skip

    def call_vmap(self, args, params, visible, depth, grad, rank, structure):
        name = self.name("h")
        structure = structure and self.chance(0.3)
        axis = self.axes()
        axes = {arg: axis if self.chance(0.7) else self.axes() for arg in args}
        in_axes = [axes[arg] for arg in args]
        outer = self.writable
        self.writable = [p for p, a in zip(params, in_axes, strict=True) if a == "0"]
        body = self.block(visible, depth, grad, rank - 1, False, structure)
        self.writable = outer
        axes_of_all = ", ".join([*in_axes, self.one("0", "0", "0", "None")])
        how = f"@H.with_options(nnx.vmap, in_axes=({axes_of_all},), out_axes=0)"
        made = Function(name, ", ".join([*params, "x"]), (), body, "x", how)
        if depth == 0:
            self.functions.append((name, "vmap", len(args), False))
        return [made, self.bind(f"{name}({', '.join([*args, 'x'])})", depth)]

    def call_cond(self, *call):
        return self.branches(2, "nnx.cond(x.sum() > 0.4, {}, {})", *call[:-1])

    def call_switch(self, *call):
        count = self.one(2, 3)
        form = "nnx.switch(H.index(x), [" + ", ".join(["{}"] * count) + "], {})"
        return self.branches(count, form, *call[:-1])

    def branches(self, count, form, args, params, visible, depth, grad, rank):
        names = [self.name("b") for _ in range(count)]
        same = self.chance(0.1)
        first = self.block(visible, depth, grad, rank, False, self.chance(0.1))
        bodies = [first] + [
            first if same else self.block(visible, depth, grad, rank, False, False)
            for _ in names[1:]
        ]
        extra = f", {self.one(*visible)}" if self.chance(0.15) else ""
        made = [
            Function(name, ", ".join([*params, "x"]), (), body, "x" + extra)
            for name, body in zip(names, bodies, strict=True)
        ]
        if "switch" in form:
            call = form.format(*names, ", ".join([*args, "x"]))
        else:
            call = form.format(", ".join(names), ", ".join([*args, "x"]))
        return [*made, self.bind(call, depth)]

    def call_fori(self, args, params, visible, depth, grad, rank, structure):
        name = self.name("b")
        body = self.block(visible, depth, grad, rank, True, self.chance(0.05))
        carry = ", ".join(["x", *params])
        made = Function(name, "i, carry", (f"{carry}, = carry",), body, f"({carry},)")
        call = f"nnx.fori_loop(0, {self.one(1, 2, 3)}, {name}, ({', '.join(['x', *args])},))"
        return [made, self.bind(call, depth)]

    def call_while(self, args, params, visible, depth, grad, rank, structure):
        cond, name = self.name("c"), self.name("b")
        body = self.block(visible, depth, grad, rank, True, self.chance(0.05))
        carry = ", ".join(["x", "i", *params])
        test = self.one("carry[1] < 2", "carry[1] < 3", "(carry[1] < 2) & (carry[0].sum() < 0.8)")
        made = Function(
            name, "carry", (f"{carry} = carry",), body, ", ".join(["x", "i + 1", *params])
        )
        call = f"nnx.while_loop({cond}, {name}, ({', '.join(['x', 'H.zero()', *args])}))"
        return [Function(cond, "carry", (), (), test), made, self.bind(call, depth)]

    def call_scan(self, args, params, visible, depth, grad, rank, structure):
        name = self.name("s")
        structure = self.chance(0.05)
        # Some objects are carried, each of the others has one axis.
        carried = {arg for arg in args if self.chance(0.3)}
        axes = {arg: self.axes() for arg in args}
        rows = list(zip(args, params, strict=True))
        inner, others = (
            [p for a, p in rows if a in carried],
            [r for r in rows if r[0] not in carried],
        )
        body = self.block(visible, depth, grad, rank, True, structure)
        before = (f"{', '.join(['x', *inner])}, = carry",) if inner else ("x = carry",)
        out = f"({', '.join(['x', *inner])},)" if inner else "x"
        in_axes = ", ".join(["nnx.Carry", *(axes[a] for a, _ in others), "0"])
        how = f"@H.with_options(nnx.scan, in_axes=({in_axes}), out_axes=(nnx.Carry, 0))"
        head = ", ".join(["carry", *(p for _, p in others), "y"])
        ys = self.one("x * 0.5", "y", "x.sum()")
        made = Function(name, head, (*before, "x = x + y.sum()"), body, f"{out}, {ys}", how)
        carry = f"({', '.join(['x', *(a for a, _ in rows if a in carried)])},)" if inner else "x"
        result = self.name("r")
        call = f"{name}({', '.join([carry, *(a for a, _ in others), 'H.arr(0.1, 2)'])})"
        text = f"{result} = {call}\nx = H.use(H.tup({result}[0])[0], {result}[1])"
        return [made, Line(text)]

    def call_custom(self, args, params, visible, depth, grad, rank, structure):
        name = self.name("u")
        # What the function closes over has no derivative: there is always an argument.
        args, params = [f"H.m(0, {(args or visible)[0]})"], params[:1] or [self.name("p")]
        visible = params
        body = self.block(visible, depth, False, rank, False, False)
        made = Function(name, ", ".join([*params, "x"]), (), body, "x")
        wrapped = Line(f"{name} = H.custom({name}, {self.one(0.5, 2.0)})")
        return [made, wrapped, self.bind(f"{name}({', '.join([*args, 'x'])})", depth)]

    def again(self, roots: tp.Sequence[str], depth: int = 0) -> list[Statement]:
        """Call a function once more, with the same or other arguments."""
        name, how, count, _ = self.one(*self.functions)
        args = [self.arg(roots, how != "jit") for _ in range(count)]
        call = f"{name}({', '.join([*args, 'x'])})"
        return self.take_gradient(call, depth) if how == "grad" else [self.bind(call, depth)]


def write_program(seed: int | str) -> Program:
    """Return the program of a seed."""
    return Writer(seed).program()
