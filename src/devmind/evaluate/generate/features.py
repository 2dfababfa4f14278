"""Technologies and features that a repository may plausibly have, or prove to lack; and how one asks for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

from devmind.evaluate.generate.topics import Lang


@dataclass(frozen=True, slots=True)
class Feature:
    """One thing to ask for. ``names``: what code and prose call it; if any of them is found, it is not absent."""

    group: str
    english: str
    chinese: str
    names: tuple[str, ...]

    def name(self, lang: Lang) -> str:
        return self.english if lang == "en" else self.chinese


@cache
def features() -> tuple[Feature, ...]:
    text = files("devmind.evaluate.generate").joinpath("data", "features.tsv").read_text("utf-8")
    rows = (line.split("\t") for line in text.splitlines() if line and not line.startswith("#"))
    return tuple(Feature(group, en, zh, tuple(names.split("|"))) for group, en, zh, names in rows)


_ANY: Final[Mapping[Lang, tuple[str, ...]]] = {
    "en": ("Where is {name} implemented?", "How does this project handle {name}?", "How do I switch on {name}?"),
    "zh": ("{name}是在哪里实现的？", "这个项目是怎么处理{name}的？", "怎样启用{name}？"),
}
_BY_GROUP: Final[Mapping[str, Mapping[Lang, tuple[str, ...]]]] = {
    "cache": {
        "en": (
            "Which module keeps cached values in {name}?",
            "How is the connection to {name} configured?",
            "Where does the code fall back when {name} is down?",
        ),
        "zh": ("哪个模块把缓存写到 {name}？", "{name} 的连接是在哪里配置的？", "{name} 不可用时代码会怎么处理？"),
    },
    "queue": {
        "en": (
            "Where are messages published to {name}?",
            "Which class consumes jobs from {name}?",
            "How are failed {name} messages tried again?",
        ),
        "zh": ("消息在哪里发布到 {name}？", "哪个类从 {name} 消费任务？", "{name} 消息处理失败后如何重试？"),
    },
    "database": {
        "en": (
            "Where is the connection to {name} opened?",
            "Which module holds the {name} queries?",
            "How are migrations run against {name}?",
        ),
        "zh": ("连接 {name} 的代码在哪里？", "{name} 的查询写在哪个模块？", "{name} 的数据迁移如何执行？"),
    },
    "search": {
        "en": ("Where are documents sent to {name}?", "How is the {name} index rebuilt?"),
        "zh": ("文档在哪里写入 {name}？", "{name} 的索引如何重建？"),
    },
    "vectors": {
        "en": ("Where are embeddings stored in {name}?", "Which client class queries {name}?"),
        "zh": ("向量在哪里存入 {name}？", "查询 {name} 的客户端类是哪个？"),
    },
    "storage": {
        "en": (
            "Where are files stored with {name}?",
            "How are the credentials for {name} read?",
            "Which function retries a failed transfer to {name}?",
        ),
        "zh": (
            "文件通过 {name} 存储的代码在哪里？",
            "{name} 的凭证从哪里读取？",
            "上传到 {name} 失败后由哪个函数重试？",
        ),
    },
    "protocol": {
        "en": (
            "Which module implements the {name} server?",
            "Where are {name} messages decoded?",
            "How is a {name} connection closed?",
        ),
        "zh": ("{name} 服务端在哪个模块实现？", "{name} 报文在哪里解码？", "{name} 连接是如何关闭的？"),
    },
    "deploy": {
        "en": ("How is this deployed with {name}?", "Where is the code that talks to {name}?"),
        "zh": ("如何用 {name} 部署本项目？", "与 {name} 交互的代码在哪里？"),
    },
    "observe": {
        "en": ("Where is {name} set up?", "Which function reports to {name}?"),
        "zh": ("{name} 是在哪里初始化的？", "哪个函数负责上报{name}？"),
    },
}


def feature_templates(group: str) -> Mapping[Lang, tuple[str, ...]]:
    """Return the sentences for a group of features; those that fit anything, where it has none of its own."""
    return _BY_GROUP.get(group, _ANY)
