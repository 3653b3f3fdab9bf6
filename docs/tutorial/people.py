#!/usr/bin/env python3
"""people.py PORT: an API of people and teams to try bmo with. It keeps them in memory and listens on 127.0.0.1."""

import http.server
import json
import sys

TABLES = {
    "teams": {1: {"id": 1, "name": "Crew"}, 2: {"id": 2, "name": "Ground"}},
    "people": {
        1: {"id": 1, "name": "Ada", "mail": "ada@example.org", "team": {"id": 1}},
        2: {"id": 2, "name": "Grace", "mail": "grace@example.org", "team": {"id": 1}},
        3: {"id": 3, "name": "Margaret", "mail": "margaret@example.org", "team": {"id": 2}},
    },
}


class API(http.server.BaseHTTPRequestHandler):
    """GET /people and /teams list; GET, PATCH and DELETE /people/ID; POST /people."""

    def answer(self, status, value=None):
        content = b"" if value is None else json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def serve(self):
        _, name, *rest = self.path.split("?")[0].split("/")
        table = TABLES.get(name, {})
        number = int(rest[0]) if rest and rest[0].isdigit() else None
        if name not in TABLES or (rest and number not in table):
            return self.answer(404, {"error": "not found"})
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.command == "POST":
            number = max(table) + 1
            table[number] = {**json.loads(body), "id": number}
            return self.answer(201, table[number])
        if self.command == "DELETE":
            del table[number]
            return self.answer(204)
        if self.command == "PATCH":
            table[number].update(json.loads(body))
        return self.answer(200, table[number] if rest else list(table.values()))

    do_GET = do_POST = do_PATCH = do_DELETE = serve

    def log_message(self, *arguments):
        pass


if __name__ == "__main__":
    http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), API).serve_forever()
