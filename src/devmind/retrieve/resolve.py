"""A reference → the definitions that it means at the active generation, and how sure that is.

``exact``: the language's own rules lead to one definition (scope, an import, the enclosing class, a class by name).
``scoped``: the type of the receiver stands in plain sight, a base class has it, or a telling name has one definition.
``guess``: only the name fits. A reference that the rules lead out of the repository means nothing here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from devmind.index.catalog import Catalog
from devmind.retrieve.code import FUNCTIONS, MEMBERS, TYPES, Code, Import, Use, same_folder
from devmind.retrieve.definitions import Definition, dotted
from devmind.retrieve.receiver import (
    Told,
    bare_type,
    called,
    cast,
    declared,
    field_type,
    is_literal,
    is_parameter,
    returned,
)
from devmind.retrieve.scoping import Scoping, scoping_of
from devmind.retrieve.well_known import WELL_KNOWN
from devmind.types import CUT, Confidence, Symbol

MAX_GUESSES = 4  # more candidates than this say nothing
MAX_PASSED = 20  # files of a module that may pass names on; one of more is a folder of definitions
MAX_DEPTH = 6  # of base classes, and of expressions that give a receiver its type

SELF = frozenset({"self", "this", "cls", "Self", "static"})
SUPER = frozenset({"super", "super()", "parent", "base"})
_PARTS = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
_PATH = re.compile(r"[\w$]+(?:\.[\w$]+)*")
_CLASS_GIVEN = re.compile(rf"\b[A-Z]\w*[a-z]|{CUT}")  # ``load(Config)`` from outside may give a Config of here
_BRACKETS = {")": "(", "]": "[", "}": "{"}


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a reference means; several targets only for a guess. ``outside``: known to be no definition of here."""

    targets: tuple[Definition, ...] = ()
    confidence: Confidence = "guess"
    outside: bool = False


@dataclass(frozen=True, slots=True)
class Holder:
    """What a receiver is: a class (``cls``) or an object without one (``owner`` in the file ``path``), or outside."""

    cls: Definition | None = None
    owner: str = ""
    path: str = ""
    confidence: Confidence = "scoped"
    outside: bool = False


Seen = frozenset[tuple[str, str]]  # paths and qualified names of classes
OUTSIDE = Meaning(outside=True)
UNKNOWN = Meaning()
ELSEWHERE = Holder(outside=True)


