"""Label Studio: topics → tasks that annotators label line by line; its JSON export → topics with annotations.

A task shows the query and the code as paragraphs, one a line of a file, so that a region's first and last paragraph
are the span's lines: no character offsets, which a browser counts otherwise than Python. What is not shown can be
written as text: ``path:10-20 weak Class.method``, one a line. ``config`` is the project's labelling interface.

Source: Label Studio's task format, and its tags Paragraphs, ParagraphLabels, TextArea, Choices.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any, Final, cast

from devmind.evaluate.datasets.files import dump, read_json_list, write_text
from devmind.evaluate.datasets.foreign import row_of
from devmind.evaluate.datasets.place import Place, Placed
from devmind.evaluate.datasets.record import GRADES, record_of, topic_of, truth_of, truth_record
from devmind.evaluate.datasets.row import Row, shown
from devmind.evaluate.types import Annotation, Dataset, Grade, Span, Topic, Truth
from devmind.types import split_lines

# Lines shown around a candidate: enough to see where a unit begins and ends, little enough to read a dozen of them.
CONTEXT_LINES: Final = 40
WHOLE_FILE_LINES: Final = 400
TRUTHS: Final = "devmind truths"  # the model_version of predictions that are really the dataset's truths
NOTHING: Final = "nothing in this repository answers it"
_PLACE = re.compile(r"(.+):(\d+)")
_WRITTEN = re.compile(r"(\S.*?)(?::(\d+)(?:-(\d+))?)?(?:\s+(strong|weak)(?:\s+(\S.*))?)?")

CONFIG: Final = f"""\
<View>
  <Header value="$query" size="3"/>
  <Text name="about" value="$about"/>
  <ParagraphLabels name="grade" toName="code">
    <Label value="strong" background="#2e7d32"/>
    <Label value="weak" background="#f9a825"/>
  </ParagraphLabels>
  <Paragraphs name="code" value="$lines" nameKey="place" textKey="text" layout="dialogue"/>
  <Header value="Spans that are not shown: path:10-20 weak Class.method, one a line" size="5"/>
  <TextArea name="spans" toName="about" rows="3" editable="true"/>
  <Choices name="nothing" toName="about" choice="single"><Choice value="{NOTHING}"/></Choices>
  <TextArea name="note" toName="about" rows="2" editable="true" placeholder="Why, doubts"/>
