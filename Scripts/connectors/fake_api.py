"""fake_api.py FOLDER CONFIG BASE: a proxy that answers for all hosts from a connector's schemas.

Prints its port. /_state?generation=2&faults=1 sets what it answers; /_log returns the requests since the last call.
"""
import datetime
import http
import json
import pathlib
import re
import socketserver
import sys
import threading
import urllib.parse

import listings
import manifests

QUIET = {"user-agent", "accept", "accept-encoding", "accept-language", "connection", "content-length", "host",
         "proxy-connection", "content-type", "if-none-match"}


REFUSED = {"message": "ignored", "error": {"message": "ignored", "code": "ignored", "type": "ignored"}}


class API:
    def __init__(self, folder, config, base):
        self.base, self.generation, self.faults = base, 1, False
        self.log, self.tried, self.kept = [], {}, {}
        self.owners = {}  # where the objects with a prefix were listed
        self.lock = threading.Lock()
        path, manifest = manifests.load(folder)
        self.listings, self.logins = [], {}
        components = manifests.stream_components(manifest, config)
        for stream in components:
            try:
                self.listings.append(listings.Listing(stream, path.parent, config))
            except Exception as error:
                print(f"no listing for {stream.get('name')}: {error!r}", file=sys.stderr)
        self.mark_parents()
        self.find_logins(manifest)

    def mark_parents(self):
        def walk(part, keep):
            if isinstance(part, list):
                for element in part:
                    walk(element, keep)
            elif isinstance(part, dict):
                if "parent_key" in part and isinstance(part.get("stream"), dict):
                    keep(part)
                for value in part.values():
                    walk(value, keep)

        def mark(config):
            stream = config["stream"]
            for listing in self.listings:
                if listing.name == stream.get("name"):
                    listing.is_parent = True
                    key = config["parent_key"]
                    key = key if isinstance(key, str) else str(key)
                    path = key.split("/") if "/" in key else key.split(".")
                    is_list = "array" in str(listing.schema.get(path[0], {}).get("type"))
                    if path not in listing.parent_keys and "{" not in key and not is_list:
                        listing.parent_keys.append(path)

        for listing in list(self.listings):
            walk(listing.stream, mark)

    def find_logins(self, part):
        if isinstance(part, list):
            for element in part:
                self.find_logins(element)
        elif isinstance(part, dict):
            if "session_token_path" in part:
                path = part["session_token_path"]
                listings.put(self.logins, path if isinstance(path, list) else [path], "session-token")
            for value in part.values():
                self.find_logins(value)

    def match(self, method, url, sent):
        scored = [(l.score(method, url, sent), l) for l in self.listings]
        scored = [(score, l) for score, l in scored if score is not None]
        return max(scored, key=lambda pair: pair[0])[1] if scored else None

    def reply(self, method, full_url, headers, body):
        parts = urllib.parse.urlsplit(full_url)
        url = f"{parts.scheme}://{parts.netloc}{urllib.parse.unquote(parts.path)}"
        sent = {}
        for key, value in urllib.parse.parse_qsl(parts.query, keep_blank_values=True):
            sent[key] = f"{sent[key]},{value}" if key in sent else value
        query = dict(sent)
        data = None
        if body:
            try:
                data = json.loads(body)
            except ValueError:
                data = dict(urllib.parse.parse_qsl(body, keep_blank_values=True))
            sent.update(flat(data) if isinstance(data, dict) else {"_body": body})
        listing = self.match(method, url, sent)
        name = listing.name if listing else "-"
        names = {"paging": [n for n in (listing.token_name, "_page") if n], "bounds": [b[0] for b in listing.bounds]} if listing else {
            "paging": [], "bounds": []}
        self.log.append({**names, "stream": name, "method": method, "url": url, "query": query, "body": data, "headers": {
            k.lower(): v for k, v in headers.items() if k.lower() not in QUIET}})
        if listing is None:
            if method == "POST" or any(word in url for word in ("token", "login", "session", "auth")):
                return 200, {}, {"access_token": "issued-token", "token_type": "bearer", "expires_in": 86400,
                                 **self.logins}
            return 404, {}, {"error": "unknown path"}
        if 404 in listing.ignored_codes()[0] and not self.belong_together(url):
            return 404, {}, {"error": "no such object"}
        body, more, (identity, first) = listing.answer(url, full_url, sent, self)
        if self.faults:
            fault = self.fault(listing, identity, first)
            if fault:
                return fault
        return 200, more, body

    def belong_together(self, url):
        """Whether each object in a path is one of the object before it, where it was listed under one."""
        known = re.findall(r"[0-9a-f]{10}-\d+", url)
        for outer, inner in zip(known, known[1:]):
            listed = self.owners.get(inner[:10], "")
            if re.search(r"[0-9a-f]{10}-\d+", listed) and outer not in listed:
                return False
        return True

    def fault(self, listing, identity, first):
        ignored, own = listing.ignored_codes()
        place = int(listings.digest(identity)[:6], 16)
        if ignored and listing.is_child and place % 4 == 0:
            return ignored[place % len(ignored)], {}, REFUSED
        key = (identity, first)
        self.tried[key] = self.tried.get(key, 0) + 1
        if self.tried[key] > 1:
            return None
        if place % 5 == 1 and 429 not in own:
            return 429, {"Retry-After": "0"}, {"message": "slow down"}
        if place % 5 == 2 and 503 not in own:
            return 503, {"Retry-After": "0"}, {"message": "busy"}
        return None