class Resolver:
    """Resolves the references of one repository; what it reads is kept for its life, one question's.

    Args:
        catalog: at the active generation.
        repo_id: of the repository.
    """

    def __init__(self, catalog: Catalog, repo_id: int) -> None:
        self.code = Code(catalog, repo_id)

    def resolve(self, use: Use) -> tuple[tuple[Definition, ...], Confidence]:
        """Return the definitions that ``use`` means, the likeliest first, and how sure that is."""
        found = self.meaning(use)
        return found.targets, found.confidence

    def meaning(self, use: Use, depth: int = 0) -> Meaning:
        if depth > MAX_DEPTH:
            return UNKNOWN
        return self._qualified(use, depth) if use.qualifier else self._bare(use)

    # Where a use stands ----------------------------------------------------------------------------------------

    def owner_of(self, use: Use) -> Holder | None:
        """Return the class, or object, that ``self`` is where ``use`` stands."""
        symbols = self.code.symbols(use.content_id)
        for ordinal in self.code.enclosing(use.content_id, use.scope):
            symbol = symbols[ordinal]
            if symbol.kind in TYPES:
                return Holder(cls=self._definition(use, ordinal), confidence="exact")
            owner = dotted(symbol.qualified_name)[: -len(symbol.name)].rstrip(".")
            if symbol.kind in MEMBERS and owner and (symbol.parent < 0 or symbols[symbol.parent].kind not in TYPES):
                found = [d for d in self.code.named(use, owner.rpartition(".")[2]) if d.kind in TYPES]
                near = [d for d in found if d.path == use.path] or [d for d in found if same_folder(d.path, use.path)]
                return Holder(cls=next(iter(near or found), None), owner=owner, path=use.path, confidence="exact")
        return None

    def _definition(self, use: Use, ordinal: int) -> Definition:
        s = self.code.symbols(use.content_id)[ordinal]
        language, role, _ = self.code.files.get(use.path, ("", "", 0))
        return Definition(
            self.code.repo_id, use.path, use.content_id, ordinal, s.name, s.qualified_name, s.kind, s.start_line,
            s.end_line, s.signature, s.docstring, s.parent, language, role,
        )  # fmt: skip

    # A bare name ------------------------------------------------------------------------------------------------

    def _bare(self, use: Use) -> Meaning:
        scoping = self.code.scoping(use)
        rivals = self._of_kind(self.code.named(use, use.name), use.kind)
        around = self.code.enclosing(use.content_id, use.scope)
        if local := self._in_scope(rivals, use, around, scoping):
            return Meaning((local,), "exact")
        if use.kind != "references" and self._is_parameter(use, around):
            return self._guess([d for d in rivals if not self.code.is_member(d)], use, most=1)
        for imported in self.code.imports(use):
            if imported.local == use.name and imported.name != "*":
                return self._imported(imported, use)
        if scoping.implicit_this and (inherited := self._inherited_bare(use, around)):
            return Meaning((inherited,), "scoped")
        free = [d for d in rivals if not self.code.is_member(d) and self.code.function_around(d) < 0]
        if scoping.by_folder:
            near = [d for d in free if same_folder(d.path, use.path)]
            if near:
                return Meaning((near[0],), "exact" if len({d.qualified_name for d in near}) == 1 else "scoped")
        for imported in self.code.imports(use):
            files = self._files_of(imported, use) if imported.name == "*" or scoping.family == "c" else frozenset()
            if through := [d for d in free if d.path in files]:
                return self._unique(through, use)
            if files and (passed := self._through_files(files, use.name, use)):
                return Meaning((passed,), "scoped")
        if scoping.strict or (scoping.strict_types and use.name[:1].isupper()):
            macros = [d for d in free if d.kind == "macro"]
            if len(macros) == 1:
                return Meaning((macros[0],), "scoped")
            told = self.code.imports(use) and not any(imported.name == "*" for imported in self.code.imports(use))
            return OUTSIDE if told else self._guess(free, use, most=1)
        return self._unique(free or (rivals if scoping.implicit_this else []), use)

    def _of_kind(self, rivals: list[Definition], kind: str) -> list[Definition]:
        if kind == "receives":  # what has no value at run time receives no call, if there is a choice
            return [d for d in rivals if d.kind not in ("interface", "type") or d.language != "typescript"] or rivals
        if kind == "calls":
            able = [d for d in rivals if d.kind != "enum_member" or d.language in ("rust", "swift", "scala")]
            return sorted(able, key=lambda d: d.kind not in FUNCTIONS and d.kind not in TYPES)
        typed = [d for d in rivals if d.kind in TYPES]
        return typed or [d for d in rivals if d.kind not in MEMBERS]

    def _in_scope(self, rivals: list[Definition], use: Use, around: list[int], scoping: Scoping) -> Definition | None:
        """Return the definition of this file that the scopes around the use see; the innermost one."""
        best: tuple[int, Definition] | None = None
        symbols = self.code.symbols(use.content_id)
        for d in rivals:
            if d.content_id != use.content_id or d.path != use.path:
                continue
            parent = d.parent
            while parent >= 0 and symbols[parent].kind not in TYPES | FUNCTIONS:
                parent = symbols[parent].parent
            owned = d.kind in MEMBERS or (parent >= 0 and symbols[parent].kind in TYPES)
            if owned and d.kind not in TYPES and not (scoping.implicit_this and self._lies_in(d, around, symbols)):
                continue
            if parent >= 0 and parent not in around:
                continue
            depth = len(around) - around.index(parent) if parent >= 0 else 0
            if best is None or depth > best[0]:
                best = (depth, d)
        return best[1] if best else None

    def _lies_in(self, d: Definition, around: list[int], symbols: tuple[Symbol, ...]) -> bool:
        if d.parent >= 0:
            return d.parent in around
        # C++ defines ``A::f`` outside of its class.
        return any(dotted(symbols[o].qualified_name).startswith(d.owner + ".") for o in around)

    def _is_parameter(self, use: Use, around: list[int]) -> bool:
        symbols = self.code.symbols(use.content_id)
        return any(symbols[o].kind in FUNCTIONS and is_parameter(use.name, symbols[o].signature) for o in around)

    def _inherited_bare(self, use: Use, around: list[int]) -> Definition | None:
        for ordinal in around:
            if self.code.symbols(use.content_id)[ordinal].kind in TYPES:
                found = self.member(self._definition(use, ordinal), use.name, use)
                if found is not None:
                    return found
        holder = self.owner_of(use)
        return self.member(holder.cls, use.name, use) if holder and holder.cls else None

    def _files_of(self, imported: Import, use: Use) -> frozenset[str]:
        return self.code.modules.files(imported.module, at=use.path, family=self.code.scoping(use).family)

    def _imported(self, imported: Import, use: Use) -> Meaning:
        """Return what an imported name means: a definition in the module's files, or one that they pass on."""
        files = self._files_of(imported, use)
        if not files:
            return OUTSIDE
        rivals = self._of_kind(self.code.named(use, imported.name), use.kind)
        free = [d for d in rivals if not self.code.is_member(d) and self.code.function_around(d) < 0]
        if here := [d for d in free if d.path in files]:
            return Meaning((here[0],), "exact")
        if passed := self._through_files(files, imported.name, use):
            return Meaning((passed,), "scoped")
        return self._passed_on(free, files, use)

    def _through_files(self, files: frozenset[str], name: str, use: Use) -> Definition | None:
        """Return the definition that one of ``files`` passes on: it imports the name, or all names, of another file."""
        free = {
            d.path: d
            for d in reversed(self._of_kind(self.code.named(use, name), use.kind))
            if not self.code.is_member(d) and self.code.function_around(d) < 0
        }
        seen, edge = set(files), set(files) if len(files) <= MAX_PASSED else set()
        for _ in range(MAX_DEPTH):
            edge = {
                path
                for at in edge
                for imported in self.code.imports(replace(use, path=at, content_id=self.code.files[at][2]))
                if imported.name in (name, "*")
                for path in self._files_of(imported, replace(use, path=at))
            } - seen
            if found := [free[path] for path in sorted(edge) if path in free]:
                return found[0] if len(found) == 1 else None
            seen |= edge
        return None

    def _passed_on(self, free: list[Definition], files: frozenset[str], use: Use) -> Meaning:
        """Return the definition nearest to files that do not hold it themselves but pass it on."""
        folders = {path.rpartition("/")[0] for path in files}
        near = [d for d in free if any(not f or d.path.startswith(f + "/") for f in folders)]
        chosen = near or free
        if len({(d.path, d.qualified_name) for d in chosen}) == 1:
            return Meaning((chosen[0],), "scoped")
        return self._guess(chosen, use)

    def _unique(self, rivals: list[Definition], use: Use) -> Meaning:
        if len({(d.path, d.owner) for d in rivals}) == 1:
            return Meaning(
                (rivals[0],), "scoped" if is_telling(use.name) or not self.code.is_member(rivals[0]) else "guess"
            )
        return self._guess(rivals, use)

    def _guess(self, rivals: list[Definition], use: Use, most: int = MAX_GUESSES) -> Meaning:
        """Return one target of each owner, the nearest first; none when there are too many."""
        by_owner: dict[tuple[str, str], Definition] = {}
        for d in rivals:
            by_owner.setdefault((d.path, d.owner), d)
        if not 0 < len(by_owner) <= most:
            return UNKNOWN
        return Meaning(
            tuple(
                sorted(
                    by_owner.values(),
                    key=lambda d: (d.path != use.path, not same_folder(d.path, use.path), d.role != "source", d.path),
                )
            )
        )

    # A name after a receiver ------------------------------------------------------------------------------------

    def _qualified(self, use: Use, depth: int) -> Meaning:
        holder = self.holder(plain_receiver(use.qualifier), use, depth)
        if isinstance(holder, Meaning):
            return holder
        if holder is None:
            return self._by_name(use)
        return self._of_holder(holder, use)

    def _of_holder(self, holder: Holder, use: Use) -> Meaning:
        if holder.outside:
            return OUTSIDE
        if holder.cls is not None:
            found = self.member(holder.cls, use.name, use)
            if found is None:
                return OUTSIDE  # it has the name from a base class of elsewhere, or by means that no text shows
            own = found.owner.rpartition(".")[2] == holder.cls.name
            return Meaning((found,), holder.confidence if own else "scoped")
        same = [d for d in self.code.named(use, use.name) if d.path == holder.path and d.owner == holder.owner]
        return Meaning((same[0],), holder.confidence) if same else OUTSIDE

    def _by_name(self, use: Use) -> Meaning:
        """Return what the name alone tells of a call on something unknown."""
        scoping = self.code.scoping(use)
        rivals = [
            d
            for d in self._of_kind(self.code.named(use, use.name), use.kind)
            if self.code.function_around(d) < 0 and (self.code.is_member(d) or not scoping.strict)
        ]
        if use.kind == "calls":
            rivals = [d for d in rivals if d.kind in FUNCTIONS]
        last = plain_receiver(use.qualifier).rpartition(".")[2]
        if owned := [d for d in rivals if last and d.owner.rpartition(".")[2] == last]:
            return Meaning((owned[0],), "scoped")
        return UNKNOWN if use.name in WELL_KNOWN else self._unique(rivals, use)

    def holder(self, receiver: str, use: Use, depth: int) -> Holder | Meaning | None:
        """Return what ``receiver`` is; None when nothing tells, a ``Meaning`` when it leads to the target at once."""
        if depth > MAX_DEPTH or not receiver:
            return None
        if receiver in SELF:
            return self.owner_of(use)
        if receiver in SUPER:
            return self._super(use)
        if is_literal(receiver) or receiver.startswith("."):  # a literal, or PHP's global namespace
            return ELSEWHERE
        if receiver.endswith(CUT):
            return self._chain(receiver.removesuffix(CUT), use, depth)
        if _PATH.fullmatch(receiver):
            return self._path(receiver, use, depth)
        if named_type := cast(receiver):
            return self._class_named(named_type, use)
        return self._chain(receiver, use, depth)

    def _super(self, use: Use) -> Holder | Meaning | None:
        holder = self.owner_of(use)
        if holder is None or holder.cls is None:
            return None
        found = self.member(holder.cls, use.name, use, above=True)
        return Meaning((found,), "scoped") if found else OUTSIDE

    def _path(self, receiver: str, use: Use, depth: int) -> Holder | Meaning | None:
        """Return what a dotted name is: a variable, a module, a class, or a field of one of them."""
        head, _, rest = receiver.partition(".")
        if head not in SELF:
            told = self._variable(head, use)
            if told is not None:
                return self._follow(self._of_told(told, use, depth), rest, use, depth)
            if through := self._through_import(receiver, use, depth):
                return through
            cls = self._bare(Use(name=head, kind="receives", line=use.line, qualifier="", path=use.path,
                                 content_id=use.content_id, scope=use.scope))  # fmt: skip
            if cls.outside:
                return ELSEWHERE
            if cls.targets and cls.confidence != "guess":
                return self._follow(self._of_definition(cls.targets[0], use, depth), rest, use, depth)
            if rest and (nested := self._class_named(receiver, use)) is not None and not nested.outside:
                return nested
            return ELSEWHERE if self.code.scoping(use).strict_types and head[:1].isupper() else None
        return self._follow(self.owner_of(use), rest, use, depth)

    def _follow(self, holder: Holder | None, rest: str, use: Use, depth: int) -> Holder | None:
        """Return what the fields ``rest`` of ``holder`` lead to."""
        for field in filter(None, rest.split(".")):
            if holder is None or holder.outside:
                return holder
            holder = self._field(holder, field, use, depth + 1)
        return holder

    def _field(self, holder: Holder, field: str, use: Use, depth: int) -> Holder | None:
        if depth > MAX_DEPTH or holder.cls is None:
            return None
        found = self.member(holder.cls, field, use)
        if found is not None and (typed := self._of_definition(found, use, depth)) is not None:
            return replace(typed, confidence="scoped")
        cls = holder.cls
        inside = Use(name=field, kind="references", line=cls.end_line, qualifier="", path=cls.path,
                     content_id=cls.content_id, scope=cls.ordinal)  # fmt: skip
        for receiver in ("self.", "this.", "$this->", "@"):
            told = declared(
                receiver + field, self.code.lines(cls.content_id), first=cls.start_line, last=cls.end_line,
                scoping=self.code.scoping(inside), of_field=True,
            )  # fmt: skip
            if told is not None and (told.type_name or told.expression):
                there = replace(inside, line=told.line, scope=self._scope_at(inside, told.line))
                return self._of_told(told, there, depth)
        return None

    def _scope_at(self, use: Use, line: int) -> int:
        """Return the innermost symbol of the use's file that holds ``line``."""
        holding = [i for i, s in enumerate(self.code.symbols(use.content_id)) if s.start_line <= line <= s.end_line]
        return holding[-1] if holding else -1

    def _variable(self, name: str, use: Use) -> Told | None:
        """Return what the functions around the use, or their parameters, say of a variable."""
        symbols, scoping = self.code.symbols(use.content_id), self.code.scoping(use)
        around = [symbols[o] for o in self.code.enclosing(use.content_id, use.scope)]
        functions = [s for s in around if s.kind in FUNCTIONS or s.kind in ("route", "property")]
        first = min((s.start_line for s in functions), default=0)
        lines = self.code.lines(use.content_id)
        if first:
            told = declared(name, lines, first=first, last=use.line, scoping=scoping)
            heads = (declared(name, [s.signature], first=1, last=1, scoping=scoping) for s in functions)
            return told or next((replace(head, line=first) for head in heads if head), None)
        if any(s.kind in TYPES for s in around):
            return None
        return declared(name, lines, first=1, last=use.line, scoping=scoping)

    def _of_told(self, told: Told, use: Use, depth: int) -> Holder | None:
        if told.type_name:
            return self._class_named(told.type_name, use)
        if not told.expression:
            return None
        expression = told.expression.rstrip(";,")
        if is_literal(expression):
            return ELSEWHERE
        if named_type := cast(expression):
            return self._class_named(named_type, use)
        before = replace(use, line=max(told.line - 1, 1))  # a variable given a new value from its old one
        what = plain_receiver(re.sub(r"^(?:await|new|yield)\s+", "", expression))
        found = (self._path if _PATH.fullmatch(what) else self._chain)(what, before, depth + 1)
        return found if isinstance(found, Holder) else None

    def _chain(self, expression: str, use: Use, depth: int) -> Holder | None:
        """Return what an expression of calls, ``a.b(1).c()``, gives: by its last call, whose end may be cut off."""
        if depth > MAX_DEPTH:
            return None
        what, bracket = last_call(expression)
        if not what:
            what, bracket = called(expression)
        if not what:
            return None
        before, _, name = dotted(what).rpartition(".")
        call = replace(use, name=name, qualifier=before, kind="calls")
        found = self.meaning(call, depth + 1)
        if found.outside and not _CLASS_GIVEN.search(expression[len(what) :]):
            return ELSEWHERE
        if not found.targets or found.confidence == "guess":
            return None
        return self._result(found.targets[0], call, bracket, depth)

    def _result(self, d: Definition, call: Use, bracket: str, depth: int) -> Holder | None:
        """Return what a call of ``d`` gives."""
        if d.kind in TYPES:
            return Holder(cls=d)
        scoping = scoping_of(d.language)
        written = returned(d.signature, d.name, scoping.family)
        there = Use(name=d.name, kind="references", line=d.start_line, qualifier="", path=d.path,
                    content_id=d.content_id, scope=d.ordinal)  # fmt: skip
        word = bare_type(written)
        if word in SELF or (d.name == "new" and not word):
            own = self.owner_of(there)
            return replace(own, confidence="scoped") if own else None
        return self._class_named(word, there) if word else None

    def _through_import(self, receiver: str, use: Use, depth: int) -> Holder | Meaning | None:
        """Return what a receiver that begins with an imported module or name leads to."""
        for imported in self.code.imports(use):
            whole = imported.module == receiver and imported.local == imported.name
            local = imported.local if not whole else receiver
            if receiver != local and not receiver.startswith(local + "."):
                continue
            rest = receiver[len(local) + 1 :]
            files = self._module_files(imported, use)
            if not files and not self._files_of(imported, use):
                return ELSEWHERE
            if files and not rest:
                return self._in_module(files, use)
            value = self._imported(imported, replace(use, kind="receives"))
            if value.targets and value.confidence != "guess":
                return self._follow(self._of_definition(value.targets[0], use, depth), rest, use, depth)
            return UNKNOWN if not value.outside else ELSEWHERE
        return None

    def _module_files(self, imported: Import, use: Use) -> frozenset[str]:
        """Return the files of an import that names a whole module."""
        family = self.code.scoping(use).family
        if family == "python" and imported.module.rpartition(".")[2] != imported.name:
            module = imported.module + ("" if imported.module.endswith(".") else ".") + imported.name
            return self.code.modules.files(module, at=use.path, family=family)
        if family == "rust":
            module = f"{imported.module}::{imported.name}" if imported.module != imported.name else imported.module
            files = self.code.modules.files(module, at=use.path, family=family)
            return frozenset(f for f in files if f.endswith((f"/{imported.name}.rs", f"/{imported.name}/mod.rs")))
        return self._files_of(imported, use) if family in ("python", "go", "ecma") else frozenset()

    def _in_module(self, files: frozenset[str], use: Use) -> Meaning:
        """Return what a name of a module means: defined in its files or passed on by them."""
        rivals = self._of_kind(self.code.named(use, use.name), use.kind)
        free = [d for d in rivals if not self.code.is_member(d) and self.code.function_around(d) < 0]
        if here := [d for d in free if d.path in files]:
            return Meaning((here[0],), "exact")
        if passed := self._through_files(files, use.name, use):
            return Meaning((passed,), "scoped")
        found = self._passed_on(free, files, use) if free else UNKNOWN
        return found if found.targets else OUTSIDE

    def _of_definition(self, d: Definition, use: Use, depth: int) -> Holder | None:
        """Return what a defined name is as a receiver: the class itself, or the type that its declaration says."""
        if d.kind in TYPES:
            return Holder(cls=d, confidence="exact")
        there = Use(name=d.name, kind="references", line=d.end_line, qualifier="", path=d.path,
                    content_id=d.content_id, scope=d.ordinal)  # fmt: skip
        if d.kind == "property" and (word := bare_type(returned(d.signature, d.name, scoping_of(d.language).family))):
            return self._class_named(word, there)
        if d.kind in FUNCTIONS:
            return None if scoping_of(d.language).implicit_this else ELSEWHERE
        told = field_type(d.name, d.signature, scoping_of(d.language))
        if told is not None and (typed := self._of_told(replace(told, line=d.start_line), there, depth + 1)):
            return replace(typed, confidence="scoped")
        own = [m for m in self.code.named(use, use.name) if m.path == d.path and m.owner == dotted(d.qualified_name)]
        return Holder(owner=dotted(d.qualified_name), path=d.path, confidence="scoped") if own else None

    def _class_named(self, word: str, use: Use) -> Holder | None:
        """Return the class that a type as written means where ``use`` stands."""
        before, _, name = dotted(word).rpartition(".")
        where = replace(use, name=name, kind="references", qualifier="")
        if word in SELF:
            return self.owner_of(use)
        if before:
            through = self._through_import(before, where, 0)
            found = through if isinstance(through, Meaning) else self._nested(before, where)
        else:
            found = self._bare(where)
        classes = [d for d in found.targets if d.kind in TYPES]
        if classes and (found.confidence != "guess" or len(found.targets) == 1):
            return Holder(cls=classes[0])
        return None if found.targets else ELSEWHERE

    def _nested(self, before: str, where: Use) -> Meaning:
        suffix = f"{before}.{where.name}"
        found = [
            d
            for d in self.code.named(where, where.name)
            if d.kind in TYPES and ("." + dotted(d.qualified_name)).endswith("." + suffix)
        ]
        return Meaning((found[0],), "scoped") if found else UNKNOWN

    # Members ----------------------------------------------------------------------------------------------------

    def member(
        self, cls: Definition, name: str, use: Use, *, above: bool = False, seen: Seen = frozenset()
    ) -> Definition | None:
        """Return the member ``name`` of a class, or else of the nearest base class; only of these if ``above``."""
        if not above and (own := self._own_member(cls, name, use)):
            return own
        key = (cls.path, cls.qualified_name)
        if key in seen or len(seen) > MAX_DEPTH:
            return None
        there = Use(name=cls.name, kind="references", line=cls.start_line, qualifier="", path=cls.path,
                    content_id=cls.content_id, scope=cls.parent)  # fmt: skip
        for qualifier, base in self.code.supers(cls.content_id, cls.ordinal):
            holder = self._class_named(f"{qualifier}.{base}" if qualifier else base, there)
            if holder is not None and holder.cls is not None and holder.cls != cls:
                found = self.member(holder.cls, name, use, seen=seen | {key})
                if found is not None:
                    return found
        return None

    def _own_member(self, cls: Definition, name: str, use: Use) -> Definition | None:
        owner = dotted(cls.qualified_name)
        own = [
            d
            for d in self._of_kind(self.code.named(use, name), "calls")
            if d.owner == owner or (d.owner.rpartition(".")[2] == cls.name and d.parent < 0)
        ]
        near = [d for d in own if d.path == cls.path] or [d for d in own if same_folder(d.path, cls.path)]
        if not near and own:
            namesakes = [d for d in self.code.named(use, cls.name) if d.kind in TYPES]
            near = own if all(d.path == cls.path for d in namesakes if d.qualified_name == cls.qualified_name) else []
        return near[0] if near else None

    def overridden(self, d: Definition) -> list[Definition]:
        """Return the members of base classes that ``d`` overrides or implements: a call of them may mean it."""
        if d.kind != "method" or not d.owner:
            return []
        use = Use(name=d.name, kind="calls", line=d.start_line, qualifier="self", path=d.path, content_id=d.content_id,
                  scope=d.ordinal)  # fmt: skip
        holder = self.owner_of(use)
        found = self.member(holder.cls, d.name, use, above=True) if holder and holder.cls else None
        return [found] if found else []


