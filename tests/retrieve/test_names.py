"""Names in queries, put to an indexed repository: other spellings, modules, misspelt, in part."""

from __future__ import annotations

import pytest

from devmind.retrieve.names import edits
from devmind.service import Service
from devmind.settings import Settings
from tests.indexed import index_files

FILES = {
    "shop/session.py": '''class SessionManager:
    def send_request(self, request):
        """Send it."""
        return self.transport.deliver(request)


def authenticate_customer(name):
    return name
''',
    "shop/clock.py": "def now():\n    return 1\n",
    "shop/other/watch.py": "def now():\n    return 2\n",
    "web/session.ts": "export function getUserName(id: string): string {\n  return id;\n}\n",
    "web/http.ts": "export class HTTPConnectionPool {\n  open(): void {}\n}\n",
} | {f"lib/module_{n}.py": f"def process_{n}(data):\n    return data + {n}\n" for n in range(20)}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Service:
    return Service(Settings(home=index_files(tmp_path_factory.mktemp("shop"), FILES)))


@pytest.mark.parametrize(
    ("query", "path", "least"),
    [
        ("SessionManager", "shop/session.py", 0.9),
        ("sessionmanager", "shop/session.py", 0.5),
        ("SessionManager.send_request", "shop/session.py", 0.9),
        ("SessionManager::send_request", "shop/session.py", 0.9),
        ("shop.session.SessionManager.send_request()", "shop/session.py", 0.8),
        ("shop.other.watch.now", "shop/other/watch.py", 0.7),
        ("client.send_request", "shop/session.py", 0.3),
        ("sendRequest", "shop/session.py", 0.5),
        ("get_user_name", "web/session.ts", 0.5),
        ("get user name", "web/session.ts", 0.4),
        ("sesion_manager", "shop/session.py", 0.4),
        ("SessoinManager", "shop/session.py", 0.4),
        ("SesionManagr", "shop/session.py", 0.2),
        ("autenticate_customer", "shop/session.py", 0.4),
        ("ConnectionPoo", "web/http.ts", 0.2),
        ("nectionpool", "web/http.ts", 0.2),
    ],
)
def test_a_name_is_found_in_whatever_way_it_is_written(service: Service, query: str, path: str, least: float) -> None:
    hit = service.search(query).hits[0]
    assert hit.path == path
    assert hit.why["defines"] >= least


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("sendRequest", "SessionManager.send_request"),
        ("shop.session.SessionManager.send_request", "SessionManager.send_request"),
        ("client.send_request", "SessionManager.send_request"),
        ("SessoinManager", "SessionManager"),
        ("nectionpool", "HTTPConnectionPool"),
    ],
)
def test_a_name_that_nothing_defines_has_near_names(service: Service, name: str, near: str) -> None:
    assert service.symbols(name) == []
    assert service.near_names(name)[0] == near
    assert service.near_names(name, repo="shop")[0] == near


def test_what_is_like_no_name_has_no_near_names(service: Service) -> None:
    assert service.near_names("zzqqyyxx") == []
    assert service.near_names("..") == []


def test_exact_names_come_before_those_that_are_alike(service: Service) -> None:
    assert service.search("process_7").hits[0].path == "lib/module_7.py"
    assert service.search("process_7").hits[1].why["defines"] == 0


def test_a_module_tells_one_of_several_definitions(service: Service) -> None:
    hits = service.search("shop.clock.now").hits
    assert hits[0].path == "shop/clock.py"
    assert all(hit.why["defines"] == 0 for hit in hits if hit.path == "shop/other/watch.py")


@pytest.mark.parametrize(
    "query", ["zzqqyyxx", "process_7x9y8z", "no.such.thing", "a::b::c", "get the user name please"]
)
def test_what_is_like_nothing_defines_nothing(service: Service, query: str) -> None:
    assert all(hit.why["defines"] == 0 for hit in service.search(query).hits)


@pytest.mark.parametrize(
    ("a", "b", "n"),
    [("cart", "cart", 0), ("cart", "crt", 1), ("cart", "catr", 1), ("cart", "card", 1), ("cart", "crd", 2),
     ("cart", "x", 3), ("cart", "market", 3), ("", "ab", 2), ("abcd", "badc", 2)],
)  # fmt: skip
def test_edits(a: str, b: str, n: int) -> None:
    assert edits(a, b) == edits(b, a) == n
