"""Rewrite the source of a function so that its conditions may be nodes.

Python evaluates `if node:` once, when the graph is built, but the value of a node differs from sample to sample. So
both branches become functions, and the `if` becomes a call of `cond`, which calls both and merges their results:

    if c:               def branch_1(x): x = f(x); return (x,)
        x = f(x)   ->   def branch_2(x): return (x,)
                        (x,) = cond(c, lambda: branch_1(load(lambda: x)), lambda: branch_2(load(lambda: x)))

Attributes and elements that a branch assigns (`self.x = ...`, `d["x"] = ...`) are passed to `cond` as places, which it
reads after each branch, restores in between and sets to the merged value.

A condition that is not a node still takes one branch alone, so ordinary Python behaves as before.
"""

from __future__ import annotations

import ast
import copy

# The name under which rewritten functions find the helpers of pixelmill.graph.branches. One underscore: inside a class,
# Python mangles names that begin with two.
HELPERS = "_pixelmill_branches"
BRANCH = "_pixelmill_branch_"

LEAVES_LOOP = (
    "`break`, or `continue` on some paths only, cannot depend on a node; move the rest of the loop into the if"
)
RETURNS = (
    "the other branch must also have a return statement if one of them returns; assign a variable in both "
    "branches and return it at the end"
)
YIELDS = "a generator or coroutine cannot yield in a branch on a node"


