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


class TestAttacks:
    @pytest.mark.parametrize("host", BAD_HOSTS)
    def test_another_host(self, visitor, host):
        refused(visitor, visitor.ask(headers={"host": host}), 421)

    def test_two_hosts(self, visitor):
        refused(visitor, visitor.ask(pairs=[("host", HOST)]), 400)

    @pytest.mark.parametrize("origin", BAD_ORIGINS)
    def test_a_change_from_another_origin(self, visitor, origin):
        refused(visitor, visitor.ask("POST", "/roles/give", headers={"origin": origin}), 403)

    @pytest.mark.parametrize("origin", ["null", "http://evil.example", "chrome-extension://abc"])
    def test_a_page_for_another_origin(self, visitor, origin):
        refused(visitor, visitor.ask(headers={"origin": origin}), 403)

    @pytest.mark.parametrize("site", ["cross-site", "same-site", "CROSS-SITE", ""])
    @pytest.mark.parametrize("method", ["GET", "POST"])
    def test_another_site(self, visitor, method, site):
        refused(visitor, visitor.ask(method, headers={"sec-fetch-site": site}), 403)

    def test_a_change_that_somebody_typed(self, visitor):
        refused(visitor, visitor.ask("POST", headers={"sec-fetch-site": "none"}), 403)

    @pytest.mark.parametrize(
        "cookie",
        [
            None,
            "",
            f"incrowd-{PORT}=",
            f"incrowd-{PORT}={OTHER}",
            f"incrowd-{PORT}={'s' * 42}",
            f"incrowd-{PORT}={'s' * 44}",
            f"incrowd-{PORT + 1}={'s' * 43}",
            f"INCROWD-{PORT}={'s' * 43}",
            f"incrowd-{PORT}={'s' * 43}; incrowd-{PORT}={OTHER}",
            f"incrowd-{PORT}=\xff\xfe",
            "s" * 43,
        ],
    )
    @pytest.mark.parametrize("method", ["GET", "HEAD", "POST"])
    def test_without_the_cookie(self, visitor, method, cookie):
        refused(visitor, visitor.ask(method, headers={"cookie": cookie}), 403)

    def test_two_cookie_headers(self, visitor):
        refused(visitor, visitor.ask(pairs=[("cookie", visitor.cookie)]), 400)

    @pytest.mark.parametrize("key", [None, "", OTHER, "f" * 42, "f" * 44, "s" * 43, "\xff"])
    def test_a_change_without_the_key_of_the_page(self, visitor, key):
        refused(visitor, visitor.ask("POST", headers={"x-studio-key": key}), 403)

    @pytest.mark.parametrize("method", BAD_METHODS)
    def test_another_method(self, visitor, method):
        refused(visitor, visitor.ask(method), 405)

    @pytest.mark.parametrize("path", BAD_PATHS)
    def test_a_path_that_leads_elsewhere(self, visitor, path):
        refused(visitor, visitor.ask(path=path), 404)

    def test_a_path_that_is_not_what_was_sent(self, visitor):
        refused(visitor, visitor.ask(scope={"path": "/static/../guard.py"}), 404)

    @pytest.mark.parametrize("client", [None, ("192.168.0.7", 5), ("::1", 5), ("127.0.0.2", 5), ("10.0.0.1", 5)])
    def test_another_machine(self, visitor, client):
        refused(visitor, visitor.ask(scope={"client": client}), 403)

    @pytest.mark.parametrize("kind", ["websocket", "unknown"])
    def test_other_protocols(self, visitor, kind):
        answer = visitor.ask(scope={"type": kind})
        assert visitor.app.asked == 0
        assert answer.messages in ([], [{"type": "websocket.close", "code": 1008}])


class TestLimits:
    @pytest.mark.parametrize("length", [str(MOST_FORM + 1), str(1 << 62), "9" * 13])
    def test_a_form_that_says_it_is_too_large(self, visitor, length):
        refused(visitor, visitor.ask("POST", headers={"content-length": length}), 413, 400)

    def test_an_upload_that_says_it_is_too_large(self, visitor):
        size = str(MOST_UPLOAD + 1)
        refused(visitor, visitor.ask("POST", "/data/upload", headers={"content-length": size}), 413)

    def test_a_form_that_is_longer_than_it_says(self, visitor):
        assert visitor.ask("POST", body=[b"a=1", b"and much more"]).status == 413

    @pytest.mark.parametrize("length", ["-1", "+3", "3.0", "0x3", "three", "3, 3", " 3", ""])
    def test_a_length_that_is_none(self, visitor, length):
        refused(visitor, visitor.ask("POST", headers={"content-length": length}), 400)

    def test_a_form_of_no_length(self, visitor):
        refused(visitor, visitor.ask("POST", headers={"content-length": None}), 411)

    def test_a_form_in_chunks(self, visitor):
        refused(visitor, visitor.ask("POST", headers={"transfer-encoding": "chunked"}), 411)

    def test_a_page_with_a_body(self, visitor):
        refused(visitor, visitor.ask(headers={"content-length": "3"}), 400)
        refused(visitor, visitor.ask(headers={"transfer-encoding": "chunked"}), 400)

    def test_two_lengths(self, visitor):
        refused(visitor, visitor.ask("POST", pairs=[("content-length", "3")]), 400)

    @pytest.mark.parametrize("kind", ["text/plain", "application/json", "multipart/form-data; boundary=x", ""])
    @pytest.mark.parametrize("path", ["/roles/give", "/data/upload"])
    def test_another_kind_of_body(self, visitor, path, kind):
        refused(visitor, visitor.ask("POST", path, headers={"content-type": kind}), 415)

    def test_many_headers(self, visitor):
        refused(visitor, visitor.ask(pairs=[(f"x-{number}", "y") for number in range(100)]), 431)

    def test_large_headers(self, visitor):
        refused(visitor, visitor.ask(headers={"x-large": "y" * 20_000}), 431)

    def test_a_form_that_does_not_arrive(self, visitor, monkeypatch):
        monkeypatch.setattr(guard, "FORM_SECONDS", 0.02)
        assert visitor.ask("POST", body=[b"a", ...]).status == 408

    def test_an_upload_that_stops(self, visitor, monkeypatch):
        monkeypatch.setattr(guard, "UPLOAD_PAUSE", 0.02)
        assert visitor.ask("POST", "/data/upload", body=[b"a", ...]).status == 408
