"""Text → the same text with secrets replaced by ``***``, line for line.

Keys of known shapes go wherever they stand; a value assigned to a name like ``password`` goes if it looks random.
Placeholders, look-ups in the environment and ordinary words stay, or code would no longer read as written.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from re import Match

MASK = "***"
# Substring search first: most files hold none of these, and a scan of every file with the expressions below would
# cost more than all the rest of reading it.
_NAME_HINTS = ("passw", "passphr", "pwd", "secret", "token", "credential", "_key", "-key", "apikey", "esskey", "ntkey",
               "authorization", "curl")  # fmt: skip
# Nearly every token has an unbroken run of 20 letters and digits; those whose alphabet has "-" and "_" may not.
_RUN = b"a" * 20
_TO_RUNS = bytes(97 if byte < 128 and chr(byte).isalnum() else 32 for byte in range(256))
_LOOSE = ("AIza", "SG.", "glpat-", "GOCSPX-")
_SHAPES: tuple[tuple[tuple[str, ...], re.Pattern[str]], ...] = tuple(
    (hints, re.compile(pattern))
    for hints, pattern in (
        (("AKIA", "ASIA", "ABIA", "ACCA"), r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b"),
        (("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"\bgh[pousr]_[A-Za-z0-9]{36,255}\b"),
        (("github_pat_",), r"\bgithub_pat_[A-Za-z0-9_]{22,255}\b"),
        (("glpat-",), r"\bglpat-[\w-]{20,}"),
        (("xox",), r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}"),
        (("hooks.slack.com",), r"(?<=hooks\.slack\.com/services/)T\w{6,}/B\w{6,}/\w{16,}"),
        (("AIza",), r"\bAIza[\w-]{35}(?![\w-])"),
        (("ya29.",), r"\bya29\.[\w-]{20,}"),
        (("GOCSPX-",), r"\bGOCSPX-[\w-]{20,}"),
        (("sk-",), r"\bsk-[\w-]{20,}"),
        (("k_live_", "k_test_"), r"\b[srp]k_(?:live|test)_[0-9A-Za-z]{16,}"),
        (("npm_",), r"\bnpm_[A-Za-z0-9]{36}\b"),
        (("pypi-",), r"\bpypi-[\w-]{50,}"),
        (("hf_",), r"\bhf_[A-Za-z0-9]{30,}\b"),
        (("SG.",), r"\bSG\.[\w-]{20,24}\.[\w-]{40,46}"),
        (("eyJ",), r"(?<![\w-])eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}"),
        (("dckr_pat_",), r"\bdckr_pat_[\w-]{20,}"),
        (("dop_v1_",), r"\bdo[opr]_v1_[0-9a-f]{64}\b"),
        (("AGE-SECRET-KEY-",), r"\bAGE-SECRET-KEY-1[0-9A-Z]{58}\b"),
    )
)
_NAME = (
    r"(?:passw(?:or)?d|passwd|passphrase|pwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|auth[_-]?key"
    r"|encryption[_-]?key|signing[_-]?key|account[_-]?key|credentials?)"
)
_QUOTED = re.compile(
    rf"(?P<name>{_NAME}[\w-]*)(?P<mid>[\"'`]?\]?\s*(?::\s*&?[\w.\[\]<>| ]{{1,40}}?)?\s*(?::=|=>|==|=|:|,)\s*"
    r"(?:[rbuf]{1,2}(?=[\"'])|@(?=\"))?(?P<escape>\\?)(?P<quote>[\"'`]))(?P<value>[^\"'`\s]{8,400}?)(?P=escape)(?P=quote)",
    re.IGNORECASE,
)
_BARE = re.compile(
    rf"^\s*(?:-\s+|export\s+|set\s+|ENV\s+|ARG\s+|<)?(?P<name>[\w.-]*{_NAME}[\w.-]*)(?P<mid>\s*[=:>]\s*)"
    r"(?P<value>[^\s\"'`#;,<(){}\[\]]{8,400})(?=\s*(?:$|#|;|<))",
    re.IGNORECASE | re.MULTILINE,
)
_INLINE = re.compile(  # AccountKey=…; in a connection string
    r"(?P<name>\b(?:AccountKey|SharedAccessKey|Password|Pwd))(?P<mid>=)(?P<value>[^;\"'\s]{8,400})(?=[;\"'])",
    re.IGNORECASE,
)
_BEARER = re.compile(r"(?P<mid>\b(?:Bearer|Basic|Token)\s+)(?P<value>[A-Za-z0-9+/_.=-]{20,400})", re.IGNORECASE)
_DOCKER_ENV = re.compile(  # the older form, without "="
    rf"^\s*ENV\s+(?P<name>\w*{_NAME}\w*)(?P<mid>\s+)(?P<value>[^\s\"'`#;,<(){{}}\[\]]{{8,400}})(?=\s*$)", re.IGNORECASE
)
_CURL_USER = re.compile(
    r"(?P<mid>\bcurl\s[^|;]{0,400}?(?:-u|--user)[\s=]?[\"']?[^\s:\"']{1,64}:)(?P<value>[^\s\"']{8,200})"
)
_IN_URL = re.compile(r"(?P<mid>://[^\s/:@'\"<>]{0,64}:)(?P<value>[^\s/:@'\"<>]{6,200})(?=@[\w\[])")
_VALUE = re.compile(r"[=:,>\"'`\s][^\d\n]*\d")  # what every one of those above must contain: a digit is in each secret
# A name that says where or what a secret is, not the secret.
_ABOUT = re.compile(
    r"(?:url|uri|path|file|filename|name|field|header|type|regex|pattern|label|title|message|msg|error|endpoint|prefix"
    r"|suffix|hint|help|placeholder|format|class|column|param|env|var|id|kind|length|scope|issuer|policy)s?$",
    re.IGNORECASE,
)
_PLACEHOLDER = re.compile(
    r"\$\{|\$\(|\{\{|%\(|<|>|\*\*\*|xxx|\.\.\.|example|change[_-]?me|placeholder|dummy|redacted|your[_-]|_here|todo"
    r"|^\$|^%|^\{|^@|^#|env[.\[(]|process\.|secrets?\.|1234567|abcdef|qwerty",
    re.IGNORECASE,
)
_SAMPLE_TOKEN = re.compile(r"example|x{4}|your|placeholder|redacted|0{8}", re.IGNORECASE)
_DIGIT = re.compile(r"\d")
_CAPITAL = re.compile(r"[A-Z]")
_WORDLIKE = re.compile(r"[A-Za-z]+\d{0,4}|\d{1,4}|v\d+")
_BREAKS = re.compile(r"[^A-Za-z0-9]+|(?<=[a-z])(?=[A-Z])")
_MIN_ENTROPY_BITS = 2.75  # of 8 distinct characters: 3.0; of a random 20: about 4.1; of words: 2.5 to 3.5
_PEM_HINT = "PRIVATE KEY"
_PEM = re.compile(
    r"(?P<begin>-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----)(?P<body>[^-]*(?:-{1,4}[^-]+)*?)"
    r"(?P<end>-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\Z)"
)
_BASE64_RUN = re.compile(r"[A-Za-z0-9+/=]{40,}|(?:[A-Za-z0-9+/=]|\\[nr]){40,}")
_BASE64_PIECE = re.compile(r"(?:[A-Za-z0-9+/=]|\\[nr]){4,}")
_PURE_LINE = re.compile(r"^(\s*(?:#|//|\*)?\s*)(\S[^\r\n]*?)(\s*)$")


def mask_secrets(text: str) -> str:
    """Return ``text`` with its secrets replaced; the number of lines and what surrounds a secret stay as they are."""
    if _PEM_HINT in text and "-----BEGIN " in text:
        text = _PEM.sub(_mask_pem, text)
    if _has_long_run(text) or any(hint in text for hint in _LOOSE):
        for hints, shape in _SHAPES:
            for hint in hints:
                if hint in text:
                    text = shape.sub(_mask_shape, text)
                    break
    if "://" in text and "@" in text:
        text = _IN_URL.sub(_mask_in_url, text)
    lowered = text.lower()
    if len(lowered) != len(text):  # a few letters grow in lower case, and offsets must agree
        lowered = text
    hints_found = [hint for hint in _NAME_HINTS if hint in lowered]
    return _mask_assignments(text, lowered, hints_found) if hints_found else text


def has_secret_assignment(text: str) -> bool:
    """Return whether any secret is found: used for files that exist to hold one."""
    return mask_secrets(text) != text


def _has_long_run(text: str) -> bool:
    """Return whether 20 letters and digits stand together and are no long identifier."""
    data = text.encode("utf-8", "replace")
    runs = data.translate(_TO_RUNS)
    at = runs.find(_RUN)
    while at != -1:
        end = runs.find(b" ", at)
        run = data[at:end] if end != -1 else data[at:]
        if not run.isalpha() or run.isupper():
            return True
        at = -1 if end == -1 else runs.find(_RUN, end)
    return False


def _mask_assignments(text: str, lowered: str, hints: list[str]) -> str:
    """Apply the expressions to those lines alone that hold a telling name."""
    starts: set[int] = set()
    for hint in hints:
        at = lowered.find(hint)
        while at != -1:
            starts.add(lowered.rfind("\n", 0, at) + 1)
            end = lowered.find("\n", at)
            at = -1 if end == -1 else lowered.find(hint, end)
    parts = []
    done = 0
    for start in sorted(starts):
        end = text.find("\n", start)
        end = len(text) if end == -1 else end
        line = text[start:end]
        if len(line) > 4000 or not _VALUE.search(line):
            continue
        masked = _QUOTED.sub(_mask_value, line)
        masked = _INLINE.sub(_mask_value, masked)
        masked = _BARE.sub(_mask_value, masked)
        masked = _BEARER.sub(_mask_value, masked)
        masked = _DOCKER_ENV.sub(_mask_value, masked)
        masked = _CURL_USER.sub(_mask_value, masked)
        if masked != line:
            parts += [text[done:start], masked]
            done = end
    parts.append(text[done:])
    return "".join(parts)


def _mask_value(match: Match[str]) -> str:
    groups = match.groupdict()
    value = match["value"]
    if _ABOUT.search(groups.get("name") or "") or not _looks_random(value):
        return match[0]
    offset = match.start("value") - match.start()
    return match[0][:offset] + MASK + match[0][offset + len(value) :]


def _mask_in_url(match: Match[str]) -> str:
    value = match["value"]
    plain = re.sub(r"%[0-9A-Fa-f]{2}", "", value)  # escapes alone make no password of a word
    return match[0] if _PLACEHOLDER.search(plain) or not _is_mixed(plain) else match["mid"] + MASK


def _mask_shape(match: Match[str]) -> str:
    token = match[0]
    if token.startswith("sk-") and not (_DIGIT.search(token) and _CAPITAL.search(token)):
        return token  # words with hyphens
    return token if _SAMPLE_TOKEN.search(token) else MASK


def _is_mixed(value: str) -> bool:
    pieces = [piece for piece in _BREAKS.split(value) if piece]
    return not all(_WORDLIKE.fullmatch(piece) for piece in pieces)


def _looks_random(value: str) -> bool:
    """Return whether a literal is a secret by its look: no placeholder, not built from words, varied enough."""
    if _PLACEHOLDER.search(value) or "://" in value:
        return False
    if not value.isascii() or not any(character.isdigit() for character in value):
        return False
    if entropy_bits(value) < _MIN_ENTROPY_BITS:
        return False
    return _is_mixed(value)


def entropy_bits(value: str) -> float:
    """Return the Shannon entropy of the characters of ``value``, in bits per character."""
    n = len(value)
    return -sum(count / n * math.log2(count / n) for count in Counter(value).values()) if n else 0.0


def _mask_pem(match: Match[str]) -> str:
    body = match["body"]
    if not _BASE64_RUN.search(body):
        return match[0]
    if not match["end"]:  # cut off: only the lines that look like key material
        lines = body.split("\n")
        n_key = next(
            (i for i, line in enumerate(lines[1:], 1) if line and not _BASE64_PIECE.fullmatch(line.strip())), len(lines)
        )
        masked = [_mask_pem_line(line) for line in lines[:n_key]] + lines[n_key:]
    else:
        masked = [_mask_pem_line(line) for line in body.split("\n")]
    return match["begin"] + "\n".join(masked) + match["end"]


def _mask_pem_line(line: str) -> str:
    if not line.strip():
        return line
    if any(mark in line for mark in "\"'`"):
        return _BASE64_PIECE.sub(MASK, line)
    match = _PURE_LINE.match(line)
    return match[1] + MASK + match[3] if match else MASK
