"""Replies whose heads are unusual, and a proxy.

The path selects the reply; see `answer`. As a proxy, it answers CONNECT with the status in the host's name: s407.invalid. What
follows a CONNECT that it accepts is the end of the connection.
"""
import json
import socketserver
import sys
import threading
import time
import urllib.parse


def head(status, *fields):
    return "\r\n".join([f"HTTP/1.1 {status} Odd", *fields, "", ""]).encode()


def reply(body, *fields, status=200):
    body = body.encode()
    return head(status, f"Content-Length: {len(body)}", *fields) + body


LOGINS = {
    "twice": reply("{}", "Set-Cookie: SID=old; Path=/", "Set-Cookie: SID=new; Path=/"),
    "ended": reply(
        "{}", "Set-Cookie: tmp=; Max-Age=0", "Set-Cookie: a=b; Expires=Thu, 01 Jan 1970 00:00:00 GMT",
        "Set-Cookie: SID=new; Max-Age=60"),
    "found": reply("", "Location: /home", "Set-Cookie: SID=new; Path=/", status=302),
    "seen": reply("", "Location: /session", "Set-Cookie: SID=new; Path=/", status=303),
    "led": reply("", "Location: /login/twice", status=303),
    "both": reply("", "Location: /login/twice", "Set-Cookie: csrf=abc", "Set-Cookie: SID=first", status=303),
    "absent": reply("", "Location: /absent", "Set-Cookie: SID=new; Path=/", status=303),
    "refused": reply("", "Location: /login/twice", status=302),
    "refused-page": reply("", "Location: /home", status=303),
}
TOKENS = {
    "mark": reply('\ufeff{"access_token": "t0k3n\\n"}', "Content-Type: application/json"),
    "form": reply("access_token=t0k3n", "Content-Type: application/x-www-form-urlencoded"),
    "break": reply(json.dumps({"access_token": "t0k3n\r\nX-Evil: 1"})),
    "zero": reply(json.dumps({"access_token": "t0k3n\0"})),
}


def answer(path, query, fields, send):
    """Sends the reply to a path."""
    kind, _, name = path.strip("/").partition("/")
    pause = float(query.get("pause", 0))
    if kind == "folded":
        link = '</folded?page=1>; rel="first",\r\n </folded?page=2>;\r\n\trel="next"'
        send(head(200, "Content-Length: 2", f"Link: {link}", "X-Last:", " a:", "\tb") + b"[]")
    elif kind == "hints":
        send(head(103, "Link: </style.css>; rel=preload"))
        time.sleep(pause)
        send(reply("[]"))
    elif kind == "digest":
        if "authorization" not in fields:
            return send(reply("", 'WWW-Authenticate: Digest realm="r", nonce="n0nce", qop="auth"', status=401))
        time.sleep(pause)
        send(reply("[]"))
    elif kind == "coded":
        send(reply("[]", f"Content-Encoding: {query['coding']}"))
    elif kind == "nowhere":
        send(reply("", "Location:", status=302))
    elif kind == "login" and name == "abroad":
        port = fields["host"].split(":")[1]
        send(reply("", f"Location: http://localhost:{port}/session", "Set-Cookie: SID=new; Path=/", status=303))
    elif kind == "session":
        send(reply("{}", *([] if "cookie" in fields else ["Set-Cookie: SID=other"])))
    elif kind == "absent":
        send(reply("", status=404))
    elif kind == "login":
        send(LOGINS[name])
    elif kind == "token":
        send(TOKENS[name])
    else:
        send(reply(fields.get("cookie", "") + fields.get("authorization", "")))


class Handler(socketserver.StreamRequestHandler):
    def handle(self):
        while line := self.rfile.readline():
            method, target, _ = line.decode().split()
            fields = {}
            while line := self.rfile.readline().strip():
                name, value = line.decode().split(":", 1)
                fields[name.lower()] = value.strip()
            self.rfile.read(int(fields.get("content-length", 0)))
            if method == "CONNECT":
                status = int(target[1:4])
                return self.wfile.write(head(status, *([] if status == 200 else ["Content-Length: 0"])))
            url = urllib.parse.urlsplit(target)
            answer(url.path, dict(urllib.parse.parse_qsl(url.query)), fields, self.wfile.write)


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request, address): pass


server = Server(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
print("port", server.server_address[1], flush=True)
# Ends with the process that started it: its end of the pipe closes.
sys.stdin.read()
