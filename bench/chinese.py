"""Chinese questions whose answers were never labelled by hand: documentation that was taken out of its function.

From packages whose docstrings are Chinese, all docstrings and comments are removed and the rest is indexed; the first
line of a removed docstring is a question, its function the answer. The constants of ``retrieve/expand.py`` were chosen
here. ``python -m bench.chinese FOLDER`` downloads the packages with pip, indexes them below FOLDER and prints a line a
package.
"""

from __future__ import annotations

import ast
import io
import random
import re
import subprocess
import sys
import tokenize
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from math import log2
from pathlib import Path

from devmind.ingest import IngestOptions, Writer
from devmind.service import Service
from devmind.settings import Settings

PACKAGES = (
    "akshare==1.19.5",
    "baidu-aip==4.16.13",
    "czsc==1.0.2",
    "easyquotation==0.7.7",
    "easytrader==0.23.7",
    "fastapi-amis-admin==0.7.3",
    "feapder==1.9.3",
    "funboost==55.0",
    "hikyuu==2.8.3",
    "nonebot2==2.5.0",
    "qteasy==2.6.5",
    "rqalpha==0.3.0",
    "wechatpy==1.8.18",
    "WeRoBot==1.13.1",
    "zvt==0.13.5",
)
PER_PACKAGE, SEED, K = 80, 7, 10
MAX_BYTES = 300_000  # larger files are tables of data
MAX_QUESTION, MIN_CHINESE, MAX_LATIN = 60, 5, 8  # characters
CHINESE = re.compile(r"[\u4e00-\u9fff]")
URL = re.compile(r"https?://\S+")


@dataclass(frozen=True, slots=True)
class Topic:
    question: str
    path: str
    start_line: int
    end_line: int


def bare(source: str) -> tuple[str, list[tuple[str, int, int]]]:
    """Return ``source`` without docstrings and comments, and (docstring, first, last line) of its functions.

    Raises:
        SyntaxError: it is not Python.
    """
    lines, found = source.split("\n"), []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module):
            continue
        told = ast.get_docstring(node)
        if told and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.append((told, node.lineno, node.end_lineno or node.lineno))
        for part in node.body:
            if (
                isinstance(part, ast.Expr)
                and isinstance(part.value, ast.Constant)
                and isinstance(part.value.value, str)
            ):
                last = part.end_lineno or part.lineno
                lines[part.lineno - 1 : last] = [" " * part.col_offset + "pass"] + [""] * (last - part.lineno)
    for token in tokenize.generate_tokens(io.StringIO("\n".join(lines)).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column].rstrip()
    return "\n".join(lines), found


def unpack(wheel: Path, folder: Path) -> list[Topic]:
    """Write the Python files of ``wheel`` bare into ``folder`` and return the questions, those asked twice left out."""
    topics: list[Topic] = []
    with zipfile.ZipFile(wheel) as archive:
        for info in archive.infolist():
            if not info.filename.endswith(".py") or info.file_size > MAX_BYTES or ".dist-info/" in info.filename:
                continue
            try:
                text, documented = bare(archive.read(info).decode())
            except (SyntaxError, UnicodeDecodeError, tokenize.TokenError):
                continue
            path = folder / info.filename
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
            for told, first, last in documented:
                question = URL.sub("", told.strip().split("\n")[0].strip())[:MAX_QUESTION]
                topics.append(Topic(question, info.filename, first, last))
    asked = [topic.question for topic in topics]
    return [t for t in topics if asked.count(t.question) == 1 and _is_chinese(t.question)]


def _is_chinese(question: str) -> bool:
    return len(CHINESE.findall(question)) >= MIN_CHINESE and len(re.findall("[A-Za-z]", question)) <= MAX_LATIN


def measure(service: Service, topics: list[Topic]) -> Iterator[tuple[float, float, float, float]]:
    """Yield file R@10, file nDCG@10, span R@10 and span nDCG@10 of each question."""
    for topic in topics:
        hits = service.search(topic.question, k=K).hits
        files = list(dict.fromkeys(hit.path for hit in hits))
        file = files.index(topic.path) + 1 if topic.path in files else 0
        span = next(
            (
                hit.rank
                for hit in hits
                if hit.path == topic.path and hit.start_line <= topic.end_line and hit.end_line >= topic.start_line
            ),
            0,
        )
        yield float(file > 0), _gain(file), float(span > 0), _gain(span)


def _gain(rank: int) -> float:
    return 1 / log2(rank + 1) if rank else 0.0


def main(out: Path) -> None:
    rows = []
    for package in PACKAGES:
        name = package.partition("==")[0]
        wheels = out / "wheels" / name
        if not wheels.exists():
            download = ["download", "--quiet", "--no-deps", "--only-binary", ":all:", "--dest", str(wheels), package]
            subprocess.run([sys.executable, "-m", "pip", *download], check=True)
        topics = unpack(next(wheels.glob("*.whl")), out / "sources" / name)
        with Writer(out / "kb" / name, IngestOptions()) as writer:
            writer.add(str(out / "sources" / name), name=name)
        random.Random(SEED).shuffle(topics)
        with Service(Settings(home=out / "kb" / name)) as service:
            measured = list(measure(service, topics[:PER_PACKAGE]))
        rows.append([sum(column) / len(measured) for column in zip(*measured, strict=True)])
        print(f"{name:20}{len(measured):4}", *(f"{value:.3f}" for value in rows[-1]))
    print(f"{'mean of packages':24}", *(f"{sum(column) / len(rows):.3f}" for column in zip(*rows, strict=True)))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
