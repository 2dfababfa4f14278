"""Search result → answer without a model: what the code says of itself, quoted and cited.

The words between the quotations are ours and claim nothing that the index does not hold: a name, its kind, its place,
its signature, the first sentence of its documentation, what it calls, and the lines that share most with the question.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from devmind.answer.question import Question, read_question, terms_of
from devmind.answer.subject import Definitions, defining, narrow
from devmind.answer.verify import Lines, format_citation, verify
from devmind.retrieve.chinese import translate
from devmind.retrieve.intent import defined_name
from devmind.types import Answer, Citation, Hit, SearchResult

# The least confidence that is answered: it refuses 5 % of the answerable development questions, and of what does not
# exist 91 % of the hand-made development questions and 99 % of the features proven absent (docs/retrieval.md).
MIN_CONFIDENCE = 0.655
MAX_EVIDENCE = 5
MAX_DIRECT = 3  # more pieces make an answer that nobody checks
MAX_QUOTED_LINES = 4
MAX_LINE_CHARS = 160
ABOUT_WEIGHT = 0.3  # of a term of the documentation against a term of the question, when lines are chosen
DOCSTRING_LINE_WEIGHT = 0.4  # parameter lists repeat the names of the code without telling what it does
WHY_COMMENT_WEIGHT = 3.0  # reasons stand in comments
MAX_CALLS = 6
MAX_SIGNATURE_LINES = 12
MAX_NAMES = 5
MAX_ECHO_CHARS = 500  # of a question that is refused: enough to recognise a pasted log by
GENERATOR = "extractive"

COMMENT = re.compile(
    r"\s*(?:#(?![\[!]|include|define|if|end|else|pragma)|//|/\*|\*(?:\s|/|$)|--\s|;;|<!--|%\s|\"\"\"|''')"
)
COMMENT_MARKS = re.compile(
    r"^\s*(?:#+|//[/!]?|/\*+!?|\*+/?|--+|;+|<!--|%+|[rRbBuU]?\"\"\"|''')\s?|\s*(?:\*/|-->|\"\"\"|''')\s*$"
)
DOCSTRING = re.compile(r"\s*[rRuUbB]{0,2}(\"\"\"|\'\'\')")
DEFINING = (
    "(?:def|class|fn|func|fun|function|sub|struct|interface|trait|enum|type|const|let|var|val|impl|module|namespace|object"
    "|record|union|protocol|macro_rules!|define|public|private|protected|static|void|int|bool|char|auto)"
)
EVERYDAY = """: all any append assert assert_eq bool break cast classmethod command contextmanager continue dict echo
enumerate eval exit export false filter float format get getattr hasattr int isinstance iter len list local make map max
min new next panic print printf println property range repr return reversed set setattr setter shift sizeof sorted
staticmethod str super test toString true tuple type unset vec zip __init__"""
EVERYDAY_CALLS = frozenset(EVERYDAY.split())  # calls that tell nothing about the caller
TYPE_PREFIX = re.compile(r"^(?:\w+\[[^:]*\]|str|int|bool|float|list|dict): (?=[A-Z])")  # "Optional[float]: Get …"
UNFINISHED = ("<", ",", "=", "|", "->", " extends", " where")  # a signature that goes on in the next line
HTML_TAG = re.compile(r"</?(?:p|li|ul|ol|b|i|em|code|pre|br)\s*/?>", re.IGNORECASE)  # of Javadoc and its kin
PROSE_KINDS = frozenset(["heading", "section", "key"])
SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=\S)|(?<=[。!?])")
KIND_ZH = {
    "class": "类", "method": "方法", "function": "函数", "constant": "常量", "variable": "变量", "field": "字段",
    "property": "属性", "enum": "枚举", "enum_member": "枚举值", "interface": "接口", "struct": "结构体",
    "union": "联合体",
    "trait": "特征", "protocol": "协议", "type": "类型", "macro": "宏", "module": "模块", "namespace": "命名空间",
    "object": "对象", "route": "路由", "heading": "文档章节", "key": "配置项", "element": "元素", "selector": "选择器",
    "table": "表", "view": "视图", "target": "构建目标", "message": "消息", "service": "服务", "rpc": "远程调用",
    "stage": "构建阶段", "section": "文档章节", "part": "片段",
}  # fmt: skip


class Sources(Lines, Definitions, Protocol):
    """What the composer reads of the index."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What one hit says of itself, each as written in the code."""

    signature: str
    doc: str
    calls: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Phrases:
    best: str
    best_where: str
    best_why: str
    also: str
    defined: str
    signature: str
    calls: str
    separator: str
    not_found: str
    searched: str
    nearest: str
    nothing: str
    reasons: dict[str, str]


