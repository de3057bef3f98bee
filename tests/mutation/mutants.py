"""Makes mutants of a Python module: copies of its syntax tree, each with one small fault."""

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias

ROOT: Final = Path(__file__).resolve().parents[2]
MODULE: Final = "<module>"

_NEGATED: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_BOUNDARY: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
}
_OTHER_QUANTIFIER: Final = {"any": "all", "all": "any"}
_NO_BEHAVIOUR: Final = {"annotation", "returns", "decorator_list", "type_params"}
# Words for people: which of them a rule carries is not what it finds.
_WORDS: Final = {"tags", "uses"}

Edit: TypeAlias = Callable[[], None]


@dataclass(frozen=True, slots=True)
class Mutant:
    """One fault: where it is, what stood there and what stands there instead.

    `function` is the qualified name of the outermost function or method that holds the fault, or `<module>`.
    `scope` is that function, or the name of the constant that is defined there. `edit` puts the fault into the tree.
    """

    file: str
    module: str
    line: int
    function: str
    scope: str
    kind: str
    before: str
    after: str
    edit: Edit = field(compare=False, repr=False)

    def __str__(self) -> str:
        """`file:line scope: before → after`."""
        return f"{self.file}:{self.line} {self.scope}: {self.before}  →  {self.after}"


@dataclass(frozen=True, slots=True)
class Source:
    """A module with its tree and all its mutants. An edit changes `tree`, so one process can apply one mutant."""

    module: str
    path: Path
    tree: ast.Module
    mutants: tuple[Mutant, ...]


@dataclass(frozen=True, slots=True)
class _Place:
    """A node, the slot of its parent that holds it, and the names around it."""

    node: ast.AST
    parent: ast.AST
    slot: str
    index: int | None
    function: str
    scope: str
    last: bool = False

    def put(self, new: ast.AST) -> Edit:
        def edit() -> None:
            ast.fix_missing_locations(ast.copy_location(new, self.node))
            if self.index is None:
                setattr(self.parent, self.slot, new)
            else:
                getattr(self.parent, self.slot)[self.index] = new

        return edit


def read(path: Path) -> Source:
    """The module in this file of the repository, with its mutants in the order of the source."""
    module = ".".join(path.resolve().relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    return mutants_of(path.read_text(encoding="utf-8"), module, path)


def mutants_of(text: str, module: str, path: Path) -> Source:
    """Parse the text of a module and list its mutants."""
    tree = ast.parse(text)
    file = str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else path.name
    found: dict[tuple[int, int, str, str, str], Mutant] = {}
    for place in _places(tree):
        line, column = getattr(place.node, "lineno", 0), getattr(place.node, "col_offset", 0)
        for kind, before, after, edit in _faults(place):
            mutant = Mutant(file, module, line, place.function, place.scope, kind, before, after, edit)
            found.setdefault((line, column, place.scope, before, after), mutant)
    return Source(module, path, tree, tuple(sorted(found.values(), key=lambda mutant: mutant.line)))


def _places(tree: ast.Module) -> Iterator[_Place]:
    yield from _below(tree, "", MODULE, MODULE)


def _below(node: ast.AST, prefix: str, function: str, scope: str) -> Iterator[_Place]:
    for slot, value in ast.iter_fields(node):
        if slot in _NO_BEHAVIOUR:
            continue
        members = list(enumerate(value)) if isinstance(value, list) else [(None, value)]
        for index, child in members:
            if not isinstance(child, ast.AST) or _is_silent(child):
                continue
            inner, named = prefix, scope
            at = function
            if isinstance(child, ast.FunctionDef | ast.ClassDef):
                inner = f"{prefix}{child.name}."
                if function == MODULE:
                    named = f"{prefix}{child.name}"
                    at = named if isinstance(child, ast.FunctionDef) else MODULE
            elif function == MODULE and isinstance(child, ast.Assign | ast.AnnAssign):
                target = child.target if isinstance(child, ast.AnnAssign) else child.targets[0]
                named = f"{prefix}{ast.unparse(target)}"
            last = isinstance(node, ast.FunctionDef) and slot == "body" and index == len(members) - 1
            yield _Place(child, node, slot, index, at, named, last)
            yield from _below(child, inner, at, named)


def _is_silent(node: ast.AST) -> bool:
    """Whether nothing below changes what the module does: texts for people, types, imports."""
    if isinstance(node, ast.JoinedStr | ast.Import | ast.ImportFrom):
        return True
    if isinstance(node, ast.If):
        return ast.unparse(node.test) == "TYPE_CHECKING"
    if isinstance(node, ast.AnnAssign):
        return ast.unparse(node.annotation) == "TypeAlias"
    if isinstance(node, ast.Assign):
        return ast.unparse(node.targets[0]) == "__slots__"
    return isinstance(node, ast.keyword) and node.arg in _WORDS


_Fault: TypeAlias = tuple[str, str, str, Edit]


def _faults(place: _Place) -> Iterator[_Fault]:
    yield from _statements(place)
    yield from _conditions(place)
    yield from _operators(place)
    yield from _members(place)


def _statements(place: _Place) -> Iterator[_Fault]:
    node = place.node
    if not isinstance(node, ast.stmt):
        return
    text = _head(node)
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Yield | ast.YieldFrom):
        # The function must stay a generator.
        yield "silent", text, "nothing", place.put(ast.If(ast.Constant(False), [node], []))
    elif (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)) or isinstance(node, ast.AugAssign):
        yield "silent", text, "nothing", place.put(ast.Pass())
    elif isinstance(node, ast.Continue | ast.Break) or (isinstance(node, ast.Return) and not place.last):
        yield "no early end", text, "go on", place.put(ast.Pass())


