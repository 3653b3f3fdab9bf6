#!/usr/bin/env python3
"""A REST server on 127.0.0.1 that is well for a few seconds and then fails in another way: python3 flapping.py [SEED]

It prints its port. Scripts/soak keeps `bmo watch` at it for hours.

  GET /items?page=N        100 of 1,000 items a page: {"items": [...], "pages": 10}
  PATCH /items/KEY         merges the members of a JSON object into the item
  GET /control/truth       all items as they are, whatever the server's mood
  GET /control/moods       how many requests met each mood
  POST /control/calm       ends the moods: every request from now on succeeds

While it is well, it changes, adds and removes items of its own with each listing.
"""
import http.server
import json
import random
import sys
import threading
import time
import urllib.parse

MOODS = ["well", "error", "well", "hang_up", "well", "truncated", "well", "throttled", "well", "not_json", "well",
         "slow", "well", "empty", "well", "refused_token"]
MOOD_SECONDS = 3
PAGE = 100

state = random.Random(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
lock = threading.Lock()
items = {key: {"id": key, "name": f"item {key}", "note": None, "count": 0} for key in range(1, 1001)}
next_key = 1001
calm = False
met = {}
began = time.monotonic()


def mood():
    with lock:
        name = "well" if calm else MOODS[int((time.monotonic() - began) / MOOD_SECONDS) % len(MOODS)]
        met[name] = met.get(name, 0) + 1
        return name


def live():
    """What other clients of the server do meanwhile: 10 changes, an addition and a removal."""
    global next_key
    keys = list(items)
    for key in state.sample(keys, 10):
        items[key]["count"] += 1
    del items[state.choice(keys)]
    items[next_key] = {"id": next_key, "name": f"item {next_key}", "note": None, "count": 0}
    next_key += 1


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body, headers=()):
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def misbehave(self):
        """Answers as the mood wants; false where the request is to be served."""
        name = mood()
        if name == "well":
            return False
        if name == "error":
            self.answer(503, b'{"error": "flapping"}')
        elif name == "hang_up":
            self.close_connection = True
        elif name == "truncated":
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", "100000")
            self.end_headers()
            self.wfile.write(b'{"items": [{"id": 1, "name": "cut')
            self.close_connection = True
        elif name == "throttled":
            self.answer(429, b"{}", [("Retry-After", "1")])
        elif name == "not_json":
            self.answer(200, b"<html><body>Please come back later</body></html>")
        elif name == "slow":
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", "1000")
            self.end_headers()
            for _ in range(20):
                self.wfile.write(b" ")
                time.sleep(0.1)
            self.close_connection = True
        elif name == "empty":
            self.answer(200, b'{"items": [], "pages": 1}')
        elif name == "refused_token":
            self.answer(401, b'{"error": "expired"}')
        return True

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        if url.path == "/control/truth":
            with lock:
                return self.answer(200, json.dumps(list(items.values())).encode())
        if url.path == "/control/moods":
            with lock:
                return self.answer(200, json.dumps(met).encode())
        if self.misbehave():
            return None
        page = int(urllib.parse.parse_qs(url.query).get("page", ["1"])[0])
        with lock:
            if page == 1 and not calm:
                live()
            rows = sorted(items.values(), key=lambda item: item["id"])
            body = {"items": rows[(page - 1) * PAGE:page * PAGE], "pages": (len(rows) + PAGE - 1) // PAGE}
            return self.answer(200, json.dumps(body).encode())

    def do_POST(self):
        global calm
        with lock:
            calm = True
        self.answer(200, b"{}")

    def do_PATCH(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.misbehave():
            return None
        with lock:
            item = items.get(int(self.path.rsplit("/", 1)[1]))
            if item is None:
                return self.answer(404, b"{}")
            item |= json.loads(body)
            return self.answer(200, json.dumps(item).encode())


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        # A client that went away; the server goes on.
        pass


server = Server(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