ENGLISH = Phrases(
    best="The best evidence in the indexed code:",
    best_where="It is here:",
    best_why="What the code and its comments say about the reason:",
    also="Also relevant:",
    defined="at",
    signature="Signature: ",
    calls="Calls: ",
    separator=", ",
    not_found="Not found in the indexed code.",
    searched="Searched: {repos}, for “{question}”.",
    nearest="Nearest names: ",
    nothing="no repository",
    reasons={
        "no_hits": "Nothing matched.",
        "low_confidence": "What matched is too weak to be evidence.",
        "names_not_found": "No evidence mentions {names}.",
        "no_citation_resolved": "No citation could be confirmed in the indexed files.",
    },
)
CHINESE = Phrases(
    best="在已索引的代码中,最直接的依据如下:",
    best_where="位置如下:",
    best_why="关于原因,代码及其注释的说明如下:",
    also="相关代码:",
    defined="位于",
    signature="签名:",
    calls="调用:",
    separator="、",
    not_found="在已索引的代码中未找到。",
    searched="已搜索:{repos};问题:“{question}”。",
    nearest="最接近的名称:",
    nothing="没有仓库",
    reasons={
        "no_hits": "没有任何匹配。",
        "low_confidence": "匹配的内容过弱,不足以作为依据。",
        "names_not_found": "没有依据提到 {names}。",
        "no_citation_resolved": "没有引用能在已索引的文件中得到确认。",
    },
)


def compose(question: str, result: SearchResult, sources: Sources, *, lead: str = "") -> Answer:
    """Answer from at most five pieces of evidence, three of them quoted; every citation is checked before it is shown.

    The words of a Chinese question choose the lines to quote through the glossary that the search used.

    Args:
        lead: the first line of the answer, instead of one that fits the question.
    """
    asked = read_question(question)
    if not result.hits:
        return _abstain(asked, result, "no_hits")
    if asked.code_names and not _is_name_known(asked, result, sources):
        return _abstain(asked, result, "names_not_found")
    evidence = _distinct(result.hits)[:MAX_EVIDENCE]
    defined = _defined(question, evidence, sources)
    if result.confidence < MIN_CONFIDENCE and not defined:
        return _abstain(asked, result, "low_confidence")
    wanted = asked.terms
    if asked.chinese:
        wanted |= terms_of(" ".join(word for words in translate(asked.text) for word in words))
    if result.confidence < MIN_CONFIDENCE:
        evidence = [hit for hit in evidence if hit.rank in defined]  # the others are too weak
    subjects = [defined.get(hit.rank) or narrow(hit, wanted, sources) for hit in evidence]
    subjects.sort(key=lambda hit: hit.rank not in defined)
    drafts = [
        Citation(hit.repo, hit.path, hit.symbol, hit.start_line, hit.end_line, hit.commit, verified=False)
        for hit in subjects
    ]
    verdicts = verify(drafts, generations=result.generations, sources=sources)
    direct = [
        (hit, verdict.resolved) for hit, verdict in zip(subjects, verdicts, strict=True) if verdict.resolved is not None
    ]
    direct = [pair for at, pair in enumerate(direct) if at == 0 or _is_related(pair[0], wanted)][:MAX_DIRECT]
    if not direct:
        return _abstain(asked, result, "no_citation_resolved")
    shows_repo = len({hit.repo for hit, _ in direct}) > 1
    pieces = [
        _piece(
            hit, citation, asked, wanted=wanted, sources=sources, generations=result.generations, shows_repo=shows_repo
        )
        for hit, citation in direct
    ]
    phrases = CHINESE if asked.chinese else ENGLISH
    fitting = {"what": phrases.best, "where": phrases.best_where, "why": phrases.best_why}[asked.intent]
    parts = [lead or fitting, pieces[0]]
    if len(pieces) > 1:
        parts += [phrases.also, *pieces[1:]]
    return Answer(
        question=question,
        answer="\n\n".join(parts),
        citations=tuple(citation for _, citation in direct),
        abstained=False,
        reason="",
        evidence=evidence,
        generator=GENERATOR,
        timings_ms=result.timings_ms,
    )