def _helper(name: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(ast.Attribute(ast.Name(HELPERS, ast.Load()), name, ast.Load()), list(arguments), [])


def _lambda(body: ast.expr) -> ast.Lambda:
    return ast.Lambda(ast.arguments([], [], None, [], [], None, []), body)


def _tuple(names: list[str], context: ast.expr_context) -> ast.Tuple:
    return ast.Tuple([ast.Name(name, context) for name in names], context)


class _Names(ast.NodeVisitor):
    """Collects the names that statements assign and how they end, without descending into functions."""

    def __init__(self) -> None:
        self.assigned: dict[str, None] = {}
        self.places: dict[str, ast.Attribute | ast.Subscript] = {}
        self.leaves_loop = False
        self.returns = False
        self.yields = False

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Store):
            self.assigned[node.id] = None

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self._visit_place(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        self._visit_place(node)

    def _visit_place(self, node: ast.Attribute | ast.Subscript) -> None:
        if isinstance(node.ctx, ast.Store):
            self.places[ast.unparse(node)] = node
        self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.assigned[node.name] = None

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.assigned[node.name] = None

    def visit_alias(self, node: ast.alias) -> None:
        self.assigned[node.asname or node.name.partition(".")[0]] = None

    def visit_Lambda(self, node: ast.Lambda) -> None:
        pass

    def visit_comprehension(self, node: ast.comprehension) -> None:
        for part in (node.iter, *node.ifs):  # the target is a variable of the comprehension alone
            self.visit(part)

    def visit_For(self, node: ast.For) -> None:
        self._visit_loop(node)

    def visit_While(self, node: ast.While) -> None:
        self._visit_loop(node)

    def _visit_loop(self, node: ast.For | ast.While) -> None:
        """Visit a loop; `break` and `continue` in its body leave that loop and no other."""
        before = self.leaves_loop
        self.generic_visit(node)
        self.leaves_loop = before or _Names.of(node.orelse).leaves_loop

    def visit_Yield(self, node: ast.Yield) -> None:
        self.yields = True

    def visit_YieldFrom(self, node: ast.YieldFrom) -> None:
        self.yields = True

    def visit_Await(self, node: ast.Await) -> None:
        self.yields = True

    def visit_Return(self, node: ast.Return) -> None:
        self.returns = True

    def visit_Break(self, node: ast.Break) -> None:
        self.leaves_loop = True

    def visit_Continue(self, node: ast.Continue) -> None:
        self.leaves_loop = True

    @classmethod
    def of(cls, statements: list[ast.stmt]) -> _Names:
        names = cls()
        for statement in statements:
            names.visit(statement)
        return names


class Rewriter(ast.NodeTransformer):
    """Turns `if`, `a if c else b`, `and`, `or` and `not` into calls of the helpers."""

    def __init__(self) -> None:
        self._count = 0
        # Names that some `if` assigns. They may be undefined after a branch on a node, so each use of them is checked.
        self._unsure: set[str] = set()
        self._first_argument: str | None = None

    def function(self, definition: ast.FunctionDef) -> ast.FunctionDef:
        """Rewrite the body of a function."""
        for node in ast.walk(definition):
            if isinstance(node, ast.If):
                self._unsure |= _Names.of(node.body + node.orelse).assigned.keys()
        outer = self._first_argument
        arguments = definition.args.posonlyargs + definition.args.args
        self._first_argument = arguments[0].arg if arguments else None
        definition.body = self._block(definition.body)
        self._first_argument = outer
        return definition

    def _block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        """Rewrite statements. If an `if` returns, the statements after it become its `else`."""
        result: list[ast.stmt] = []
        for place, statement in enumerate(statements):
            rest = statements[place + 1 :]
            if isinstance(statement, ast.If) and rest and _returns(statement.body) and not _returns(statement.orelse):
                statement.orelse = statement.orelse + rest
                return result + self._visited(statement)
            result += self._visited(statement)
        return result

    def _visited(self, statement: ast.stmt) -> list[ast.stmt]:
        new = self.visit(statement)
        return new if isinstance(new, list) else [new]

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        return node if any(_opts_out(decorator) for decorator in node.decorator_list) else self.function(node)

    def visit_For(self, node: ast.For) -> ast.For:
        node.iter = self.visit(node.iter)
        node.body, node.orelse = self._block(_without_continue(node.body)), self._block(node.orelse)
        return node

    def visit_While(self, node: ast.While) -> ast.While:
        node.test = self.visit(node.test)
        node.body, node.orelse = self._block(_without_continue(node.body)), self._block(node.orelse)
        return node

    def visit_With(self, node: ast.With) -> ast.With:
        node.items = [self.visit(item) for item in node.items]
        node.body = self._block(node.body)
        return node

    def visit_If(self, node: ast.If) -> ast.stmt | list[ast.stmt]:
        names = _Names.of(node.body + node.orelse)  # before nested branches become functions, which hide assignments
        places = _places(names)
        node.test = self.visit(node.test)
        node.body, node.orelse = self._block(node.body), self._block(node.orelse)
        partly = names.returns and not (_returns(node.body) and _returns(node.orelse))
        reason = LEAVES_LOOP if names.leaves_loop else YIELDS if names.yields else RETURNS if partly else None
        if reason is not None:
            # Such a branch cannot be a function. The `if` stays as it is, and `known` raises an error if its condition
            # turns out to be a node.
            node.test = ast.copy_location(_helper("known", node.test, ast.Constant(reason)), node.test)
            return node
        statements = self._returning(node, places) if names.returns else self._assigning(node, names, places)
        return [ast.copy_location(statement, node) for statement in statements]

    def _returning(self, node: ast.If, places: list[ast.expr]) -> list[ast.stmt]:
        taken, otherwise = self._branch(node.body, []), self._branch(node.orelse, [])
        calls = [_lambda(ast.Call(ast.Name(branch.name, ast.Load()), [], [])) for branch in (taken, otherwise)]
        merged = _helper("cond", node.test, *calls, *places)
        return [taken, otherwise, ast.Return(_helper("value", merged, ast.Constant("return value")))]

    def _assigning(self, node: ast.If, found: _Names, places: list[ast.expr]) -> list[ast.stmt]:
        # Branches get the assigned variables as arguments: a function that assigns a name cannot read the outer one.
        # `load` reads them, because a variable may have no value before the `if`.
        names = list(found.assigned)
        branches = []
        for body in (node.body, node.orelse):
            ending = ast.Return(_tuple(names, ast.Load()))
            branches.append(self._branch([*body, ending], names))
        values = [_helper("load", _lambda(ast.Name(name, ast.Load()))) for name in names]
        calls = [_lambda(ast.Call(ast.Name(branch.name, ast.Load()), list(values), [])) for branch in branches]
        merged = _helper("cond", node.test, *calls, *places)
        if not names:
            return [*branches, ast.Expr(merged)]
        return [*branches, ast.Assign([_tuple(names, ast.Store())], merged)]

    def _branch(self, body: list[ast.stmt], names: list[str]) -> ast.FunctionDef:
        self._count += 1
        arguments = ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, [])
        return ast.FunctionDef(f"{BRANCH}{self._count}", arguments, body or [ast.Pass()], [])

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if not isinstance(node.ctx, ast.Load) or node.id not in self._unsure:
            return node
        return ast.copy_location(_helper("value", node, ast.Constant(node.id)), node)

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        test, body, orelse = self.visit(node.test), self.visit(node.body), self.visit(node.orelse)
        return ast.copy_location(_helper("cond", test, _lambda(body), _lambda(orelse)), node)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        name = "both" if isinstance(node.op, ast.And) else "either"
        result: ast.expr = self.visit(node.values[-1])
        for value in reversed(node.values[:-1]):
            result = ast.copy_location(_helper(name, self.visit(value), _lambda(result)), node)
        return result

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        self.generic_visit(node)
        return ast.copy_location(_helper("negated", node.operand), node) if isinstance(node.op, ast.Not) else node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        if not (isinstance(node.func, ast.Name) and node.func.id == "super"):  # super() needs its own name to work
            node.func = ast.copy_location(_helper("converted", node.func), node.func)
        elif not node.args and self._first_argument is not None:
            # Without arguments, super() would take the first argument of the function that a branch became.
            names = ("__class__", self._first_argument)
            node.args = [ast.copy_location(ast.Name(name, ast.Load()), node) for name in names]
        return node