</View>
"""
Shown = Mapping[str, Sequence[tuple[str, int, str]]]  # topic id → (file, line, text) to show, in order


def windows(spans: Sequence[Span], text_by_file: Mapping[str, str]) -> list[tuple[str, int, str]]:
    """Return the lines to show for candidates: each with its surroundings, every line once, files in order."""
    found: list[tuple[str, int, str]] = []
    for file in dict.fromkeys(span.file for span in spans):
        if file not in text_by_file:
            continue
        lines = split_lines(text_by_file[file])
        wanted: set[int] = set()
        for span in spans:
            if span.file == file:
                first, last = (1, WHOLE_FILE_LINES) if span.whole_file else (span.start_line, span.end_line)
                wanted |= set(range(first - CONTEXT_LINES, last + CONTEXT_LINES + 1))
        found += [(file, number, lines[number - 1]) for number in sorted(wanted) if 1 <= number <= len(lines)]
    return found


def write(dataset: Dataset, path: Path, shown_by_topic: Shown, *, blind: bool) -> None:
    """Write the tasks, and the labelling interface beside them as ``….xml``.

    Args:
        shown_by_topic: the lines of code to show; see :func:`windows`.
        blind: leave out truths and annotations, so that an annotator sees nobody's labels.
    """
    tasks = [_task(topic, shown_by_topic.get(topic.topic_id, ()), blind=blind) for topic in dataset.topics]
    write_text(path, dump(tasks, indent=1) + "\n")
    write_text(path.with_suffix(".xml"), CONFIG)


def _task(topic: Topic, lines: Sequence[tuple[str, int, str]], *, blind: bool) -> dict[str, Any]:
    hidden = ("truths", "annotations", "resolution", "reference_answer")
    record = {key: value for key, value in record_of(topic).items() if not blind or key not in hidden}
    record = {key: value for key, value in record.items() if key not in ("truths", "annotations")}
    about = " · ".join(filter(None, (topic.topic_id, topic.category, topic.repo, topic.commit)))
    paragraphs = [{"place": f"{file}:{number}", "text": text or " "} for file, number, text in lines]
    task: dict[str, Any] = {"data": {"query": topic.query, "about": about, "topic": record, "lines": paragraphs}}
    if blind:
        return task
    index = {(file, number): at for at, (file, number, _) in enumerate(lines)}
    if topic.truths:
        result = _result(Annotation("", topic.truths), index)
        task["predictions"] = [{"model_version": TRUTHS, "result": result}]
    task["annotations"] = [
        {"completed_by": {"email": annotation.annotator}, "result": _result(annotation, index)}
        for annotation in topic.annotations
    ]
    return task


def _result(annotation: Annotation, index: Mapping[tuple[str, int], int]) -> list[dict[str, Any]]:
    result: list[dict[str, Any]] = []
    for number, truth in enumerate(annotation.truths):
        span = truth.span
        ends = index.get((span.file, span.start_line)), index.get((span.file, span.end_line))
        common = {"id": f"t{number}", "meta": {"truth": truth_record(truth)}}
        if ends[0] is None or ends[1] is None:
            value: dict[str, Any] = {"text": [_written(truth)]}
            result.append({**common, "from_name": "spans", "to_name": "about", "type": "textarea", "value": value})
            continue
        value = {"start": str(ends[0]), "end": str(ends[1]), "startOffset": 0, "paragraphlabels": [truth.grade]}
        value["endOffset"] = max(1, len(split_lines(truth.text or " ")[-1]))
        result.append({**common, "from_name": "grade", "to_name": "code", "type": "paragraphlabels", "value": value})
    if not annotation.truths:
        value = {"choices": [NOTHING]}
        result.append({"from_name": "nothing", "to_name": "about", "type": "choices", "value": value})
    if annotation.note:
        value = {"text": [annotation.note]}
        result.append({"from_name": "note", "to_name": "about", "type": "textarea", "value": value})
    return result


def _written(truth: Truth) -> str:
    lines = "" if truth.span.whole_file else f":{truth.span.start_line}-{truth.span.end_line}"
    return f"{truth.span.file}{lines} {truth.grade} {truth.symbol}".rstrip()


def read(path: Path) -> tuple[str, list[Placed]]:
    """Read tasks, or an export of them (JSON, not JSON-MIN). Cancelled annotations are left out."""
    found = []
    for line, values in read_json_list(path)[1]:
        data = row_of(path, line, values, "id").row("data")
        record = data.row("topic")
        if not record.values:
            raise data.fail("topic", "is missing; only tasks that 'devmind dataset export' wrote can be read back")
        place = Place(str(path), line, str(record.values.get("topic_id", "")))
        found.append(Placed(_topic(Row(values, place), Row(record.values, place)), place))
    return path.stem, found


def _topic(task: Row, record: Row) -> Topic:
    topic = topic_of(record)
    lines = [_place_of(paragraph) for paragraph in task.row("data").rows("lines")]
    annotations = [
        _annotation(row, lines) for row in task.rows("annotations") if row.values.get("was_cancelled") is not True
    ]
    truths: tuple[Truth, ...] = ()
    for row in task.rows("predictions"):
        if row.values.get("model_version") == TRUTHS:
            truths = _annotation(row, lines).truths
    return replace(topic, truths=truths, annotations=tuple(annotations))


def _place_of(paragraph: Row) -> tuple[str, int]:
    match = _PLACE.fullmatch(paragraph.text("place"))
    if match is None:
        raise paragraph.fail("place", f"is {shown(paragraph.values.get('place'))}; it must be path:line")
    return match[1], int(match[2])


def _annotation(row: Row, lines: Sequence[tuple[str, int]]) -> Annotation:
    truths: list[Truth] = []
    notes: list[str] = []
    for region in row.rows("result", required=True):
        name, value = region.text("from_name", ""), region.row("value")
        if name == "grade":
            truths += _shown_truths(region, value, lines)
        elif name == "spans":
            truths += _written_truths(region, value)
        elif name == "note":
            notes += [str(text) for text in value.items("text")]
    return Annotation(_annotator(row), tuple(truths), "\n".join(notes))


def _annotator(row: Row) -> str:
    by = row.values.get("completed_by")
    if isinstance(by, dict):
        by = by.get("email") or by.get("username") or by.get("id")
    return str(by) if by is not None else ""


def _shown_truths(region: Row, value: Row, lines: Sequence[tuple[str, int]]) -> Iterator[Truth]:
    """Yield a truth for each unbroken run of a file's lines: a region may be drawn over several."""
    start, end = _paragraph(value, "start", len(lines)), _paragraph(value, "end", len(lines))
    if value.values.get("endOffset") == 0 and end > start:
        end -= 1  # a selection of whole lines ends before the first character of the line after them
    grades = value.items("paragraphlabels")
    if len(grades) != 1 or grades[0] not in GRADES:
        raise value.fail("paragraphlabels", f"is {shown(grades)}; it must be one of {', '.join(GRADES)}")
    places = lines[min(start, end) : max(start, end) + 1]
    for _, run in groupby(enumerate(places), key=lambda item: (item[1][0], item[1][1] - item[0])):
        members = [place for _, place in run]
        span = Span(members[0][0], members[0][1], members[-1][1])
        known = _known(region)
        unchanged = known is not None and (known.span, known.grade) == (span, grades[0])
        yield known if known is not None and unchanged else Truth(span, cast(Grade, grades[0]))


def _paragraph(value: Row, key: str, n_lines: int) -> int:
    given = value.values.get(key)
    number = int(given) if isinstance(given, str) and given.isdecimal() else given
    if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number < n_lines:
        raise value.fail(key, f"is {shown(given)}; it must be the number of one of the {n_lines} lines shown")
    return number


def _known(region: Row) -> Truth | None:
    """Return what the dataset knew of this region (symbol, core, text), if it was the dataset that drew it."""
    known = region.row("meta").values.get("truth")
    return truth_of(Row(known, region.place, f"{region.at}meta.truth.")) if isinstance(known, dict) else None


def _written_truths(region: Row, value: Row) -> Iterator[Truth]:
    texts = [str(text) for text in value.items("text")]
    known = _known(region)
    if known is not None and texts == [_written(known)]:
        yield known
        return
    for line in (line.strip() for text in texts for line in text.split("\n")):
        if not line:
            continue
        match = _WRITTEN.fullmatch(line)
        if match is None:
            raise value.fail("text", f"is {shown(line)}; write path:10-20, then strong or weak, then the symbol")
        file, first, last, grade, symbol = match.groups()
        span = Span(file, int(first or 0), int(last or first or 0))
        yield Truth(span, cast(Grade, grade or "strong"), symbol or "")