def _defined(question: str, evidence: Sequence[Hit], sources: Sources) -> dict[int, Hit]:
    """Return, by rank, the hits that define the one name that the question asks for, cut to its definition.

    That a definition is there needs no estimate: it is known.
    """
    name = defined_name(question)
    cut = {hit.rank: defining(hit, name, sources) for hit in evidence} if name else {}
    return {rank: hit for rank, hit in cut.items() if hit is not None}


def _abstain(asked: Question, result: SearchResult, reason: str) -> Answer:
    phrases = CHINESE if asked.chinese else ENGLISH
    quoted = [f"`{name}`" for name in asked.code_names[:MAX_NAMES]]
    said = asked.text.strip()
    said = said if len(said) <= MAX_ECHO_CHARS else said[:MAX_ECHO_CHARS] + "…"
    repos = phrases.separator.join(sorted(result.generations)) or phrases.nothing
    sentences = [
        phrases.not_found,
        phrases.reasons[reason].format(names=phrases.separator.join(quoted)),
        phrases.searched.format(repos=repos, question=said),
    ]
    names = (
        result.nearest_names[:MAX_NAMES] or tuple(dict.fromkeys(hit.symbol for hit in result.hits if hit.symbol))[:3]
    )
    if names:
        sentences.append(phrases.nearest + phrases.separator.join(f"`{name}`" for name in names))
    return Answer(
        question=result.query,
        answer=("" if asked.chinese else " ").join(sentences),
        citations=(),
        abstained=True,
        reason=reason,
        evidence=_distinct(result.hits)[:MAX_DIRECT],
        generator=GENERATOR,
        timings_ms=result.timings_ms,
    )


def _is_name_known(asked: Question, result: SearchResult, sources: Sources) -> bool:
    """Return whether some hit holds a code name of the question, however cased or joined, or the index defines one."""
    bare = {name.removesuffix("()").replace("::", ".").rpartition(".")[2] for name in asked.code_names}
    keys = {re.sub(r"[\W_]", "", name).lower() for name in bare} - {""}
    texts = (f"{hit.path} {hit.symbol} {hit.header} {hit.content}" for hit in result.hits)
    joined = [re.sub(r"[\W_]", "", text).lower() for text in texts]
    return any(key in text for key in keys for text in joined) or any(
        sources.is_defined(name, repo) for name in bare for repo in result.generations
    )


def _distinct(hits: Sequence[Hit]) -> list[Hit]:
    """Drop hits with the same content as, or overlapping lines with, a better one."""
    kept: list[Hit] = []
    for hit in hits:
        overlaps = any(
            (hit.repo, hit.path) == (other.repo, other.path)
            and hit.start_line <= other.end_line
            and other.start_line <= hit.end_line
            for other in kept
        )
        if not overlaps and all(hit.content.strip() != other.content.strip() for other in kept):
            kept.append(hit)
    return kept


def _is_related(hit: Hit, wanted: frozenset[str]) -> bool:
    latin = {term for term in wanted if term.isascii()}
    return not latin or bool(latin & terms_of(f"{hit.path} {hit.symbol} {hit.header} {hit.content}"))


