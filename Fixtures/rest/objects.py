#!/usr/bin/env python3
"""A JSON API whose objects can be created, updated and deleted, in the styles that APIs have, on two free ports.

Prints both ports on one line when it is ready. The first part of a path names the style, the second the collection:
plain, location, wrapped, client, patch, once, slow, drop, droponce, lose, forget, refuse, busy, gateway, redirect, limbo, absent, mute, own, brief, slash, mutate, blind, twice, late, deaf, negative, abroad, resources. Each request is a line of JSON in the file of the
first argument. /openapi.json and /openapi.yaml describe /plain. POST /STYLE/hold makes listings wait, with what they have at that moment, until
POST /STYLE/release; such a one is a line HELD.
"""
import hashlib
import http.server
import json
import socketserver
import sys
import threading
import time
import urllib.parse
import uuid

LOG = open(sys.argv[1], "a", buffering=1) if len(sys.argv) > 1 else None
LOCK = threading.Lock()
PORTS = []
STORE = {}
KEYS = {}
MET = set()
LET_GO = threading.Event()
LET_GO.set()

PEOPLE = [
    {
        "id": n, "login": f"p{n}", "name": f"Person {n}", "joined": f"2026-01-{n % 28 + 1:02d}T10:00:00Z",
        "born": f"19{n % 90 + 10:02d}-03-04", "token": f"7b0d4a8e-0000-4000-8000-{n:012d}", "home": f"https://example.org/{n}",
        "balance": f"{n}.50", "score": n / 4, "active": n % 2 == 0, "seen": 1700000000 + n, "address": {"city": "Lyon", "zip": "69001"},
        "tags": ["a", "b"], "nick": None if n % 3 else "",
    }
    for n in range(1, 31)
]
DOCUMENT = {
    "openapi": "3.0.3",
    "info": {"title": "Notes API", "version": "1"},
    "servers": [{"url": "/plain"}],
    "security": [{"token": []}],
    "paths": {
        "/people": {
            "get": {
                "summary": "Lists people",
                "parameters": [
                    {"name": "page", "in": "query", "schema": {"type": "integer", "default": 1}},
                    {"name": "per_page", "in": "query", "schema": {"type": "integer", "maximum": 10}},
                ],
                "responses": {"200": {"content": {"application/json": {"schema": {
                    "type": "object", "properties": {
                        "data": {"type": "array", "items": {"$ref": "#/components/schemas/Person"}},
                        "total": {"type": "integer"}}}}}}},
            },
        },
        "/notes": {
            "get": {
                "parameters": [{"name": "updated_since", "in": "query", "schema": {"type": "string"}}],
                "responses": {"200": {"content": {"application/json": {"schema": {
                    "type": "array", "items": {"$ref": "#/components/schemas/Note"}}}}}}},
            "post": {
                "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Note"}}}},
                "responses": {"201": {}}},
        },
        "/notes/{id}": {"patch": {"responses": {"200": {}}}, "delete": {"responses": {"204": {}}}},
        "/people/{id}/notes": {
            "get": {"responses": {"200": {"content": {"application/json": {"schema": {
                "type": "array", "items": {"$ref": "#/components/schemas/Remark"}}}}}}}},
    },
    "components": {
        "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        "schemas": {
            "Base": {"type": "object", "required": ["id"], "properties": {"id": {"type": "integer", "format": "int64"}}},
            "Person": {"allOf": [{"$ref": "#/components/schemas/Base"}, {"type": "object", "properties": {
                "login": {"type": "string"}, "name": {"type": "string"}, "joined": {"type": "string", "format": "date-time"},
                "born": {"type": "string", "format": "date"}, "token": {"type": "string", "format": "uuid"},
                "home": {"type": "string", "format": "uri"}, "balance": {"type": "string", "format": "decimal"},
                "score": {"type": "number"}, "active": {"type": "boolean"}, "seen": {"type": "integer", "format": "unix-time"},
                "address": {"type": "object", "properties": {"city": {"type": "string"}, "zip": {"type": "string"}}},
                "tags": {"type": "array", "items": {"type": "string"}},
                "password": {"type": "string", "writeOnly": True}}}]},
            "Note": {"type": "object", "required": ["id"], "properties": {
                "id": {"type": "integer"}, "text": {"type": "string"},
                "person": {"$ref": "#/components/schemas/Person"},
                "updated_at": {"type": "string", "format": "date-time"}}},
            "Remark": {"type": "object", "properties": {"id": {"type": "integer"}, "text": {"type": "string"}}},
        },
    },
}