def _places(found: _Names) -> list[ast.expr]:
    """Return a function that lists the places branches assign, as an argument of `cond`; nothing if there are none."""
    made: list[ast.expr] = []
    for text, place in found.places.items():
        owner = copy.deepcopy(place.value)
        key = ast.Constant(place.attr) if isinstance(place, ast.Attribute) else copy.deepcopy(place.slice)
        used = {node.id for part in (owner, key) for node in ast.walk(part) if isinstance(node, ast.Name)}
        # The place of an object that a branch creates is not known before; merging the objects merges what they hold.
        if not used & found.assigned.keys():
            made.append(_helper(type(place).__name__, owner, key, ast.Constant(text)))
    return [_lambda(ast.Tuple(made, ast.Load()))] if made else []


def _opts_out(decorator: ast.expr) -> bool:
    """Whether a decorator is `do_not_convert`."""
    name = decorator.attr if isinstance(decorator, ast.Attribute) else getattr(decorator, "id", None)
    return name == "do_not_convert"


def _without_continue(statements: list[ast.stmt]) -> list[ast.stmt]:
    """Replace `if c: continue` in the body of a loop by an `if` whose `else` is the rest of the body."""
    for place, statement in enumerate(statements):
        before, rest = statements[:place], statements[place + 1 :]
        if isinstance(statement, ast.Continue):
            return before or [ast.copy_location(ast.Pass(), statement)]
        if not isinstance(statement, ast.If):
            continue
        first, second = _continues(statement.body), _continues(statement.orelse)
        if first or second:
            statement.body = _without_continue(statement.body + ([] if first else rest))
            statement.orelse = _without_continue(statement.orelse + ([] if second else rest))
            return [*before, statement]
    return statements


def _continues(statements: list[ast.stmt]) -> bool:
    """Whether all paths through these statements end with `continue`."""
    if not statements:
        return False
    last = statements[-1]
    if isinstance(last, ast.If):
        return _continues(last.body) and _continues(last.orelse)
    return isinstance(last, ast.Continue)


def _returns(statements: list[ast.stmt]) -> bool:
    """Whether all paths through these statements end with `return`."""
    if not statements:
        return False
    last = statements[-1]
    if isinstance(last, ast.If):
        return _returns(last.body) and _returns(last.orelse)
    return isinstance(last, ast.Return)
