"""Who may speak to the studio: every attack is refused before the app is asked, and nothing sent comes back."""

import pytest
from tests.studio import HOST, ORIGIN, PORT, Visitor

from incrowd.studio import guard
from incrowd.studio.guard import MOST_FORM, MOST_UPLOAD, Keys

OTHER = "x" * 43
BAD_HOSTS = (
    None,
    "",
    "127.0.0.1",
    f"127.0.0.1:{PORT + 1}",
    f"localhost:{PORT}",
    f"LOCALHOST:{PORT}",
    f"127.0.0.1:{PORT}.evil.example",
    f"evil.example:{PORT}",
    f"evil.example@127.0.0.1:{PORT}",
    f"127.0.0.2:{PORT}",
    f"0.0.0.0:{PORT}",
    f"[::1]:{PORT}",
    f"2130706433:{PORT}",
    f" 127.0.0.1:{PORT}",
)
BAD_ORIGINS = (
    None,
    "",
    "null",
    "http://evil.example",
    f"https://{HOST}",
    f"http://localhost:{PORT}",
    "http://127.0.0.1",
    f"http://127.0.0.1:{PORT + 1}",
    f"{ORIGIN}/",
    f"{ORIGIN}.evil.example",
    f"{ORIGIN}, http://evil.example",
)
BAD_PATHS = (
    "/../etc/passwd",
    "/static/../../guard.py",
    "/static/..%2f..%2fguard.py",
    "/static/%2e%2e/guard.py",
    "/static/%252e%252e/guard.py",
    "/static/..\\guard.py",
    "/static/..%5cguard.py",
    "/static/%00studio.css",
    "/static//etc/passwd",
    "//evil.example/data",
    "/.git/config",
    "/static/.hidden",
    "/data%0d%0aset-cookie:x=y",
    "/export/file/%2fetc%2fpasswd",
    "/DATA",
    "/data;a=b",
    "/d\u00e4ta",
    "/data/" + "a" * 300,
    "http://evil.example/data",
    "*",
    "",
)
BAD_METHODS = ("PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "get", "")


@pytest.fixture
def visitor():
    return Visitor()


def refused(visitor, answer, *statuses):
    assert visitor.app.asked == 0
    assert answer.status in statuses, answer.status
    assert answer.headers["content-security-policy"].startswith("default-src 'none'")
    assert "set-cookie" not in answer.headers
    assert b"evil" not in answer.body


class TestGoodRequests:
    def test_a_page(self, visitor):
        answer = visitor.ask()
        assert (answer.status, answer.body, visitor.app.asked) == (200, b"in", 1)

    def test_what_every_answer_says(self, visitor):
        headers = visitor.ask().headers
        assert headers["cache-control"] == "no-store"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        for word in ("script-src 'self'", "style-src 'self'", "frame-ancestors 'none'", "base-uri 'none'"):
            assert word in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]

    @pytest.mark.parametrize("site", ["same-origin", "none"])
    def test_what_browsers_say(self, visitor, site):
        assert visitor.ask(headers={"sec-fetch-site": site}).status == 200

    def test_a_change(self, visitor):
        assert visitor.ask("POST", "/roles/give", headers={"sec-fetch-site": "same-origin"}).status == 200

    def test_an_upload_may_be_large(self, visitor):
        size = 3 * MOST_FORM
        answer = visitor.ask("POST", "/data/upload", headers={"content-length": str(size)}, body=[b"x" * MOST_FORM] * 3)
        assert answer.status == 200


