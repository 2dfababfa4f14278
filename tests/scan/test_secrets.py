import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devmind.scan.secrets import mask_secrets

R36 = "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("k = 'AKIAQYLPMN5HFIQR7XYA'", "k = '***'"),
        (f"t: ghp_{R36}", "t: ***"),
        (f"github_pat_{R36}", "***"),
        (f"a xoxb-123456789012-{R36[:24]} b", "a *** b"),
        (f"AIza{R36[:35]}", "***"),
        (f"npm_{R36}", "***"),
        (f'"eyJhbGciOiJIUzI1NiJ9.eyJ{R36}.{R36}"', '"***"'),
        (f"dckr_pat_{R36[:27]}", "***"),
        (f"dop_v1_{'0a1b2c3d' * 8}", "***"),
        (f"AGE-SECRET-KEY-1{'Q3EGRJ7TK2' * 5}ABCDEFGH", "***"),
        (f"sk-proj-{R36}", "***"),
        (f"curl -H 'Authorization: token {R36}'", "curl -H 'Authorization: token ***'"),
        ("curl -u admin:q8Xz9vLw2Kp7 https://x", "curl -u admin:*** https://x"),
        ("ENV API_KEY q8Xz9vLw2Kp7Rt", "ENV API_KEY ***"),
        ('"password = \\"q8Xz9vLw2Kp7Rt\\"\\n"', '"password = \\"***\\"\\n"'),
        (f"https://hooks.slack.com/services/T0123ABCD/B0123ABCD/{R36[:24]}", "https://hooks.slack.com/services/***"),
        ('password = "Tr0ub4dor&3xK"', 'password = "***"'),
        ("DB_PASSWORD: str = 'aB3$dE5fG7hI'", "DB_PASSWORD: str = '***'"),
        ('const apiKey = "9f8b7c6d5e4f3a2b1c0d9e8f";', 'const apiKey = "***";'),
        ('"client_secret": "q8Xz-9vLw2Kp7",', '"client_secret": "***",'),
        ("export API_TOKEN=9f8b7c6d5e4f3a2b1c0d", "export API_TOKEN=***"),
        ("db.password=q8Xz9vLw2Kp7Rt\r", "db.password=***\r"),
        ("  secret_key: q8Xz9vLw2Kp7Rt  # prod", "  secret_key: ***  # prod"),
        ('String pwd = "q8Xz9vLw2Kp7Rt";', 'String pwd = "***";'),
        ("postgres://app:q8Xz9vLw2@db/x", "postgres://app:***@db/x"),
        (f"Authorization: Bearer {R36}", "Authorization: Bearer ***"),
        ("Server=x;AccountKey=q8Xz9vLw2Kp7Rt==;Y=1", "Server=x;AccountKey=***;Y=1"),
        (
            'setPassword("x"); config.set("password", "q8Xz9vLw2Kp7Rt")',
            'setPassword("x"); config.set("password", "***")',
        ),
    ],
)
def test_secrets_go(text, masked):
    assert mask_secrets(f"a\n{text}\nb\n") == f"a\n{masked}\nb\n"


@pytest.mark.parametrize(
    "text",
    [
        'password = os.environ["DB_PASSWORD_2"]',
        "password = getpass.getpass()",
        'password = "changeme123"',
        "token = next(tokens2)",
        'API_KEY = "your-api-key-1234"',
        'token = "${TOKEN_1}"',
        "token: {{ secrets.TOKEN_1 }}",
        'password = "password"',
        "const token = parseToken(input, 12345);",
        "curl -u admin:password123 https://x",
        "curl -u user:$TOKEN_12345 https://x",
        "ENV TOKEN_FILE /run/secrets/token1234x9",
        "ask-for-a-token-sk-words-with-hyphens-and-so-on",
        'TOKEN_URL = "https://a.example/oauth2/token"',
        "tokens = line.split()[1:]",
        'secret_name = "prod/db/v2-primary"',
        'token_type = "bearer"',
        'raise ValueError("invalid token: line 12")',
        'key = "user_id_2"',
        "max_tokens=4096",
        "password: string;",
        "password = self.settings.password2",
        "n_tokens: int = 12345678",
        "postgres://user:password@localhost/db",
        "mysql://foo:bar%25bar@localhost/baz",
        "git@github.com:a/b.git",
        "AKIAIOSFODNN7EXAMPLE",
        "password=<your password 1>",
        'if token == "identifier2":',
        "sha256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'",
        "def test_token_refresh_after_401_unauthorized(self): pass",
        'tokenizer = "bert-base-uncased-2"',
        'pem = "-----BEGIN PRIVATE KEY-----" + body + "-----END PRIVATE KEY-----"',
        "密码 password = 用户输入的内容12",
        'ENV_TOKEN = "GITHUB_TOKEN_V2"',
        "access_token = response.json()['access_token']",
    ],
)
def test_code_stays(text):
    assert mask_secrets(f"a\n{text}\nb\n") == f"a\n{text}\nb\n"


def test_a_key_block_keeps_its_lines():
    body = "MIIEpAIBAAKCAQEAq8Xz9vLw2Kp7RtMIIEpAIBAAKCAQEAq8Xz9vLw2Kp7Rt"
    text = f"x\n  -----BEGIN RSA PRIVATE KEY-----\n  {body}\n  {body}\r\n  AB==\n  -----END RSA PRIVATE KEY-----\ny\n"
    assert mask_secrets(text) == (
        "x\n  -----BEGIN RSA PRIVATE KEY-----\n  ***\n  ***\r\n  ***\n  -----END RSA PRIVATE KEY-----\ny\n"
    )
    inline = f'{{"private_key": "-----BEGIN PRIVATE KEY-----\\n{body}\\n-----END PRIVATE KEY-----\\n"}}'
    assert body not in mask_secrets(inline) and "BEGIN PRIVATE KEY" in mask_secrets(inline)
    cut = f"-----BEGIN PRIVATE KEY-----\n{body}\n{body}\nplain code here\n"
    assert mask_secrets(cut) == "-----BEGIN PRIVATE KEY-----\n***\n***\nplain code here\n"


def test_masking_twice_changes_nothing_more():
    text = f"password = 'q8Xz9vLw2Kp7Rt'\nt = 'ghp_{R36}'\n"
    assert mask_secrets(mask_secrets(text)) == mask_secrets(text)


@pytest.mark.parametrize(
    "text",
    [
        "-----BEGIN PRIVATE KEY-----\n" + "-a" * 50_000,
        "password" * 20_000,
        "password = '" + "a1" * 100_000,
        "token" + " " * 100_000 + "1",
        "://" * 50_000 + "@",
        "eyJ" + "a1." * 50_000,
        "x = '" + "-----BEGIN PRIVATE KEY-----" * 2_000,
        "token: " + "a " * 50_000 + "1",
        ("token=a, " * 400 + "1\n") * 20,
    ],
)
def test_hostile_text_takes_no_long_time(text):
    started = time.perf_counter()
    mask_secrets(text)
    assert time.perf_counter() - started < 2


@given(st.text(st.sampled_from("password=:'\"1aZ9 \n\r\u2028-BEGIN PRIVATE KEYeyJ.@/_İ"), max_size=200))
def test_lines_never_move(text):
    assert mask_secrets(text).count("\n") == text.count("\n")