def _conditions(place: _Place) -> Iterator[_Fault]:
    node, parent, slot = place.node, place.parent, place.slot
    if not isinstance(node, ast.expr):
        return
    asked = slot == "test" or (isinstance(parent, ast.comprehension) and slot == "ifs")
    if isinstance(parent, ast.BoolOp):
        rest = [value for value in parent.values if value is not node]
        without = rest[0] if len(rest) == 1 else ast.BoolOp(parent.op, rest)
        word = "and" if isinstance(parent.op, ast.And) else "or"

        def drop() -> None:
            parent.values = [value for value in parent.values if value is not node] or parent.values
            if len(parent.values) == 1:
                # `a and a` is `a`, for any `a` that has no effects.
                parent.values = parent.values * 2

        yield "operand", ast.unparse(parent), f"{ast.unparse(without)}  (without the operand of {word})", drop
    elif asked or _is_bool(node):
        for value in (True, False):
            if not (value and isinstance(parent, ast.While)):
                yield "condition", ast.unparse(node), str(value), place.put(ast.Constant(value))


def _is_bool(node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id in (*_OTHER_QUANTIFIER, "bool", "isinstance")
    return isinstance(node, ast.Compare | ast.BoolOp) or (
        isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    )


def _operators(place: _Place) -> Iterator[_Fault]:
    node = place.node
    new: ast.expr
    if isinstance(node, ast.Compare):
        for number, operator in enumerate(node.ops):
            for table, kind in ((_NEGATED, "negated"), (_BOUNDARY, "boundary")):
                other = table.get(type(operator))
                if other is not None:
                    ops = [*node.ops[:number], other(), *node.ops[number + 1 :]]
                    new = ast.Compare(node.left, ops, node.comparators)
                    yield kind, ast.unparse(node), ast.unparse(new), place.put(new)
    elif isinstance(node, ast.BoolOp):
        new = ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
        yield "and/or", ast.unparse(node), ast.unparse(new), place.put(new)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield "not", ast.unparse(node), ast.unparse(node.operand), place.put(node.operand)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _OTHER_QUANTIFIER:
        new = ast.Call(ast.Name(_OTHER_QUANTIFIER[node.func.id], ast.Load()), node.args, node.keywords)
        yield "any/all", ast.unparse(node), ast.unparse(new), place.put(new)


def _members(place: _Place) -> Iterator[_Fault]:
    node = place.node
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        if not isinstance(getattr(node, "ctx", ast.Load()), ast.Load) or not _is_table(place, node.elts):
            return
        for index, member in enumerate(node.elts):

            def drop(index: int = index) -> None:
                rest = node.elts[:index] + node.elts[index + 1 :]
                # `{}` is a dict: the empty set has no display.
                empty = isinstance(node, ast.Set) and not rest
                place.put(ast.Call(ast.Name("set", ast.Load()), [], []) if empty else _like(node, rest))()

            yield "member", ast.unparse(member), "dropped", drop
    elif isinstance(node, ast.Dict) and _is_table(place, [*(key for key in node.keys if key), *node.values]):
        for index, (key, value) in enumerate(zip(node.keys, node.values, strict=True)):
            text = f"{ast.unparse(key)}: {ast.unparse(value)}" if key else f"**{ast.unparse(value)}"
            keys, values = node.keys[:index] + node.keys[index + 1 :], node.values[:index] + node.values[index + 1 :]
            yield "member", text, "dropped", place.put(ast.Dict(keys, values))


def _like(node: ast.Tuple | ast.List | ast.Set, members: list[ast.expr]) -> ast.expr:
    if isinstance(node, ast.Set):
        return ast.Set(members)
    return type(node)(members, ast.Load())


def _is_table(place: _Place, members: list[ast.expr]) -> bool:
    """Whether a display is data of the module, not a value made of the variables around it."""
    if not members or isinstance(place.parent, ast.Subscript | ast.Return | ast.Yield):
        return False
    if isinstance(place.parent, ast.keyword | ast.Call) and len(members) == 1 and "RULE" in place.scope:
        # A rule without kinds judges every kind, so dropping the only one changes nothing but speed.
        return False
    return place.function == MODULE or all(_is_constant(member) for member in members)


def _is_constant(node: ast.expr) -> bool:
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return all(_is_constant(member) for member in node.elts)
    return isinstance(node, ast.Constant)


def _head(node: ast.stmt) -> str:
    return ast.unparse(node).splitlines()[0]
