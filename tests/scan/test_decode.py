import pytest
from hypothesis import given
from hypothesis import strategies as st

from devmind.scan.decode import BinaryContent, UndecodableContent, decode
from devmind.types import split_lines

SIMPLIFIED = "// 这是一个用户登录的函数\nint login();  // 返回错误码\n/* 检查密码是否正确,如果不对就报错 */\n"
TRADITIONAL = "// 這是一個使用者登入的函式\nint login();  // 傳回錯誤碼\n/* 檢查密碼是否正確,如果不對就報錯 */\n"
JAPANESE = "// これはログインの関数です\nint login();  // エラーコードを返す\n/* パスワードを確認する */\n"
KOREAN = "// 이것은 사용자 로그인 함수입니다\nint login();  // 오류 코드를 반환한다\n/* 비밀번호를 확인합니다 */\n"
FRENCH = "// Vérifie le mot de passe de l'utilisateur, déjà crypté\nint login(); // là où ça échoue\n"
GERMAN = "# Prüft die Größe für alle Schlüssel\nx = 1  # schön\n"


@pytest.mark.parametrize(
    ("text", "codec", "named"),
    [
        (SIMPLIFIED, "utf-8", "utf-8"),
        (SIMPLIFIED, "utf-8-sig", "utf-8"),
        (SIMPLIFIED, "utf-16", "utf-16-le"),
        (SIMPLIFIED, "gb18030", "gb18030"),
        (SIMPLIFIED, "gbk", "gb18030"),
        (TRADITIONAL, "big5", "big5"),
        (JAPANESE, "shift_jis", "shift_jis"),
        (JAPANESE, "euc_jp", "euc_jp"),
        (KOREAN, "euc_kr", "euc_kr"),
        (FRENCH, "latin-1", "cp1252"),
        (GERMAN, "cp1252", "cp1252"),
        ("plain = 1\n", "utf-16-le", "utf-16-le"),
        ("plain = 1\n", "utf-16-be", "utf-16-be"),
        (KOREAN, "utf-32", "utf-32-le"),
        ("x = 'café'\n", "latin-1", "cp1252"),
        ("# © 2020 “Ann”\nx = 1\n", "cp1252", "cp1252"),
        ("x = 1 # 测试\n", "gbk", "gb18030"),
        ("# 한글\n", "euc_kr", "euc_kr"),
        ("# テスト\n", "shift_jis", "shift_jis"),
        ("# 你好,世界\n", "gbk", "gb18030"),
        ("# @Author：虎\nx = 1\n", "gbk", "gb18030"),
        ("// 详情\n", "gbk", "gb18030"),
        ("const a = '（'\n", "gbk", "gb18030"),
        ("# 弹性布局\n", "gbk", "gb18030"),
        ("# @Author：虎\nx = 1\n", "big5", "big5"),
        ("# 創建\n", "big5", "big5"),
        ("# une pièce créée\n", "latin-1", "cp1252"),
        ("# Größe\n", "latin-1", "cp1252"),
    ],
)
def test_every_encoding_round_trips(text, codec, named):
    assert decode(text.encode(codec)) == (text, named)


def test_utf16_be_with_mark():
    assert decode(b"\xfe\xff" + JAPANESE.encode("utf-16-be")) == (JAPANESE, "utf-16-be")


@pytest.mark.parametrize("codec", ["utf-8", "utf-16", "utf-8-sig"])
def test_unusual_breaks_stay_in_their_lines(codec):
    text = "a\r\nb\x0cc\u2028d\x85\ne\rf\n"
    decoded, _ = decode(text.encode(codec))
    assert decoded == text and split_lines(decoded) == ["a\r", "b\x0cc\u2028d\x85", "e\rf"]


def test_line_numbers_survive_a_legacy_encoding():
    decoded, _ = decode(SIMPLIFIED.replace("\n", "\r\n").encode("gbk"))
    assert split_lines(decoded)[1] == "int login();  // 返回错误码\r"


@pytest.mark.parametrize(
    "data", [b"a\0b\n", b"\0" * 50, b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", bytes(range(256)), b"\xff\xfe\0\0\0\0\0\0"]
)
def test_binary(data):
    with pytest.raises(BinaryContent):
        decode(data)


@pytest.mark.parametrize("data", [b"\xff\xfea", b"\xef\xbb\xbf\xff\xff", b"\xff\xfe\x00\xd8a\0", b"\xfe\xff\xd8\x00"])
def test_a_mark_that_the_rest_contradicts(data):
    with pytest.raises(UndecodableContent):
        decode(data)


def test_an_encoded_surrogate_never_becomes_one():
    try:
        text, _ = decode(b"x = '\xed\xa0\x80'\n")
    except UndecodableContent:
        return
    text.encode("utf-8")


def test_empty():
    assert decode(b"") == ("", "utf-8")


@given(st.binary(max_size=200))
def test_any_bytes_give_text_that_can_be_stored_or_a_reason(data):
    try:
        text, encoding = decode(data)
    except (BinaryContent, UndecodableContent):
        return
    assert "\0" not in text and text.encode("utf-8").decode("utf-8") == text and encoding
