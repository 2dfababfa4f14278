"""Bytes → text. Strict UTF-8 first; then marks and evidence for UTF-16, East Asian and Western encodings.

The text is exactly what the bytes say, only the byte order mark goes: CR, FF and U+2028 stay in their lines.
"""

from __future__ import annotations

import codecs
import re

from charset_normalizer import from_bytes

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SAMPLE = 65_536
_CONTROLS = bytes([*range(0x09), *range(0x0E, 0x1B), *range(0x1C, 0x20), 0x7F])
_MAX_CONTROL_SHARE = 0.02
_MIN_ZERO_SHARE = 0.5  # of one byte in two: code is mostly ASCII, even with comments in Chinese
_HIGH_RUN = re.compile(rb"[\x80-\xff]+")
# Characters frequent enough that a few lines of a comment hold several. A wrong decoding yields rare ones instead.
_COMMON = {
    "gb18030": "的一是不了在有人这中大来上国个到说们为子和你地出道也时年得就那要下以生会自着去之过家学对可里后小么心多"
    "天而能好"
    "都然没日于起还发成事只作当想看文无开手用主行方又如前所本见经头面公同三已老从动两长知样现分将外但身些与高意进把法此实"
    "数据类型函返回值参件名称加载码测试用户请求处理错误信息设置获取字符串接口配置检查默认存储结果使选项更新",
    "big5": "的一是不了在有人這中大來上國個到說們為子和你地出道也時年得就那要下以生會自著去之過家學對可裡後小麼心多"
    "天而能好"
    "都然沒日於起還發成事只作當想看文無開手用主行方又如前所本見經頭面公同三已老從動兩長知樣現分將外但身些與高意進把法此實"
    "數據資料類型函式傳回返值參件名稱加載碼測試使用者請求處理錯誤訊息設定取得字串介面檢查預存結果選項更新",
    "cp949": "이다는에하고의을를가기지어서로도사자인은한니리시나라일있그수것해대아만보정요전주과제부면스오으게여성"
    "구용상들조문신"
    "장원비세화공동유소연무경선우안모중국방내위파함된값없않반환입력출데터록검색설",
}
_COMMON_SETS = {name: frozenset(text) for name, text in _COMMON.items()}
_KANA = re.compile(r"[\u3041-\u309f\u30a1-\u30fe]")
_HALF_KANA = re.compile(r"[\uff61-\uff9f]")
_MARK = re.compile(r"[\u00a0-\u00bf\u2000-\u2bff\u3000-\u3020\uff00-\uff60]")  # shared by all: says nothing
_PAIRED = 0.25
_HANGUL = re.compile(r"[\uac00-\ud7a3]")
_EAST_ASIAN = ("gb18030", "big5", "cp932", "cp949", "euc_jp")
_NAMES = {"cp932": "shift_jis", "cp949": "euc_kr"}
_SURE = 0.12  # share of common characters: true text reaches 0.3, wrong decodings stay below 0.08 (tests/scan)
_WESTERN_LETTERS = frozenset(b"\x8a\x8c\x8e\x9a\x9c\x9e\x9f") | frozenset(range(0xC0, 0x100)) - {0xD7, 0xF7}
_WESTERN_MARKS = frozenset(b"\x80\x82\x84\x85\x8b\x91\x92\x93\x94\x95\x96\x97\x99\x9b") | frozenset(range(0xA0, 0xC0))


class BinaryContent(ValueError):
    """The bytes are not text."""


class UndecodableContent(ValueError):
    """The bytes look like text, in no encoding that we can tell."""


def decode(data: bytes) -> tuple[str, str]:
    """Return the text and the name of its encoding; never a NUL, never a lone surrogate.

    Raises:
        BinaryContent: NUL bytes outside UTF-16/32, or control characters as in compressed data.
        UndecodableContent: a byte order mark that the rest contradicts, or no encoding fits.

    Cost: linear; some 20 times dearer for what is not UTF-8.
    """
    for bom, name in _BOMS:
        if data.startswith(bom):
            return _strict(data[len(bom) :], name), name
    if b"\0" not in data:
        try:
            return data.decode("utf-8"), "utf-8"
        except UnicodeDecodeError:
            return _legacy(data)
    wide = _utf16_without_bom(data)
    if wide is None:
        raise BinaryContent("it holds NUL bytes")
    return _strict(data, wide), wide


def _strict(data: bytes, name: str) -> str:
    try:
        text = data.decode(name)
    except UnicodeDecodeError as error:
        raise UndecodableContent(f"not valid {name}: {error.reason} at byte {error.start}") from error
    if "\0" in text:
        raise BinaryContent("it holds NUL characters")
    return text


