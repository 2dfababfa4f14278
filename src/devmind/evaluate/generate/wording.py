"""The sentences that questions are made of, English and Chinese. ``{name}`` stands for what is asked for.

Several of each, because a system could learn one sentence; short and bare ones too, because people type those.
Questions about a real symbol and about one that is not there are worded alike: the sentence must not give it away.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from random import Random
from typing import Final

from devmind.evaluate.generate.topics import Lang

_MEETING = re.compile(r"(?<=[\u4e00-\u9fff])(?=[A-Za-z0-9])|(?<=[A-Za-z0-9])(?=[\u4e00-\u9fff])")
_APART = re.compile(r"(?<=[\u4e00-\u9fff]) (?=[\u4e00-\u9fff])")
SYMBOL: Final[Mapping[Lang, tuple[str, ...]]] = {
    "en": (
        "Where is the {kind} `{name}` defined?",
        "Which file contains the {kind} `{name}`?",
        "Show me the definition of `{name}`.",
        "I have to change the {kind} `{name}`. Where do I find it?",
        "What does the {kind} `{name}` do?",
        "Please find `{name}` for me",
        "{name}",
        "Can you point me at the source of the {kind} `{name}`?",
        "A stack trace mentions `{name}`: where is that code?",
        "In a review somebody spoke of `{name}`; what is it and where does it live?",
        "where's {name}",
        "How is the {kind} `{name}` written?",
    ),
    "zh": (
        "{kind} `{name}` 定义在哪里？",
        "`{name}` 这个{kind}在哪个文件里？",
        "帮我找到 `{name}` 的定义",
        "我要修改{kind} `{name}`，应该看哪个文件？",
        "`{name}` 是做什么的？",
        "请给出{kind} `{name}` 的源代码位置",
        "{name} 在哪",
        "报错堆栈里出现了 `{name}`，对应的代码在哪里？",
        "{kind} `{name}` 是怎么实现的？",
        "评审时有人提到 `{name}`，它在哪里，有什么作用？",
    ),
}
ROUTE: Final[Mapping[Lang, tuple[str, ...]]] = {
    "en": (
        "Which code answers the request `{name}`?",
        "Where is the endpoint `{name}` handled?",
        "A client calls `{name}`: which function runs on the server?",
    ),
    "zh": (
        "接口 `{name}` 由哪段代码处理？",
        "请求 `{name}` 在服务端由哪个函数响应？",
        "`{name}` 这个接口的实现在哪里？",
    ),
}
CHAIN: Final[Mapping[Lang, tuple[str, ...]]] = {
    "en": (
        "How does `{first}` come to call `{last}`? Show every function in between.",
        "Follow the calls from `{first}` down to `{last}`.",
        "`{first}` does not call `{last}` directly: through which code does it get there?",
        "If `{last}` fails, how does that reach `{first}`? Name each step.",
    ),
    "zh": (
        "`{first}` 是如何一步步调用到 `{last}` 的？请列出中间的函数。",
        "从 `{first}` 到 `{last}` 的调用链经过哪些函数？",
        "`{first}` 没有直接调用 `{last}`，中间经过了什么代码？",
        "如果 `{last}` 出错，错误是怎样传到 `{first}` 的？请说明每一步。",
    ),
}
ROUTE_CHAIN: Final[Mapping[Lang, tuple[str, ...]]] = {
    "en": (
        "What happens on the server when a client sends `{first}`? Follow it to the code that does the work.",
        "Trace the request `{first}` from its route through the handler to what the handler relies on.",
    ),
    "zh": (
        "客户端发送 `{first}` 之后服务端发生了什么？请从路由一直追到真正干活的代码。",
        "请求 `{first}` 从路由到处理函数再到下层服务，依次经过哪些代码？",
    ),
}
KIND_NAMES: Final[Mapping[Lang, Mapping[str, str]]] = {
    "en": {"enum_member": "enum member", "rpc": "RPC", "type": "type", "object": "object"},
    "zh": {
        "class": "类", "method": "方法", "function": "函数", "constant": "常量", "enum": "枚举", "interface": "接口",
        "struct": "结构体", "union": "联合体", "trait": "特征", "protocol": "协议", "type": "类型", "macro": "宏",
        "object": "对象", "message": "消息", "service": "服务", "rpc": "远程调用", "property": "属性",
        "variable": "变量", "field": "字段", "enum_member": "枚举成员", "module": "模块", "namespace": "命名空间",
        "table": "表", "view": "视图", "route": "路由",
    },
}  # fmt: skip


def kind_name(kind: str, lang: Lang) -> str:
    return KIND_NAMES[lang].get(kind, kind)


def spaced(text: str) -> str:
    """Return ``text`` with a space where Chinese and Latin letters meet, and none between two Chinese ones."""
    return _APART.sub("", _MEETING.sub(" ", text))


def worded(templates: Mapping[Lang, tuple[str, ...]], lang: Lang, rng: Random, **values: str) -> tuple[str, str]:
    """Return a sentence with the values in their places, and which of the sentences it is."""
    number = rng.randrange(len(templates[lang]))
    return templates[lang][number].format(**values), f"{lang}{number + 1}"