class TestTheLink:
    def test_gives_the_cookie_and_leaves_the_address(self, visitor):
        answer = visitor.ask(path="/", query=f"token={visitor.keys.link()}", headers={"cookie": None})
        assert (answer.status, answer.headers["location"]) == (303, "/")
        cookie = answer.headers["set-cookie"]
        assert cookie.startswith(f"incrowd-{PORT}={visitor.keys.session};")
        assert "HttpOnly" in cookie
        assert "SameSite=Strict" in cookie
        assert visitor.app.asked == 0

    def test_works_once(self, visitor):
        token = visitor.keys.link()
        visitor.ask(path="/", query=f"token={token}", headers={"cookie": None})
        refused(visitor, visitor.ask(path="/", query=f"token={token}", headers={"cookie": None}), 403)

    def test_a_second_time_in_the_same_browser_it_only_leads_on(self, visitor):
        token = visitor.keys.link()
        visitor.ask(path="/", query=f"token={token}", headers={"cookie": None})
        answer = visitor.ask(path="/", query=f"token={token}")
        assert answer.status == 303
        assert "set-cookie" not in answer.headers

    def test_is_another_one_at_every_start(self):
        assert len({Keys().link() for _ in range(50)} | {Keys().session for _ in range(50)}) == 100

    @pytest.mark.parametrize(
        "query", [f"token={OTHER}", "token=", "token", f"TOKEN={OTHER}", f"a=b&token={OTHER}", "token=\xff\xfe", "x=1"]
    )
    def test_a_wrong_one_is_refused(self, visitor, query):
        visitor.keys.link()
        refused(visitor, visitor.ask(path="/", query=query, headers={"cookie": None}), 403, 404)

    @pytest.mark.parametrize(("own", "theirs", "status"), [(1000, 1001, 403), (1000, 1000, 303), (0, 1000, 303)])
    def test_another_user_of_the_machine_cannot_use_it(self, visitor, monkeypatch, tmp_path, own, theirs, status):
        listed = tmp_path / "tcp"
        listed.write_text(
            "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
            f"   0: 0100007F:C350 0100007F:{PORT:04X} 01 00000000:00000000 00:00000000 00000000 {theirs:5}  0 7 1\n"
        )
        monkeypatch.setattr(guard, "CONNECTIONS", listed)
        monkeypatch.setattr(guard.os, "getuid", lambda: own)
        token = visitor.keys.link()
        answer = visitor.ask(path="/", query=f"token={token}", headers={"cookie": None})
        assert answer.status == status
        if status == 403:  # and the owner still can
            listed.write_text("")
            assert visitor.ask(path="/", query=f"token={token}", headers={"cookie": None}).status == 303

    def test_a_part_of_it_is_refused(self, visitor):
        token = visitor.keys.link()
        refused(visitor, visitor.ask(path="/", query=f"token={token[:-1]}", headers={"cookie": None}), 403)
        refused(visitor, visitor.ask(path="/", query=f"token={token}a", headers={"cookie": None}), 403)

    def test_only_the_first_page_takes_it(self, visitor):
        token = visitor.keys.link()
        refused(visitor, visitor.ask(path="/data", query=f"token={token}", headers={"cookie": None}), 404)

    def test_it_cannot_be_posted(self, visitor):
        refused(visitor, visitor.ask("POST", "/", query=f"token={visitor.keys.link()}", headers={"cookie": None}), 404)

    def test_another_site_cannot_use_it(self, visitor):
        query = f"token={visitor.keys.link()}"
        refused(
            visitor, visitor.ask(path="/", query=query, headers={"cookie": None, "sec-fetch-site": "cross-site"}), 403
        )

    @pytest.mark.parametrize("query", ["name=Smith", "column=age", "a"])
    def test_nothing_else_may_be_in_an_address(self, visitor, query):
        refused(visitor, visitor.ask(query=query), 404)


def posted(**headers):
    return {"method": "POST", "headers": {name.replace("_", "-"): value for name, value in headers.items()}}


def asked(**headers):
    return {"headers": {name.replace("_", "-"): value for name, value in headers.items()}}


