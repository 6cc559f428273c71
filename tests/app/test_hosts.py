"""Names this server answers to: its own on every way in, another site's on none."""

import socket
from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient

from app.cli.sockets import exposed
from app.main import create_app
from app.web.hosts import OTHER_SITE
from tests.compare.site import routes_of

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW")
PATHS = sorted(
    {route.path for route in routes_of(create_app())} | {"/assets/board.css", "/nothing-is-here", "/api/nothing"}
)
LOOPBACK = ("127.0.0.1", "127.0.0.1:8000", "localhost", "LOCALHOST:1", "localhost.", "[::1]", "[::1]:8000")
NO_NAMES = ("", "evil.example:99999999", "a b", "me@localhost", "[::1", "localhost/..")
STRANGERS = (
    "evil.example",
    "evil.example:8000",
    "127.0.0.1.evil.example",
    "localhost.evil.example",
    "203.0.113.7",
    "\xff\xfe",
)


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    with TestClient(create_app(), raise_server_exceptions=False) as client:
        yield client


def bound(address: str) -> TestClient:
    return TestClient(create_app(address), raise_server_exceptions=False)


def status(client: TestClient, host: str | bytes) -> int:
    return client.get(
        "/api/formulas", headers={b"host": host if isinstance(host, bytes) else host.encode("latin-1")}
    ).status_code


def test_another_name_is_refused_by_every_route_and_method(client: TestClient) -> None:
    assert len(PATHS) > 30
    for path in PATHS:
        for method in METHODS:
            answer = client.request(method, path, headers={"host": "evil.example:8000"})
            assert answer.status_code == 421, (method, path)
            if method != "HEAD":
                assert "host = evil.example: " in answer.text and "SHARDBOARD_HOSTS" in answer.text, (method, path)
            assert answer.headers["x-content-type-options"] == "nosniff"


def test_a_web_socket_of_another_name_is_refused(client: TestClient) -> None:
    with pytest.raises(Exception) as refused, client.websocket_connect("/", headers={"host": "evil.example"}):
        pass
    assert getattr(refused.value, "code", 0) == 1008


@pytest.mark.parametrize("host", LOOPBACK)
def test_bound_to_loopback_its_three_names_are_answered(client: TestClient, host: str) -> None:
    assert status(client, host) == 200


@pytest.mark.parametrize("host", STRANGERS)
def test_bound_to_loopback_no_other_name_is(client: TestClient, host: str) -> None:
    assert status(client, host) == 421


@pytest.mark.parametrize("host", NO_NAMES)
def test_a_host_that_is_no_name_is_refused(client: TestClient, host: str) -> None:
    assert status(client, host) == 400


def test_bound_to_one_address_that_one_is_answered() -> None:
    client = bound("192.0.2.9")
    assert [status(client, host) for host in ("192.0.2.9:8000", "192.0.2.8", "localhost", "evil.example")] == [
        200,
        421,
        421,
        421,
    ]
    assert status(bound("box"), "BOX:80") == 200


@pytest.mark.parametrize("everywhere", ["0.0.0.0", "::"])
def test_bound_to_all_addresses_this_machines_own_are_answered(everywhere: str) -> None:
    client, name = bound(everywhere), socket.gethostname()
    own = {found[4][0] for found in socket.getaddrinfo(name, None, socket.AF_INET)} if resolves(name) else set()
    short = name.partition(".")[0]
    for host in (*LOOPBACK, name, name.upper(), short, f"{short}.local:8000", *own):
        assert status(client, str(host)) == 200, host
    for host in ("evil.example", "203.0.113.7", "[2001:db8::1]", "0.0.0.0", "224.0.0.1", f"{short}.evil.example"):
        assert status(client, host) == 421, host


def resolves(name: str) -> bool:
    try:
        return bool(socket.getaddrinfo(name, None, socket.AF_INET))
    except OSError:
        return False


def test_an_installation_may_add_names(client: TestClient) -> None:
    assert status(client, "testserver") == 200  # tests/conftest.py adds it by SHARDBOARD_HOSTS
    assert "testserver" in client.get("/", headers={"host": "evil.example"}).text


def test_nobody_elses_page_may_send_anything(client: TestClient) -> None:
    posts = [route.path for route in routes_of(create_app()) if "POST" in route.methods]
    assert len(posts) >= 7
    for path in posts:
        for headers in (
            {"Origin": "http://elsewhere.example"},
            {"Origin": "null"},
            {"Origin": "http://["},
            {"Origin": "http://testserver:1"},
            {"Sec-Fetch-Site": "cross-site"},
            {"Sec-Fetch-Site": "same-site"},
        ):
            answer = client.post(path, content=b"", headers=headers)
            assert answer.status_code == 403 and OTHER_SITE in answer.text, (path, headers)


def test_the_servers_own_pages_and_programs_may(client: TestClient) -> None:
    for headers in ({}, {"Origin": "http://testserver"}, {"Sec-Fetch-Site": "same-origin"}, {"Sec-Fetch-Site": "none"}):
        assert client.post("/docs", data={"document": "{}"}, headers=headers).status_code == 422


@pytest.mark.parametrize(("host", "told"), [("127.0.0.1", ()), ("localhost", ()), ("::1", ()),
                                            ("0.0.0.0", ("Everyone", "8000", "SHARDBOARD_DEMOS", ".local", "SHARDBOARD_HOSTS")),
                                            ("192.0.2.9", ("Everyone", "192.0.2.9:8000", "SHARDBOARD_DEMOS"))])  # fmt: skip
def test_what_an_address_exposes_is_said_beside_it(host: str, told: tuple[str, ...]) -> None:
    said = exposed(host, 8000, live=True)
    assert bool(said) == bool(told) and all(words in said for words in told)
    assert "SHARDBOARD_DEMOS" not in exposed(host, 8000, live=False)