def _utf16_without_bom(data: bytes) -> str | None:
    """Return the byte order if nearly all zeros stand on one side, as in ASCII-heavy UTF-16."""
    sample = data[:4096]
    if len(data) % 2 or len(sample) < 8:
        return None
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    half = len(sample) // 2
    if odd >= _MIN_ZERO_SHARE * half and even == 0:
        return "utf-16-le"
    if even >= _MIN_ZERO_SHARE * half and odd == 0:
        return "utf-16-be"
    return None


def _legacy(data: bytes) -> tuple[str, str]:
    sample = data[:_SAMPLE]
    if len(sample) - len(sample.translate(None, _CONTROLS)) > _MAX_CONTROL_SHARE * len(sample):
        raise BinaryContent("it holds control characters as binary data does")
    decoded: dict[str, str] = {}
    for name in _EAST_ASIAN:
        try:
            decoded[name] = data.decode(name)
        except UnicodeDecodeError:
            continue
    western = _western_share(sample)
    paired = western <= 0.5 and all(len(run) % 2 == 0 for run in _HIGH_RUN.findall(data[:_SAMPLE]))
    scores = {name: _plausibility(text, name, paired=paired) for name, text in decoded.items()}
    best = max(scores, key=lambda name: scores[name], default="")
    if best and scores[best] >= _SURE and not (western > 0.9 and scores[best] < 2 * _SURE):
        return decoded[best], _NAMES.get(best, best)
    if western > 0.6:
        return _western(data)
    if best and western < 0.3 and scores[best] > 0:
        return decoded[best], _NAMES.get(best, best)
    guess = from_bytes(sample, cp_isolation=[*_EAST_ASIAN, "cp1252", "latin_1"], enable_fallback=False).best()
    if guess is not None and guess.encoding in decoded:
        return decoded[guess.encoding], _NAMES.get(guess.encoding, guess.encoding)
    if best and scores[best] > 0:
        return decoded[best], _NAMES.get(best, best)
    if guess is not None or western > 0.3:
        return _western(data)
    raise UndecodableContent("no encoding fits: convert it to UTF-8")


def _western(data: bytes) -> tuple[str, str]:
    try:
        return data.decode("cp1252"), "cp1252"
    except UnicodeDecodeError:
        return data.decode("latin-1"), "latin-1"


def _plausibility(text: str, name: str, *, paired: bool) -> float:
    """Return how well ``text`` reads in the language that ``name`` writes: about 0.3 to 1 if it does, below 0 if odd.

    Args:
        paired: all high bytes stand in pairs, as in GB2312, EUC-KR and EUC-JP; rare by chance.
    """
    foreign = [character for character in text[:_SAMPLE] if character > "\x7f"]
    # private use and C1 controls come from reading other encodings' bytes
    odd = sum(1 for c in foreign if "\ue000" <= c <= "\uf8ff" or "\x80" <= c <= "\x9f") / max(1, len(foreign))
    letters = "".join(c for c in foreign if not _MARK.match(c))
    n = max(1, len(letters))
    kana = len(_KANA.findall(letters)) / n
    if name in ("cp932", "euc_jp"):
        odd += len(_HALF_KANA.findall(letters)) / n
        return 0.8 * kana + (0.05 + _PAIRED * (name == "euc_jp" and paired)) * (kana > 0) - odd
    share = sum(1 for c in letters if c in _COMMON_SETS[name]) / n
    if name == "cp949":
        hangul = len(_HANGUL.findall(letters)) / n
        return share * hangul + _PAIRED * (paired and hangul > 0.9) - odd
    # both standards put their frequent characters first
    codec, first, last = ("big5", 0xA4, 0xC6) if name == "big5" else ("gb2312", 0xB0, 0xD7)
    leads = letters.encode(codec, "ignore")[0::2]
    frequent = sum(1 for lead in leads if first <= lead <= last) / n
    bonus = _PAIRED * (name == "gb18030" and paired and len(leads) == len(letters))
    return share + 0.1 * frequent + bonus - odd - 0.5 * kana


def _western_share(sample: bytes) -> float:
    """Return the share of runs of high bytes that read as one accented letter in a word or one mark beside ASCII."""
    runs = good = 0
    for match in _HIGH_RUN.finditer(sample):
        runs += 1
        run = match[0]
        before = sample[match.start() - 1] if match.start() else 32
        after = sample[match.end()] if match.end() < len(sample) else 32
        if len(run) == 1 and run[0] in _WESTERN_LETTERS:
            good += chr(before).isalpha() or chr(after).isalpha() or before == 32
        elif len(run) == 1:
            good += run[0] in _WESTERN_MARKS
        elif len(run) == 2:
            good += all(byte in _WESTERN_LETTERS for byte in run) and before < 128 and chr(before).isalpha()
    return good / runs if runs else 0.0