def _piece(
    hit: Hit,
    citation: Citation,
    asked: Question,
    *,
    wanted: frozenset[str],
    sources: Lines,
    generations: Mapping[str, int],
    shows_repo: bool,
) -> str:
    phrases = CHINESE if asked.chinese else ENGLISH
    lines = sources.lines(citation.repo, citation.path, generations[citation.repo]) or []
    span = [(number, lines[number - 1]) for number in range(citation.start_line, citation.end_line + 1)]
    facts = read_facts(hit, [line for _, line in span])
    where = format_citation(citation) + (f" [{citation.repo}]" if shows_repo else "")
    kind = KIND_ZH.get(hit.kind, "代码") if asked.chinese else hit.kind.replace("_", " ") or "code"
    name = f"`{citation.symbol or citation.path}`"
    opening = f"{name}({kind})" if asked.chinese else f"{name} ({kind})"
    said = f"{':' if asked.chinese else ': '}{facts.doc}" if facts.doc else ""
    text = [f"{opening}{said}", f"{phrases.defined} {where}"]
    if facts.signature:
        text.append(f"{phrases.signature}`{_cut(facts.signature)}`")
    if facts.calls:
        text.append(phrases.calls + phrases.separator.join(f"`{name}`" for name in facts.calls))
    text += [
        f"  {number:>5} | {line}"
        for number, line in telling_lines(span, wanted, facts=facts, intent_why=asked.intent == "why")
    ]
    return "\n".join(text)


def read_facts(hit: Hit, lines: Sequence[str]) -> Facts:
    """Read signature, first sentence of the documentation and called names.

    The lines say it first; the header holds what they lack (the signature of a later piece of a long function), and
    opens with kind and qualified name.
    """
    last = re.split(r"[.#/]|::", hit.symbol)[-1] if hit.symbol else ""
    calls: tuple[str, ...] = ()
    rest: list[str] = []
    for at, raw in enumerate(hit.header.split("\n")):
        line = raw.strip()
        if line.startswith("calls:"):
            names = (name.strip(" `…") for name in line.removeprefix("calls:").split(","))
            calls = tuple(name for name in names if name and name not in EVERYDAY_CALLS)[:MAX_CALLS]
        elif line and not (at == 0 and hit.symbol and line.endswith(hit.symbol)) and not line.startswith("in "):
            rest.append(line)
    signature = doc = ""
    if hit.kind in PROSE_KINDS:
        return Facts("", "", calls)
    defined_at = _definition(lines, last) if last else None
    if defined_at is not None:
        signature, end = _signature(lines, defined_at)
        doc = first_sentence(_docstring(lines, end) or _comment_above(lines, defined_at))
    elif not last:
        doc = first_sentence(_comment_above(lines, _first_code(lines)))
    if rest and not signature and last and _names(last, rest[0]):
        signature = rest.pop(0).rstrip("{: ")
    doc = doc or first_sentence("\n".join(line for line in rest if line.rstrip("{: ") != signature))
    return Facts(signature, "" if doc in (hit.symbol, last) else doc, calls)


