"""Rewrite the source of a function so that its conditions may be nodes.

Python evaluates `if node:` once, when the graph is built, but the value of a node differs from sample to sample. So
both branches become functions, and the `if` becomes a call of `cond`, which calls both and merges their results:

    if c:               def branch_1(x): x = f(x); return (x,)
        x = f(x)   ->   def branch_2(x): return (x,)
                        (x,) = cond(c, lambda: branch_1(load(lambda: x)), lambda: branch_2(load(lambda: x)))

A condition that is not a node still takes one branch alone, so ordinary Python behaves as before.
"""

from __future__ import annotations

import ast

# The name under which rewritten functions find the helpers of pixelmill.graph.branches.
HELPERS = "__pixelmill_branches"
BRANCH = "__pixelmill_branch_"


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
        self.leaves_loop = False
        self.returns = False

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Store):
            self.assigned[node.id] = None

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        if not node.name.startswith(BRANCH):
            self.assigned[node.name] = None

    def visit_Lambda(self, node: ast.Lambda) -> None:
        pass

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

    def function(self, definition: ast.FunctionDef) -> ast.FunctionDef:
        """Rewrite the body of a function."""
        for node in ast.walk(definition):
            if isinstance(node, ast.If):
                self._unsure |= _Names.of(node.body + node.orelse).assigned.keys()
        definition.body = self._block(definition.body)
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
        return self.function(node)

    def visit_For(self, node: ast.For) -> ast.For:
        node.iter = self.visit(node.iter)
        node.body, node.orelse = self._block(node.body), self._block(node.orelse)
        return node

    def visit_With(self, node: ast.With) -> ast.With:
        node.items = [self.visit(item) for item in node.items]
        node.body = self._block(node.body)
        return node

    def visit_If(self, node: ast.If) -> ast.stmt | list[ast.stmt]:
        node.test = self.visit(node.test)
        node.body, node.orelse = self._block(node.body), self._block(node.orelse)
        names = _Names.of(node.body + node.orelse)
        if names.leaves_loop or (names.returns and not (_returns(node.body) and _returns(node.orelse))):
            # A branch that leaves a loop, or returns on some paths only, cannot be a function. The `if` stays as it is,
            # and DataNode.__bool__ raises an error if its condition turns out to be a node.
            return node
        statements = self._returning(node) if names.returns else self._assigning(node, list(names.assigned))
        return [ast.copy_location(statement, node) for statement in statements]

    def _returning(self, node: ast.If) -> list[ast.stmt]:
        taken, otherwise = self._branch(node.body, []), self._branch(node.orelse, [])
        calls = [_lambda(ast.Call(ast.Name(branch.name, ast.Load()), [], [])) for branch in (taken, otherwise)]
        return [taken, otherwise, ast.Return(_helper("cond", node.test, *calls))]

    def _assigning(self, node: ast.If, names: list[str]) -> list[ast.stmt]:
        # Branches get the assigned variables as arguments: a function that assigns a name cannot read the outer one.
        # `load` reads them, because a variable may have no value before the `if`.
        branches = []
        for body in (node.body, node.orelse):
            ending = ast.Return(_tuple(names, ast.Load()))
            branches.append(self._branch([*body, ending], names))
        values = [_helper("load", _lambda(ast.Name(name, ast.Load()))) for name in names]
        calls = [_lambda(ast.Call(ast.Name(branch.name, ast.Load()), list(values), [])) for branch in branches]
        merged = _helper("cond", node.test, *calls)
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
        return node


def _returns(statements: list[ast.stmt]) -> bool:
    """Whether all paths through these statements end with `return`."""
    if not statements:
        return False
    last = statements[-1]
    if isinstance(last, ast.If):
        return _returns(last.body) and _returns(last.orelse)
    return isinstance(last, ast.Return)
