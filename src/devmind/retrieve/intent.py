"""Question → what kind of answer it asks for. The one place that says so, for the search and for the answer."""

from __future__ import annotations

import re
from typing import Final, Literal

Intent = Literal["callers", "why", "architecture", "where", "how", "what"]

MAX_CHARS: Final = 400  # such a question is short; a long word takes the patterns the square of its length
_NAME: Final = r"`?(?P<name>[A-Za-z_][\w.:]*\w)(?:\(\))?`?"
# Compiled by the first question that may ask for callers.
_CALLERS: Final = (
    rf"^\s*(?:who|what|which \w+)\s+(?:calls?|invokes?)\s+(?:the\s+)?{_NAME}(?:\s+(?:function|method))?\s*\??\s*$",
    rf"\bwhere\s+(?:is|are)\s+(?:the\s+)?(?:function\s+|method\s+)?{_NAME}(?:\s+(?:function|method))?\s+"
    r"(?:called|invoked)(?:\s+from)?\s*\??\s*$",
    rf"\b(?:callers|call sites) of\s+(?:the\s+)?{_NAME}\s*\??\s*$",
    rf"(?:谁|哪里|哪儿|什么地方|哪些\w{{1,4}}?)(?:会|在)?调用(?:了|到)?\s*{_NAME}",
    rf"{_NAME}\s*(?:函数|方法)?\s*(?:在哪里|在哪儿|在哪|被谁|被哪里|被哪些\w{{1,4}}?|在什么地方)(?:被)?调用",
)
_SORT: Final = r"(?:function|method|class|constant|variable|type|struct|interface|macro)"
# Of a name, and of nothing else: so its definition is the whole answer. Any word may be what is *defined*; of what is
# only described it must look like a name, or "What is authentication?" would be one.
_DEFINED: Final = (
    rf"^\s*(?:where|in which (?:file|module))\s+(?:is|are)\s+(?:the\s+)?(?:{_SORT}\s+)?{_NAME}(?:\s+{_SORT})?\s+"
    r"(?:defined|declared)\s*\??\s*$",
    rf"^\s*which (?:file|module)\s+(?:defines|declares)\s+(?:the\s+)?(?:{_SORT}\s+)?{_NAME}(?:\s+{_SORT})?\s*\??\s*$",
    rf"^\s*what\s+does\s+(?:(?:the\s+)?{_SORT}\s+)?{_NAME}\s+do\s*\??\s*$",
    rf"\bdefinition of\s+(?:the\s+)?(?:{_SORT}\s+)?{_NAME}(?:\s+{_SORT})?\s*[?.]?\s*$",
    rf"^\s*(?:这个)?(?:函数|方法|类)?\s*{_NAME}\s*(?:这个)?(?:函数|方法|类)?\s*(?:是)?在?(?:哪里|哪儿|哪个文件|什么地方)(?:被)?(?:定义|声明)的?\s*[??]?\s*$",
)
_DESCRIBED: Final = (
    rf"^\s*what\s+(?:does|is)\s+(?:the\s+)?(?:{_SORT}\s+)?{_NAME}(?:\s+{_SORT})?(?:\s+(?:do|for))?\s*\??\s*$",
    rf"^\s*where\s+(?:is|are)\s+(?:the\s+)?(?:{_SORT}\s+)?{_NAME}(?:\s+{_SORT})?(?:\s+(?:implemented|located))?\s*\??\s*$",
    rf"^\s*(?:这个)?(?:函数|方法|类)?\s*{_NAME}\s*(?:这个)?(?:函数|方法|类)?\s*(?:是)?(?:在(?:哪里|哪儿|哪)|做什么|干什么|有什么用|什么意思)(?:实现)?[的用]?\s*[??]?\s*$",
)
_NAME_LIKE: Final = re.compile(r"_|[a-z0-9][A-Z]|[A-Z][a-z]+[A-Z]|\w(?:\.|::)\w")
WHY: Final = re.compile(r"\bwhy\b|\breasons?\b|\brationale\b|为什么|为何|原因|缘由|为啥|理由", re.IGNORECASE)
WHERE: Final = re.compile(
    r"\bwhere\b|\bwhich (?:file|module|function|class)\b|哪里|在哪|哪个文件|哪儿|何处|位置", re.IGNORECASE
)
# Of the whole, as documents tell it. "The flow of data in X" asks for code: with such words among these, .009 of the
# files of questions were lost to documents.
ARCHITECTURE: Final = re.compile(
    r"\b(?:overall|project|system|software|high[- ]level|codebase)(?:'s)? (?:architecture|structure|design)\b"
    r"|\barchitecture (?:of (?:the|this) (?:project|code|system|repo|app)|overview|diagram)"
    r"|\b(?:architectural|project) overview\b"
    r"|\b(?:project|code(?:base)?|repository) (?:structure|layout|organi[sz]ation)\b"
    r"|\bhow (?:is|are) the (?:project|code(?:base)?|repository|modules|packages) "
    r"(?:structured|organi[sz]ed|laid out)\b"
    r"|架构|整体结构|总体结构|项目结构|代码结构|目录结构|模块划分|整体流程|总体流程|整体设计|总体设计",
    re.IGNORECASE,
)
HOW: Final = re.compile(r"\bhow\b|怎么|怎样|如何|怎么样", re.IGNORECASE)


def asked_name(question: str) -> str:
    """Return the name whose callers the question asks for; empty when it asks something else."""
    if len(question) > MAX_CHARS or not any(word in question.lower() for word in ("call", "invoke", "调用")):
        return ""
    found = (re.search(pattern, question, re.IGNORECASE) for pattern in _CALLERS)
    return next((match["name"] for match in found if match), "")


def defined_name(question: str) -> str:
    """Return the name whose definition is all that the question asks for; empty when it asks something else."""
    if len(question) > MAX_CHARS:
        return ""
    for patterns in (_DEFINED, _DESCRIBED):
        found = next((match for p in patterns if (match := re.search(p, question, re.IGNORECASE))), None)
        if found and (patterns is _DEFINED or "`" in found[0] or _NAME_LIKE.search(found["name"])):
            return found["name"]
    return ""


def intent_of(question: str) -> Intent:
    """Return what is asked; of a long text its beginning says so."""
    if asked_name(question):
        return "callers"
    head = question[:MAX_CHARS]
    if WHY.search(head):
        return "why"
    if ARCHITECTURE.search(head):
        return "architecture"
    if WHERE.search(head):
        return "where"
    return "how" if HOW.search(head) else "what"
