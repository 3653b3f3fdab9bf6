#!/usr/bin/env python3
"""A JSON API with every paging style, and every way to go wrong, on two free ports of 127.0.0.1.

Prints both ports on one line when it is ready. Each request is a line of JSON in the file of the first argument:
method, path, headers, origin (0 or 1), begin and end (seconds, monotonic).
"""
import gzip
import http.server
import json
import os
import socketserver
import sys
import threading
import time
import urllib.parse
import zlib

import codings
import zoo

LOG = open(sys.argv[1], "a", buffering=1) if len(sys.argv) > 1 else None
LOCK = threading.Lock()
CUT = set()
PORTS = []


def user(number):
    return {"id": number, "name": f"User {number}", "score": number / 2, "address": {"city": "Lyon", "tags": ["a", "b"]}}


MALFORMED = {
    "empty": b"",
    "blank": b" \n ",
    "truncated": b'{"items": [{"id": 1}, {"id": 2',
    "trailing": b'{"items": [{"id": 1}]} {"items": []}',
    "trailing-garbage": b'[{"id": 1}] oops',
    "invalid-utf8": b'{"items": [{"id": 1, "name": "\xff\xfe"}]}',
    "lone-surrogate": b'{"items": [{"id": 1, "name": "\\ud800 x"}]}',
    "nan": b'{"items": [{"id": NaN}]}',
    "bare-word": b"hello",
    "comma": b'{"items": [{"id": 1},]}',
    "single-quotes": b"{'items': []}",
    "control": b'{"items": [{"name": "a\x01b"}]}',
    "bad-escape": b'{"items": [{"name": "\\q"}]}',
    "leading-zero": b'{"items": [{"id": 01}]}',
    "deep": b'{"items": [' + b"[" * 200 + b"]" * 200 + b"]}",
    "very-deep": b'{"items": ' + b"[" * 5000 + b"]" * 5000 + b"}",
    "records-object": b'{"items": {"id": 1}}',
    "records-text": b'{"items": "none today"}',
    "records-missing": b'{"things": [], "users": [{"id": 1}], "total": 0}',
    "records-null": b'{"items": null}',
    "scalar-record": b'{"items": [1, "two", {"id": 3}]}',
    "unclosed-string": b'{"items": [{"name": "abc',
    "garbage-after-records": b'{"items": [{"id": 1}], "next": }',
    "utf16": '{"items": []}'.encode("utf-16"),
}
WELL = {
    "bom": b'\xef\xbb\xbf{"items": [{"id": 1}]}',
    "duplicate-keys": b'{"items": [{"id": 1, "id": 2}]}',
    "numbers": b'{"items": [{"a": 9007199254740993, "b": 9223372036854775807, "c": 9223372036854775808, '
    b'"d": -9223372036854775808, "e": 0.1, "f": 1e400, "g": -0, "h": 12345678901234567890.12345678901234567890, '
    b'"i": 1E2, "j": -9223372036854775809, "k": 18446744073709551616, "l": 1.0}]}',
    "texts": '{"items": [{"a": "\\u00e9\\ud83d\\ude00", "b": "é😀", "c": "\\"\\\\\\/\\b\\f\\n\\r\\t", "d": "\\u0000", '
    '"e": ""}]}'.encode(),
    "nested": b'{"data": {"list of": [{"id": 1, "o": {}, "a": [], "n": null, "t": true, "f": false}]}}',
    "root-array": b'[{"id": 1}, {"id": 2}]',
    "root-object": b'{"id": 7, "name": "one"}',
    "root-wrapped": b'{"data": [{"id": 1}], "links": [], "total": 1}',
    "root-doubtful": b'{"id": 1, "orders": [{"id": 2}], "friends": [{"id": 3}]}',
    "wildcard": b'{"groups": [{"users": [{"id": 1}, {"id": 2}]}, {"users": [{"id": 3}]}, {"users": []}]}',
    "map": b'{"items": {"a": {"id": 1}, "b": {"id": 2}}}',
    "escaped-keys": b'{"it\\u0065ms": [{"\\u006eame": "x"}]}',
    "depth-100": b'{"items": [{"d": ' + b"[" * 100 + b"]" * 100 + b"}]}",
    "empty-names": b'{"": 0, "items": [{"": {"": 1}}]}',
    "white-space": b' \t\r\n { "items" : [ { "id" : 1 } ] } \n\n',
}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Or Nagle and delayed acknowledgements add 40 ms to each keep-alive reply.
    disable_nagle_algorithm = True
    wbufsize = -1

    def log_message(self, *arguments):
        pass

    def handle_one_request(self):
        self.begin = None
        try:
            super().handle_one_request()
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def do_GET(self):
        self.begin = time.monotonic()
        self.url = urllib.parse.urlsplit(self.path)
        self.query = {k: v[0] for k, v in urllib.parse.parse_qs(self.url.query, keep_blank_values=True).items()}
        length = int(self.headers.get("Content-Length") or 0)
        self.body = self.rfile.read(length)
        parts = self.url.path.strip("/").split("/")
        self.log("begin")
        if "delay" in self.query:
            time.sleep(float(self.query["delay"]))
        try:
            getattr(self, "route_" + parts[0].replace("-", "_"), self.missing)(*parts[1:])
        except TypeError:
            self.missing()
        finally:
            self.log("end")

    do_POST = do_PUT = do_HEAD = do_GET

    def log(self, event):
        if LOG:
            with LOCK:
                LOG.write(json.dumps({
                    "event": event, "time": time.monotonic(), "method": self.command, "path": self.path,
                    "origin": PORTS.index(self.server.server_address[1]),
                    "headers": {k.lower(): v for k, v in self.headers.items()},
                    "client": self.client_address[1]}) + "\n")

    def send(self, body, status=200, kind="application/json", **headers):
        if not isinstance(body, bytes):
            body = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        if status not in (204, 304):
            self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD" and status not in (204, 304):
            self.wfile.write(body)

    def missing(self, *parts):
        self.send(b"<html><head><title>404 Not Found</title></head><body>nginx</body></html>", 404, "text/html")

    def integer(self, name, default):
        return int(self.query.get(name, default))

    # ------------------------------------------------------------ paging

    def route_users(self, style="all"):
        count = self.integer("count", 25)
        users = [user(n) for n in range(1, count + 1)]
        base = self.url.path
        extra = f"&count={count}"
        if style == "all":
            return self.send(users)
        if style == "page":
            page, size = self.integer("page", 1), self.integer("per_page", 10)
            start = (page - self.integer("first", 1)) * size
            body = {"items": users[start:start + size]}
            if "total" in self.query:
                body["meta"] = {"total": count, "pages": int(self.query.get("claim", -(-count // size)))}
            return self.send(body)
        if style == "offset":
            offset, limit = self.integer("offset", 0), self.integer("limit", 10)
            return self.send({"items": users[offset:offset + limit], "total": count})
        after, size = self.integer("after", 0), 10
        items, follows = users[after:after + size], after + size < count
        reference = f"{base}?after={after + size}{extra}"
        if "token" in self.query:
            reference += "&token=" + self.query["token"]
        if style == "next":
            absolute = f"http://127.0.0.1:{self.server.server_address[1]}{reference}"
            return self.send({"items": items, "next": absolute if follows else None})
        if style == "relative":
            return self.send({"items": items, "next": "?" + reference.split("?")[1] if follows else ""})
        if style == "abroad":
            other = [port for port in PORTS if port != self.server.server_address[1]][0]
            return self.send({"items": items, "next": f"http://127.0.0.1:{other}{reference}" if follows else None})
        if style == "nested-next":
            return self.send({"data": {"items": items}, "links": {"next": {"href": reference}} if follows else {}})
        if style == "link":
            headers = {"Link": f'<{base}?after=0>; rel="first", <{reference}>; title="a, b"; rel="next last"'}
            return self.send(items, **(headers if follows else {}))
        if style == "cursor":
            start = int(self.query["cursor"][1:]) if self.query.get("cursor") else 0
            follows = start + size < count
            return self.send({"items": users[start:start + size], "next_cursor": f"c{start + size}" if follows else None})
        self.missing()

    def route_loop(self, style="next"):
        if style == "next":
            return self.send({"items": [user(1)], "next": self.path})
        if style == "cursor":
            return self.send({"items": [user(1)], "next_cursor": "same"})
        # Ignores the page parameter: always the same full page.
        return self.send({"items": [user(n) for n in range(1, 11)]})

    def route_flaky(self, style):
        page = self.integer("page", 1)
        if page == 3:
            return self.send(b'{"items": [{"id": 21}, {"id"', 200)
        self.send({"items": [user(n) for n in range(page * 10 - 9, page * 10 + 1)]})

    def route_zoo(self, name):
        if not zoo.answer(self, name):
            self.missing()

    # ------------------------------------------------------------ bodies

    def route_malformed(self, name):
        self.send(MALFORMED[name])

    def route_well(self, name):
        self.send(WELL[name])

    def route_scalars(self):
        self.send([None] * self.integer("count", 1200))

    def route_no_content(self):
        self.send(b"", 204)

    def route_html(self):
        self.send(b"<!DOCTYPE html><html><head><TITLE>Sign in\n please</TITLE></head></html>", 200, "text/html; charset=utf-8")

    def route_status(self, status):
        headers = {"Retry-After": self.query["retry_after"]} if "retry_after" in self.query else {}
        if "html" in self.query:
            page = b"<html><head><title>Oops &amp; sorry</title><style>x{}</style></head><body>It broke</body></html>"
            return self.send(page, int(status), "text/html", **headers)
        self.send({"message": "said the API", "echo": self.headers.get("Authorization")}, int(status), **headers)

    def route_say(self, *parts):
        """What the query's body says, or the request's own; `then` where the request asks for a later page."""
        is_later = any(name in self.query for name in ("startAt", "continue", "page")) and "then" in self.query
        said = self.query.get("then" if is_later else "body")
        self.send(self.body if said is None else said.encode())

    def route_echo(self, *parts):
        self.send({
            "method": self.command, "path": self.path, "body": self.body.decode("latin-1"),
            "headers": {k.lower(): v for k, v in self.headers.items()}})

    def route_slow_lines(self):
        """Three lines of JSON in a gzip file, the first byte of which arrives alone."""
        body = gzip.compress(b'{"id": 1}\n{"id": 2}\n{"id": 3}\n')
        self.send_response(200)
        self.send_header("Content-Type", "application/x-ndjson")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[:1])
        time.sleep(0.3)
        self.wfile.write(body[1:])

    def route_truncated(self):
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", "100000")
        self.end_headers()
        self.wfile.write(b'{"items": [{"id": 1}')

    def route_lengths(self):
        """A body of 12 bytes, with a Content-Length for each of the query's `of`, separated by `;`."""
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        for length in self.query["of"].split(";"):
            self.send_header("Content-Length", length)
        self.end_headers()
        self.wfile.write(b'[{"id":  1}]')

    def route_truncated_chunks(self):
        self.close_connection = True
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.wfile.write(b"5\r\nhello\r\n")

    def route_gzip(self):
        body = json.dumps({"items": [user(n) for n in range(1, 1001)]}).encode()
        self.send(gzip.compress(body), Content_Encoding="gzip")

    def route_gzip_members(self):
        """Two gzip members (RFC 1952, section 2.2), as of files that were joined."""
        self.send(gzip.compress(b'{"id": 1}\n') + gzip.compress(b'{"id": 2}\n'), kind="application/x-ndjson", Content_Encoding="gzip")

    def route_cut_gzip(self, framing):
        """A gzip body that ends at `bytes` of it (default: the half), though its framing is as it should be: in the first reply, or
        in each of them with `always`."""
        body = gzip.compress(json.dumps({"items": [user(n) for n in range(1, 1001)]}).encode())
        with LOCK:
            is_cut = "always" in self.query or self.path not in CUT
            CUT.add(self.path)
        if is_cut:
            body = body[:self.integer("bytes", len(body) // 2)]
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Encoding", "gzip")
        if framing == "length":
            self.send_header("Content-Length", str(len(body)))
        elif framing == "chunks":
            self.send_header("Transfer-Encoding", "chunked")
        else:
            self.send_header("Connection", "close")
            self.close_connection = True
        self.end_headers()
        if framing != "chunks":
            return self.wfile.write(body)
        # Sizes that split numbers and line ends over buffers.
        for start in range(0, len(body), 997):
            part = body[start:start + 997]
            self.wfile.write(b"%X;name=value\r\n" % len(part) + part + b"\r\n")
        self.wfile.write(b"0\r\nTrailer: 1\r\n\r\n")

    def route_bad_lines(self, word, count):
        """Lines of which every thousandth is a record, as fast as they can be sent."""
        lines = [json.dumps({"id": number}) if number % 1000 == 0 else word for number in range(int(count))]
        self.send(("\n".join(lines) + "\n").encode(), kind="application/x-ndjson")

    def route_coded_lines(self, coding, framing):
        """100 lines in a content coding that is flushed after each ten, of which the first `flushes` come, if given.

        With `pages`, X-Next-Cursor names the next page. With `outer`, all that comes is a whole gzip body. The framing `endless` is
        a length that no number of 64 bits can be; `packed` is chunks with the transfer coding gzip in place of the content
        coding, which is to be gzip.
        """
        page = self.integer("cursor", 0)
        lines = [b"".join(b'{"id": %d}\n' % (100 * page + n) for n in range(start, start + 10)) for start in range(1, 101, 10)]
        pieces = codings.packed(coding, lines)
        body = b"".join(pieces[:self.integer("flushes", len(pieces))])
        if "drop" in self.query:
            body = body[:-self.integer("drop", 0)]
        outer = "outer" in self.query
        if outer:
            body = gzip.compress(body)
        self.protocol_version = "HTTP/1.0" if framing == "old" else "HTTP/1.1"
        self.send_response(200)
        self.send_header("Content-Type", "application/x-ndjson")
        if coding != "identity" and framing != "packed":
            self.send_header("Content-Encoding", coding.removeprefix("raw-") + (", gzip" if outer else ""))
        if page + 1 < self.integer("pages", 1):
            self.send_header("X-Next-Cursor", str(page + 1))
        if framing == "length":
            self.send_header("Content-Length", str(len(body)))
        elif framing == "endless":
            self.send_header("Content-Length", "9" * 23)
            self.close_connection = True
        elif framing in ("chunks", "packed"):
            self.send_header("Transfer-Encoding", "gzip, chunked" if framing == "packed" else "chunked")
        else:
            self.close_connection = True
        self.end_headers()
        if framing not in ("chunks", "packed"):
            return self.wfile.write(body)
        parts = [body[start:start + 7] for start in range(0, len(body), 7)]
        self.wfile.write(b"".join(b"%X\r\n%b\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n")

    def route_bad_gzip(self):
        self.send(b"\x1f\x8b\x08\x00 this is not it", Content_Encoding="gzip")

    def route_bomb(self):
        """Many MiB of zeros, a thousandth of it on the wire."""
        size = self.integer("mib", 64)
        packer = zlib.compressobj(9, zlib.DEFLATED, 31)
        zeros = bytes(1 << 20)
        self.send(b"".join(packer.compress(zeros) for _ in range(size)) + packer.flush(), Content_Encoding="gzip")

    def route_bytes(self):
        size = self.integer("size", 1 << 20)
        self.send_response(200)
        self.send_header("Content-Length", str(size))
        self.end_headers()
        block = bytes(range(256)) * 256
        while size > 0:
            self.wfile.write(block[:size])
            size -= len(block)

    def route_redirect(self):
        to = self.query["to"]
        if to == "abroad":
            other = [port for port in PORTS if port != self.server.server_address[1]][0]
            to = f"http://127.0.0.1:{other}/echo"
        self.send(b"moved", int(self.query.get("status", 302)), "text/plain", Location=to)

    def route_hop(self, left):
        self.send(b"", 302, "text/plain", Location=f"/hop/{int(left) - 1}" if int(left) else "/echo")

    def route_slow(self):
        time.sleep(self.integer("seconds", 30))
        self.send({"items": []})

    def route_stall(self):
        """The head, half of a body, and silence."""
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        self.wfile.write(b"[" + b" " * 499)
        self.wfile.flush()
        time.sleep(self.integer("seconds", 30))

    def route_no_http(self):
        self.close_connection = True
        self.wfile.write(b"220 mail.example ESMTP ready\r\n")

    def route_many_headers(self):
        self.send_response(200)
        for number in range(self.integer("count", 2000)):
            self.send_header(f"X-{number}", "x" * 200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def route_vanish(self):
        self.close_connection = True
        self.connection.close()


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request, address):
        if os.environ.get("SERVER_TRACE"):
            super().handle_error(request, address)


def main():
    servers = [Server(("127.0.0.1", 0), Handler) for _ in range(2)]
    PORTS.extend(server.server_address[1] for server in servers)
    for server in servers:
        threading.Thread(target=server.serve_forever, daemon=True).start()
    print(*PORTS, flush=True)
    # Ends with whoever started it: its end of the pipe closes.
    sys.stdin.read()


if __name__ == "__main__":
    main()