def _names(name: str, line: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", line) is not None


def _definition(lines: Sequence[str], name: str) -> int | None:
    """Return the index of the line that defines ``name``: one with a defining word before it, else the first use."""
    uses = [at for at, line in enumerate(lines) if not COMMENT.match(line) and _names(name, line)]
    defining = (at for at in uses if re.search(rf"\b{DEFINING}\b[^=]*(?<!\w){re.escape(name)}(?!\w)", lines[at]))
    return next(defining, uses[0] if uses else None)


def _signature(lines: Sequence[str], at: int) -> tuple[str, int]:
    """Return the definition on one line, joined until its brackets close, and the index after it."""
    text, end = "", at
    while end < len(lines) and end - at < MAX_SIGNATURE_LINES:
        text = f"{text} {lines[end].strip()}".strip()
        end += 1
        if text.count("(") <= text.count(")") and not text.endswith(UNFINISHED):
            break
    text = re.sub(r"(?<=[(\[]) | (?=[)\]])|,(?= ?[)\]])", "", text)
    return text.rstrip("{: ").strip(), end


def _docstring(lines: Sequence[str], at: int) -> str:
    """Return the first paragraph of the string literal that opens a Python body."""
    while at < len(lines) and not lines[at].strip():
        at += 1
    opening = DOCSTRING.match(lines[at]) if at < len(lines) else None
    if opening is None:
        return ""
    said = [lines[at][opening.end() :]]
    while opening[1] not in said[-1] and at + 1 < len(lines) and (lines[at + 1].strip() or not said[0].strip()):
        at += 1
        said.append(lines[at])
    return "\n".join(said).split(opening[1])[0]


def _comment_above(lines: Sequence[str], at: int) -> str:
    """Return the comment that ends right above a line, decorators and attributes between them aside."""
    while at > 0 and re.match(r"\s*(?:@\w|#\[|\[\w)", lines[at - 1]):
        at -= 1
    comment: list[str] = []
    while at > 0 and COMMENT.match(lines[at - 1]):
        at -= 1
        comment.insert(0, COMMENT_MARKS.sub("", lines[at]).strip())
    return "\n".join(line for line in comment if not line.startswith(("@", ":param", r"\param")))


def _first_code(lines: Sequence[str]) -> int:
    return next((at for at, line in enumerate(lines) if line.strip() and not COMMENT.match(line)), len(lines))


def first_sentence(text: str, limit: int = 240) -> str:
    """Return the first sentence of the first paragraph, on one line, cut at ``limit`` characters."""
    paragraph = text.strip().split("\n\n")[0]
    joined = TYPE_PREFIX.sub("", " ".join(HTML_TAG.sub(" ", paragraph).split()))
    sentence = SENTENCE_END.split(joined, maxsplit=1)[0].strip()
    return sentence if len(sentence) <= limit else sentence[: limit - 1].rstrip() + "…"


def telling_lines(
    span: Sequence[tuple[int, str]], wanted: frozenset[str], *, facts: Facts, intent_why: bool
) -> list[tuple[int, str]]:
    """Return the few lines which share most with the question, in file order; a term counts less the commoner it is.

    Lines that the signature and documentation already show are left out. What the documentation says counts too, but
    less: it carries the choice when question and code share no language.
    """
    shown = " ".join(facts.signature.split())
    candidates = [
        (number, line, frozenset(term for term in terms_of(line) if not term.isdigit()))
        for number, line in span
        if sum(map(str.isalnum, line)) > 3 and (not shown or " ".join(line.split()).rstrip("{:, ") not in shown)
    ]
    df_by_term = Counter(term for _, _, terms in candidates for term in terms)
    about = terms_of(f"{facts.doc} {facts.signature}") - wanted
    inside_doc = _docstring_lines(span)
    scored = []
    for number, line, terms in candidates:
        said = COMMENT_MARKS.sub("", line).strip()
        if facts.doc and (said in facts.doc or facts.doc in said):
            continue
        score = sum(1 / df_by_term[term] for term in sorted(terms & wanted))
        score += ABOUT_WEIGHT * sum(1 / df_by_term[term] for term in sorted(terms & about))
        if intent_why:
            score *= WHY_COMMENT_WEIGHT if number in inside_doc or COMMENT.match(line) else 1.0
        elif number in inside_doc:
            score *= DOCSTRING_LINE_WEIGHT
        if score:
            scored.append((-score, number, line))
    return sorted((number, _cut(line.rstrip())) for _, number, line in sorted(scored)[:MAX_QUOTED_LINES])


def _docstring_lines(span: Sequence[tuple[int, str]]) -> set[int]:
    """Return the numbers of the lines of string literals that open on their own line and run over several."""
    found: set[int] = set()
    open_quote = ""
    for number, line in span:
        opening = DOCSTRING.match(line)
        if open_quote:
            found.add(number)
            open_quote = "" if open_quote in line else open_quote
        elif opening:
            found.add(number)
            open_quote = "" if opening[1] in line[opening.end() :] else opening[1]
    return found


def _cut(line: str) -> str:
    return line if len(line) <= MAX_LINE_CHARS else line[: MAX_LINE_CHARS - 1] + "…"