def flat(data, prefix=""):
    out = {}
    for key, value in data.items():
        out[prefix + key] = value
        if isinstance(value, dict):
            out.update(flat(value, prefix + key + "."))
    return out


def serve(api):
    class Handler(socketserver.StreamRequestHandler):
        """HTTP/1.1 with Content-Length: http.server takes longer for a request than bmo does."""
        wbufsize = -1
        disable_nagle_algorithm = True

        def handle(self):
            while self.exchange():
                self.wfile.flush()

        def exchange(self):
            command, _, rest = self.rfile.readline().decode("latin-1").partition(" ")
            if not rest:
                return False
            self.command, self.path = command, rest.rpartition(" ")[0]
            self.headers = {}
            while (line := self.rfile.readline().decode("latin-1").strip()):
                name, _, value = line.partition(":")
                self.headers[name.strip().title()] = value.strip()
            if self.headers.get("Expect", "").lower() == "100-continue":
                self.wfile.write(b"HTTP/1.1 100 Continue\r\n\r\n")
                self.wfile.flush()
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
            self.send(*self.answer(body))
            return self.headers.get("Connection", "").lower() != "close"

        def answer(self, body):
            if self.path.startswith("/_state"):
                query = dict(urllib.parse.parse_qsl(self.path.partition("?")[2]))
                api.generation, api.faults = int(query["generation"]), query["faults"] == "1"
                api.tried, api.kept = {}, {}
                return 200, {}, b"{}"
            if self.path.startswith("/_log"):
                log, api.log = api.log, []
                return 200, {}, json.dumps(log).encode()
            with api.lock:
                key = (self.command, self.path, body)
                if not api.faults and key in api.kept:
                    entry, answer = api.kept[key]
                    api.log.append(entry)
                    return answer
                try:
                    status, headers, value = api.reply(self.command, self.path, self.headers, body)
                except Exception as error:
                    import traceback
                    traceback.print_exc()
                    status, headers, value = 500, {}, {"error": repr(error)}
                answer = status, headers, json.dumps(value).encode()
                api.kept[key] = api.log[-1], answer
            return answer

        def send(self, status, headers, body):
            fields = {"Content-Type": "application/json", "Content-Length": str(len(body)), **headers}
            lines = [f"HTTP/1.1 {status} {http.HTTPStatus(status).phrase}", *(f"{n}: {v}" for n, v in fields.items())]
            self.wfile.write("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + (b"" if self.command == "HEAD" else body))

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True
        # Python's 5 are fewer than the connections that a client may open at once: one that finds no room waits for a second.
        request_queue_size = 128

    server = Server(("127.0.0.1", 0), Handler)
    print(server.server_address[1], flush=True)
    server.serve_forever()


if __name__ == "__main__":
    folder, config, base = sys.argv[1:]
    serve(API(folder, json.loads(pathlib.Path(config).read_text()),
              datetime.datetime.fromisoformat(base)))
