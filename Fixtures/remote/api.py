#!/usr/bin/env python3
"""A small JSON API on 127.0.0.1: python3 api.py PORT STATE_FOLDER; it prints the port, which 0 leaves to it.

  /teams?page=N              three a page: {"items": [...], "pages": 3}
  /people?updated_since=T    {"people": [...]}; with T those that changed since
  /countries                 [...]
  /private/notes             wants a token of POST /token (OAuth client credentials), which is good for two requests
  /openapi.json              describes /teams
  /leak                      a record with a token in it that is nobody's
  /pin                       a record whose secret is a number
  /mixed                     four records, one of them without a key, one with a wrong type

STATE_FOLDER/second makes it the day after: somebody moved, somebody came, somebody left.
"""
import http.server
import json
import os
import secrets
import sys
import urllib.parse

PORT, STATE = int(sys.argv[1]), sys.argv[2]
TOKENS = {}
CLIENT = ("fixtures", os.environ.get("FIXTURE_CLIENT_SECRET", "not-set"))
CITIES = ["Lyon", "Oslo", "Porto", "Turin"]


def teams():
    return [{"id": n, "name": f"Team {n}", "city": CITIES[n % 4]} for n in range(1, 9)]


def people():
    rows = [
        {"id": n, "name": f"Person {n}", "updated_at": f"2024-03-0{n}T10:00:00Z",
         "team": {"id": n, "name": f"Team {n}"}, "tags": [{"id": t} for t in ["red", "blue"][: n % 3]]}
        for n in range(1, 6)
    ]
    if os.path.exists(os.path.join(STATE, "second")):
        rows[1] |= {"name": "Person Two", "updated_at": "2024-03-09T08:00:00Z"}
        rows.append({"id": 6, "name": "Person 6", "updated_at": "2024-03-09T09:00:00Z", "team": None, "tags": []})
    return rows


COUNTRIES = [
    {"code": "CH", "name": "Switzerland", "currencies": ["CHF"]},
    {"code": "LI", "name": "Liechtenstein", "currencies": ["CHF"]},
    {"code": "LU", "name": "Luxembourg", "currencies": ["EUR"]},
]
OPENAPI = {
    "openapi": "3.0.3", "info": {"title": "Teams", "version": "1"},
    "paths": {"/teams": {"get": {
        "parameters": [{"name": "page", "in": "query", "schema": {"type": "integer"}}],
        "responses": {"200": {"description": "teams", "content": {"application/json": {"schema": {
            "type": "object", "properties": {
                "pages": {"type": "integer"},
                "items": {"type": "array", "items": {"type": "object", "required": ["id"], "properties": {
                    "id": {"type": "integer"}, "name": {"type": "string"}, "city": {"type": "string"}}}}}}}}}}}}},
}
MIXED = [{"id": 1, "size": 5}, {"size": 6}, {"id": 3, "size": "large"}, {"id": 4, "size": None}]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, value, **headers):
        body = json.dumps(value, ensure_ascii=False).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        for name, text in headers.items():
            self.send_header(name.replace("_", "-"), text)
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        form = urllib.parse.parse_qs(self.rfile.read(int(self.headers.get("Content-Length", 0))).decode())
        if self.path != "/token" or self.client(form) != CLIENT:
            return self.answer(401, {"error": "invalid_client"})
        token = secrets.token_urlsafe(24)
        TOKENS[token] = 2
        self.answer(200, {"access_token": token, "token_type": "Bearer", "expires_in": 3600})

    def client(self, form):
        if (basic := self.headers.get("Authorization", "")).startswith("Basic "):
            import base64
            user, _, password = base64.b64decode(basic[6:]).decode().partition(":")
            return urllib.parse.unquote(user), urllib.parse.unquote(password)
        return form.get("client_id", [""])[0], form.get("client_secret", [""])[0]

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(url.query))
        page = int(query.get("page", 1))
        if url.path == "/teams":
            return self.answer(200, {"items": teams()[3 * page - 3 : 3 * page], "page": page, "pages": 3})
        if url.path == "/people":
            since = query.get("updated_since", "")
            return self.answer(200, {"people": [row for row in people() if row["updated_at"] > since]})
        if url.path == "/countries":
            return self.answer(200, COUNTRIES)
        if url.path == "/openapi.json":
            return self.answer(200, OPENAPI)
        if url.path == "/leak":
            # Nobody's: the sample of RFC 7519, section 3.1, in short.
            return self.answer(200, [{"id": 1, "hello": "eyJ0eXAiOiJKV1QiLA." + "eyJpc3MiOiJqb2UiLA.dBjftJeZ4CVP"}])
        if url.path == "/pin":
            return self.answer(200, [{"id": 1, "secret": 12345678}])
        if url.path == "/mixed":
            return self.answer(200, MIXED)
        if url.path == "/private/notes":
            token = self.headers.get("Authorization", "")[len("Bearer ") :]
            if TOKENS.get(token, 0) < 1:
                return self.answer(401, {"error": "expired"}, WWW_Authenticate='Bearer error="invalid_token"')
            TOKENS[token] -= 1
            notes = [{"id": 2 * page - 1, "text": f"Note {2 * page - 1}"}, {"id": 2 * page, "text": f"Note {2 * page}"}]
            following = f"/private/notes?page={page + 1}" if page < 3 else None
            return self.answer(200, {"items": notes, "next": following})
        self.answer(404, {"error": f"there is no {url.path}"})


server = http.server.ThreadingHTTPServer(("127.0.0.1", PORT), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