def is_telling(name: str) -> bool:
    """Return whether a method's name says which it is: one of several words does."""
    return len(_PARTS.findall(name)) > 1


def plain_receiver(qualifier: str) -> str:
    """Return a receiver with dots between its parts and without what does not change what it is."""
    text = re.sub(r"^(?:await\s+|[&*]+|\$)", "", qualifier.strip())
    if text.startswith("@"):  # Ruby
        text = f"self.{text.lstrip('@')}"
    text = dotted(re.sub(r"\?\.|!\.|!!\.", ".", text))
    text = re.sub(r"\.await\b|\?$|!$", "", text)
    while text.startswith("(") and text.endswith(")") and _closes(text) == 0:
        text = text[1:-1].strip()
        text = re.sub(r"^(?:await\s+|new\s+|[&*]+)", "", text)
    return re.sub(r"^new\s+", "", text)


def _closes(text: str) -> int:
    """Return where the bracket that ends ``text`` was opened; -1 when it never was."""
    depth = 0
    for at in range(len(text) - 1, -1, -1):
        if text[at] in _BRACKETS:
            depth += 1
        elif text[at] in "([{":
            depth -= 1
            if depth == 0:
                return at
    return -1


def last_call(expression: str) -> tuple[str, str]:
    """Return what the last call of an expression calls, and its bracket: ``a.b(1).c(2)`` → (``a.b(1).c``, ``(``)."""
    text = re.sub(r"(?:\.await|[?!;,])+$", "", expression.strip()).rstrip()
    if not text.endswith((")", "}")):
        return "", ""
    at = _closes(text)
    if at <= 0:
        return "", ""
    return re.sub(r"^(?:new|await)\s+|^[&*]+|::?<[^()]*>$|<[^()]*>$", "", text[:at].strip()), text[at]