COOKIE = f"incrowd-{PORT}={'s' * 43}"
ATTACKS = {
    "another host": (421, [asked(host=host) for host in BAD_HOSTS]),
    "two hosts": (400, [{"pairs": [("host", HOST)]}]),
    "a change from another origin": (403, [posted(origin=origin) for origin in BAD_ORIGINS]),
    "a page for another origin": (
        403,
        [asked(origin=each) for each in ("null", "http://evil.example", "chrome-extension://a")],
    ),
    "another site": (
        403,
        [ask(sec_fetch_site=site) for ask in (asked, posted) for site in ("cross-site", "same-site", "CROSS-SITE", "")],
    ),
    "a change that somebody typed": (403, [posted(sec_fetch_site="none")]),
    "without the cookie": (
        403,
        [
            {"method": method, "headers": {"cookie": cookie}}
            for method in ("GET", "HEAD", "POST")
            for cookie in (
                *(None, "", f"incrowd-{PORT}=", f"incrowd-{PORT}={OTHER}", COOKIE[:-1], f"{COOKIE}s", "s" * 43),
                *(f"incrowd-{PORT + 1}={'s' * 43}", COOKIE.upper().replace("S", "s"), f"incrowd-{PORT}=\xff\xfe"),
                f"{COOKIE}; incrowd-{PORT}={OTHER}",
            )
        ],
    ),
    "two cookie headers": (400, [{"pairs": [("cookie", COOKIE)]}]),
    "a change without the key of the page": (
        403,
        [posted(x_studio_key=key) for key in (None, "", OTHER, "f" * 42, "f" * 44, "s" * 43, "\xff")],
    ),
    "another method": (405, [{"method": method} for method in BAD_METHODS]),
    "a path that leads elsewhere": (404, [{"path": path} for path in BAD_PATHS]),
    "a path that is not what was sent": (404, [{"scope": {"path": "/static/../guard.py"}}]),
    "another machine": (
        403,
        [{"scope": {"client": each}} for each in (None, *((host, 5) for host in ("192.168.0.7", "::1", "127.0.0.2")))],
    ),
    "a form that is too large": (413, [posted(content_length=str(MOST_FORM + 1))]),
    "an upload that is too large": (413, [{"path": "/data/upload", **posted(content_length=str(MOST_UPLOAD + 1))}]),
    "a length that is none": (
        400,
        [posted(content_length=each) for each in ("-1", "+3", "3.0", "0x3", "three", "3, 3", " 3", "", str(1 << 62))],
    ),
    "a form of no length": (411, [posted(content_length=None), posted(transfer_encoding="chunked")]),
    "a page with a body": (400, [asked(content_length="3"), asked(transfer_encoding="chunked")]),
    "two lengths": (400, [{"method": "POST", "pairs": [("content-length", "3")]}]),
    "another kind of body": (
        415,
        [
            {"path": path, **posted(content_type=kind)}
            for path in ("/roles/give", "/data/upload")
            for kind in ("text/plain", "application/json", "multipart/form-data; boundary=x", "")
        ],
    ),
    "many and large headers": (
        431,
        [{"pairs": [(f"x-{place}", "y") for place in range(100)]}, asked(x_large="y" * 20_000)],
    ),
}


@pytest.mark.parametrize(
    ("request_", "status"),
    [pytest.param(each, status, id=name) for name, (status, requests) in ATTACKS.items() for each in requests],
)
def test_an_attack_is_refused(visitor, request_, status):
    refused(visitor, visitor.ask(**request_), status)


@pytest.mark.parametrize("kind", ["websocket", "unknown"])
def test_other_protocols(visitor, kind):
    answer = visitor.ask(scope={"type": kind})
    assert visitor.app.asked == 0
    assert answer.messages in ([], [{"type": "websocket.close", "code": 1008}])


def test_a_form_that_is_longer_than_it_says(visitor):
    assert visitor.ask("POST", body=[b"a=1", b"and much more"]).status == 413


@pytest.mark.parametrize(("limit", "path"), [("FORM_SECONDS", "/data"), ("UPLOAD_PAUSE", "/data/upload")])
def test_a_body_that_does_not_arrive(visitor, monkeypatch, limit, path):
    monkeypatch.setattr(guard, limit, 0.02)
    assert visitor.ask("POST", path, body=[b"a", ...]).status == 408