def etag(value):
    return '"' + hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:12] + '"'


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def log_message(self, *arguments):
        pass

    def handle_one_request(self):
        try:
            super().handle_one_request()
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def send(self, value=None, status=200, **headers):
        body = b"" if value is None else value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send_response(status)
        if value is not None:
            self.send_header("Content-Type", "application/json")
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        for name, text in headers.items():
            self.send_header(name.replace("_", "-"), text)
        self.end_headers()
        if status != 204:
            self.wfile.write(body)

    def log_event(self, event, path):
        if LOG:
            LOG.write(json.dumps({
                "event": event, "time": time.monotonic(), "path": path,
                "origin": PORTS.index(self.server.server_address[1]),
                "headers": {k.lower(): v for k, v in self.headers.items()}, "client": self.client_address[1]}) + "\n")

    def handle_any(self):
        url = urllib.parse.urlsplit(self.path)
        self.query = {k: v[0] for k, v in urllib.parse.parse_qs(url.query).items()}
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        with LOCK:
            self.log_event(self.command, self.path + "\n" + raw.decode())
        if url.path == "/openapi.json":
            return self.send(DOCUMENT)
        parts = [urllib.parse.unquote(part) for part in url.path.strip("/").split("/")]
        style, collection, rest = parts[0], parts[1] if len(parts) > 1 else "", parts[2:]
        if collection == "people" and not rest:
            page, size = int(self.query.get("page", 1)), int(self.query.get("per_page", 10))
            return self.send({"data": PEOPLE[(page - 1) * size:page * size], "total": len(PEOPLE), "page": page})
        if collection == "people" and rest[1:] == ["notes"]:
            return self.send([{"id": int(rest[0]) * 10 + n, "text": f"remark {n}"} for n in range(2)])
        if collection in ("hold", "release"):
            if collection == "hold":
                LET_GO.clear()
            else:
                LET_GO.set()
            return self.send(None, 204)
        notes = STORE.setdefault((style, collection), {})
        kind = self.headers.get("Content-Type", "")
        value = None
        if raw and "json" in kind:
            value = json.loads(raw)
        elif raw and "form" in kind:
            value = dict(urllib.parse.parse_qsl(raw.decode(), keep_blank_values=True))
        if style == "mutate" and self.command == "POST":
            with LOCK:
                return self.mutate(notes, value["variables"]["input"])
        if style == "redirect":
            return self.send(None, 302, Location=f"/plain/{collection}")
        if style == "slash" and not url.path.endswith("/"):
            return self.send(None, 301, Location=f"{url.path}/")
        if style == "busy":
            return self.send({"error": "busy"}, 503, Retry_After="1")
        if style == "gateway":
            return self.send({"error": "no answer from behind"}, 504)
        if style == "limbo" and self.command == "POST" and "Idempotency-Key" in self.headers:
            return self.send({"error": "no answer from behind"}, 504)
        if style == "absent" and self.command == "PATCH":
            return self.send({"error": "no such note"}, 404)
        if style == "refuse":
            return self.send({"error": "text must not be empty"}, 422)
        lost = {"lose": "POST", "forget": "PATCH"}.get(style)
        if self.command == lost and self.is_first(style, collection):
            self.close_connection = True
            return None
        if style == "late" and self.command == "POST":
            time.sleep(2)
        with LOCK:
            answer = self.change(style, collection, notes, rest, value)
            is_held = self.command == "GET" and not rest and not LET_GO.is_set()
            if is_held:
                answer = (json.dumps(answer[0]).encode(), answer[1])
                self.log_event("HELD", self.path)
        if is_held:
            LET_GO.wait(60)
        if style == "slow" and self.command == "POST":
            time.sleep(1.5)
        if style == "drop" and self.command == "POST" or (
                style == "droponce" and self.command != "GET" and self.is_first(style, collection, self.command)):
            self.close_connection = True
            return None
        return self.send(*answer[:2], **(answer[2] if len(answer) > 2 else {}))

    def mutate(self, notes, value):
        """GraphQL: the note is made, whatever `reply` says of it; but for THROTTLED and gone."""
        kind, number = self.query.get("reply", ""), len(notes) + 1
        if kind == "gone":
            return self.send({"error": "no such path"}, 404)
        if kind != "THROTTLED":
            notes[number] = dict(value, id=number)
        reply = {"data": {"create": notes.get(number)}}
        if kind == "null":
            pad = "x" * int(self.query["pad"])
            reply = {"data": {"create": None}, "said": pad + self.headers["Authorization"].split()[1]}
        elif kind == "page":
            reply = b"<html><title>a proxy</title></html>"
        elif kind == "broken":
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.write(json.dumps(reply).encode())
            self.close_connection = True
            return None
        elif kind:
            reply = {"data": reply["data"] if kind == "PARTIAL" else None,
                     "errors": [{"message": "it went wrong", "extensions": {"code": kind}}]}
        return self.send(b"" if kind == "empty" else reply)

    def is_first(self, *names):
        with LOCK:
            if names in MET:
                return False
            MET.add(names)
            return True

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_any

    def change(self, style, collection, notes, rest, value):
        if style == "resources" and self.command in ("POST", "PATCH"):
            value = value["data"]
            value = dict(value, id=value.get("id") or str(len(notes) + 1))
            if self.command == "PATCH":
                old = notes[rest[0]]
                value = dict(old, **{part: dict(old.get(part, {}), **value.get(part, {}))
                                     for part in ("attributes", "relationships")})
            notes[value["id"]] = value
            return {"data": value}, 200
        if style == "resources" and self.command == "GET":
            return {"data": notes[rest[0]] if rest else list(notes.values())}, 200
        if style == "wrapped" and value is not None:
            if not isinstance(value.get("note"), dict):
                return {"error": "note is missing"}, 422
            value = value["note"]

        def represent(note):
            return {"note": note} if style == "wrapped" else note

        if not rest:
            if self.command == "GET":
                return list(notes.values()), 200
            if self.command != "POST":
                return {"error": "method"}, 405
            key = self.headers.get("Idempotency-Key")
            if key and (style, key) in KEYS:
                return represent(notes[KEYS[(style, key)]]), 200
            number = value.get("id") or (len(notes) + 1) * (-1 if style == "negative" else 1)
            if style == "own":
                if "id" in value and "strict" in self.query:
                    return {"error": "id: extra fields are not permitted"}, 422
                number = str(uuid.uuid4())
            if number in notes:
                return {"error": f"there is a note {number}"}, 409
            notes[number] = dict(value, id=number)
            if key:
                KEYS[(style, key)] = number
            if style == "mute":
                notes[number]["text"] = notes[number]["text"].upper()
                return {}, 200
            if style == "twice":
                return {"error": f"there is a note {number}"}, 409
            if style == "keyed":
                return {"noteID": number}, 200
            if style == "location":
                return None, 201, {"Location": f"/location/{collection}/{number}", "ETag": etag(notes[number])}
            if style == "abroad":
                # At the other port, with the query of the request, which may have a key.
                port = next(port for port in PORTS if port != self.server.server_address[1])
                query = urllib.parse.urlsplit(self.path).query
                return None, 201, {"Location": f"http://127.0.0.1:{port}/{style}/{collection}/{number}?{query}"}
            return represent(notes[number]), 201, {"ETag": etag(notes[number])}
        number = int(rest[0]) if rest[0].removeprefix("-").isdigit() else rest[0]
        note = notes.get(number)
        if note is None:
            if style == "client" and self.command in ("PUT", "PATCH"):
                notes[number] = dict(value, id=number)
                return None, 201
            return {"error": "no such note"}, 404
        if "If-Match" in self.headers and self.headers["If-Match"] != etag(note):
            return {"error": "it was changed by somebody else"}, 412
        if self.command == "GET" and style == "blind" and "view" not in self.query:
            return {"error": "method"}, 405
        if self.command == "GET":
            shown = {"id": number, "attributes": note} if style == "brief" else represent(note)
            return shown, 200, {"ETag": etag(note)}
        if self.command == "DELETE":
            del notes[number]
            return None, 204
        if self.command == "PUT":
            notes[number] = dict(value, id=number)
        elif self.headers.get("Content-Type") == "application/json-patch+json":
            for step in value:
                target = note
                *path, last = step["path"].lstrip("/").split("/")
                for part in path:
                    target = target[part]
                target[last.replace("~1", "/").replace("~0", "~")] = step["value"]
        else:
            # A deaf remote keeps its text, and does not say so.
            note.update({name: value[name] for name in value if style != "deaf" or name != "text"})
        return represent(notes[number]), 200, {"ETag": etag(notes[number])}


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, address):
        pass


def main():
    servers = [Server(("127.0.0.1", 0), Handler) for _ in range(2)]
    PORTS.extend(server.server_address[1] for server in servers)
    for server in servers:
        threading.Thread(target=server.serve_forever, daemon=True).start()
    print(*PORTS, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
