"""A server that echoes the secrets it gets in every failure, packs bombs, and drips."""

import base64
import gzip
import http.server
import json
import socketserver
import sys
import threading
import time
import urllib.parse

TOKEN = "issued-token-9Qw7zXk2LmTr"
SESSION = "issued-session-4VbN8hJs6Y"
# The tokens that clients signed themselves.
SIGNED = set()


def forms(secret):
    """A secret as texts spell it."""
    return {
        "plain": secret, "base64": base64.b64encode(secret.encode()).decode(),
        "percent": "".join(f"%{byte:02X}" for byte in secret.encode()),
    }


def secrets(request, query):
    """What the request was authenticated with, as it stands in the request."""
    found = [value for name, value in query.items() if "key" in name]
    for name, value in request.headers.items():
        if name.lower() == "authorization":
            word = value.split(" ", 1)[-1]
            if word.count(".") == 2 and word.startswith("ey"):
                SIGNED.add(word)
            found.append(base64.b64decode(word).decode().split(":", 1)[1] if value.startswith("Basic") else word)
        elif name.lower() in ("x-api-key", "x-secret", "x-session"):
            found.append(value)
        elif name.lower() == "cookie":
            found.append(value.split("=", 1)[1])
    return found or ["none"]


def broken(before):
    """A text whose fault stands so many bytes behind the secret's beginning."""
    return lambda s: ('{"items": [{"id": 1, "name": "' + s[:before] + '"' + s[before:] + '"}]}', "application/json", 200)


def status(code, kind="text/plain"):
    return lambda s: (f"refused: {s} is no key, says the server", kind, code)


def long(pad, kind="text/plain", code=400):
    return lambda s: ("x" * pad + s + " and more", kind, code)


FAILURES = {
    **{f"broken-{n}": broken(n) for n in (1, 5, 12, 20)},
    **{f"status-{n}": status(n) for n in (400, 403, 404, 409, 422, 501)},
    # The cut of the remote's words goes through it.
    **{f"long-{n}": long(n) for n in (278, 290, 298, 16370, 32760)},
    "page": lambda s: (f"<html><title>Key {s} is bad</title></html>", "text/html", 200),
    "page-long": lambda s: ("<html><title>" + "t" * 285 + s + "</title></html>", "text/html", 403),
    "record": lambda s: (json.dumps({"items": [{"id": {"is": s}, "name": "n"}, {"id": 2, "name": "ok"}]}), "application/json", 200),
    "record-cut": lambda s: ('{"items": ["' + "y" * 3985 + s + '", {"id": 2, "name": "ok"}]}', "application/json", 200),
    "field": lambda s: (json.dumps({"items": [{"id": 1, "name": "n", "f" + s: 1}]}), "application/json", 200),
    "disguised": lambda s: (json.dumps({"error": {"code": 7, "message": f"bad key {s}"}}), "application/json", 200),
    "disguised-long": lambda s: (json.dumps({"error": {"code": 7, "message": "m" * 290 + s}}), "application/json", 200),
    "line": lambda s: ('{"id": 1, "name": "a"}\n{"id": 2, "name": ' + s + '\n{"id": 3, "name": "c"}\n', "application/x-ndjson", 200),
    "line-cut": lambda s: ('{"id": 1, "name": "a"}\n{"id": 2, "name": ' + "z" * 3975 + s + '\n', "application/x-ndjson", 200),
    "next": lambda s: (json.dumps({"items": [{"id": 1, "name": "n"}], "next": f"http://127.0.0.1:1/x?q={s}"}), "application/json", 200),
}

MIB = 1 << 20


def shapes(size):
    """The text of one reply each, as pieces."""
    def repeated(before, unit, after):
        block = unit * (MIB // len(unit))
        return [before] + [block] * (size // MIB) + [after]

    def names():
        yield b'{"items": [{"id": 1'
        for start in range(0, size // 13, 50_000):
            yield b"".join(b',"k%08d":1' % n for n in range(start, start + 50_000))
        yield b"}]}"

    return {
        "numbers": lambda: repeated(b'{"items": [{"id": 1, "n": [1', b",1", b"]}]}"),
        "nested": lambda: repeated(b'{"items": [{"id": 1, "n": [[]', b",[[[[[]]]]]", b"]}]}"),
        "deep": lambda: repeated(b'{"items": [{"id": 1, "n": ', b"[", b""),
        "names": names,
        "objects": lambda: repeated(b'{"items": [{"id": 1}', b",{}", b"]}"),
        "members": lambda: repeated(b'{"items": [{"id": 1, "n": [{}', b',{"a":1}', b"]}]}"),
        "rows": lambda: repeated(b'{"items": [{"id": 1}', b',{"id":1}', b"]}"),
        "spaces": lambda: repeated(b'{"items": [{"id": 1}', b" ", b"]}"),
        "text": lambda: repeated(b'{"items": [{"id": 1, "n": "', b"x", b'"}]}'),
        "root": lambda: repeated(b"[", b"[],", b"[]]"),
    }


# A service whose one operation lists items, and envelopes of it.
WSDL = """<definitions name="B" targetNamespace="urn:bombs" xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:t="urn:bombs"
    xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/">
  <types><xs:schema targetNamespace="urn:bombs" elementFormDefault="qualified">
    <xs:element name="List"><xs:complexType><xs:sequence/></xs:complexType></xs:element>
    <xs:element name="ListResponse"><xs:complexType><xs:sequence>
      <xs:element name="item" type="t:Item" minOccurs="0" maxOccurs="unbounded"/>
    </xs:sequence></xs:complexType></xs:element>
    <xs:complexType name="Item"><xs:sequence>
      <xs:element name="id" type="xs:int" minOccurs="0"/>
      <xs:element name="n" type="xs:string" minOccurs="0" maxOccurs="unbounded"/>
      <xs:any minOccurs="0" maxOccurs="unbounded" processContents="lax"/>
    </xs:sequence></xs:complexType>
  </xs:schema></types>
  <message name="In"><part name="parameters" element="t:List"/></message>
  <message name="Out"><part name="parameters" element="t:ListResponse"/></message>
  <portType name="P"><operation name="List"><input message="t:In"/><output message="t:Out"/></operation></portType>
  <binding name="B" type="t:P"><soap:binding transport="http://schemas.xmlsoap.org/soap/http"/>
    <operation name="List"><soap:operation soapAction="urn:bombs/List"/>
      <input><soap:body use="literal"/></input><output><soap:body use="literal"/></output></operation></binding>
  <service name="S"><port name="P" binding="t:B"><soap:address location="ADDRESS"/></port></service>
</definitions>"""
ENVELOPE = b'<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/" xmlns="urn:bombs">'
LISTING, LISTING_END = ENVELOPE + b"<e:Body><ListResponse>", b"</ListResponse></e:Body></e:Envelope>"
ITEM, ITEM_END = LISTING + b"<item><id>1</id>", b"</item>" + LISTING_END


def envelopes(size):
    """The text of one envelope each, as pieces."""
    def repeated(before, unit, after):
        block = unit * (MIB // len(unit))
        return [before] + [block] * (size // MIB) + [after]

    def counted(before, form, after, step):
        yield before
        for start in range(0, size // step, 50_000):
            yield b"".join(form % n for n in range(start, start + 50_000))
        yield after

    return {
        "rows": lambda: repeated(LISTING, b"<item><id>1</id></item>", LISTING_END),
        "bad": lambda: repeated(LISTING, b"<item/>", LISTING_END),
        "children": lambda: repeated(ITEM, b"<a/>", ITEM_END),
        "values": lambda: repeated(ITEM, b"<n/>", ITEM_END),
        "names": lambda: counted(ITEM, b"<a%d/>", ITEM_END, 11),
        "attributes": lambda: counted(LISTING + b"<item", b" a%d=''", b"/>" + LISTING_END, 11),
        "namespaces": lambda: counted(LISTING + b"<item", b" xmlns:a%d='u'", b"/>" + LISTING_END, 17),
        "deep": lambda: repeated(ITEM, b"<a>", ITEM_END),
        "text": lambda: repeated(ITEM + b"<n>", b"x", b"</n>" + ITEM_END),
        "references": lambda: repeated(ITEM + b"<n>", b"&#65;", b"</n>" + ITEM_END),
        "spaces": lambda: repeated(LISTING, b" ", LISTING_END),
        "comments": lambda: repeated(LISTING, b"<!---->", LISTING_END),
        # Packs to less than a hundredth; no piece of it grows so much that it is refused by itself.
        "padded": lambda: [LISTING] + [
            b"".join(b"<!--%08d" % n + b"x" * 1500 + b"-->" for n in range(start, start + 1000))
            for start in range(0, size // 1515, 1000)] + [LISTING_END],
        "header": lambda: repeated(ENVELOPE + b"<e:Header>", b"<a/>", b"</e:Header><e:Body/></e:Envelope>"),
        "before": lambda: repeated(LISTING, b"<a/>", LISTING_END),
    }


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def send(self, body, kind="application/json", status=200, **headers):
        body = body if isinstance(body, bytes) else body.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(url.query))
        parts = url.path.strip("/").split("/")
        if self.headers.get("Content-Length"):
            self.rfile.read(int(self.headers["Content-Length"]))
        getattr(self, "route_" + parts[0])(query, *parts[1:])

    do_POST = do_GET

    def route_token(self, query):
        self.send(json.dumps({"access_token": TOKEN, "refresh_token": SESSION, "expires_in": 3600}))

    def route_login(self, query):
        self.send("{}", Set_Cookie=f"sid={SESSION}; Path=/")

    def route_fail(self, query, kind, form):
        if "digest" in query and not self.headers.get("Authorization"):
            return self.send("{}", status=401, WWW_Authenticate='Digest realm="r", nonce="n0nce", qop="auth"')
        if "session" in query and self.headers.get("X-Session") != SESSION:
            return self.send("{}", status=409, X_Session=SESSION)
        text = " ".join(forms(secret)[form] for secret in secrets(self, query))
        body, media, code = FAILURES[kind](text)
        self.send(body, media, code)

    def route_kinds(self, query):
        self.send(json.dumps(list(FAILURES)))

    def route_signed(self, query):
        self.send(json.dumps(sorted(SIGNED)))

    def route_bomb(self, query, shape):
        pieces = shapes(int(query.get("mib", 60)) * MIB)[shape]()
        packer = gzip.zlib.compressobj(9, gzip.zlib.DEFLATED, 31)
        body = b"".join(packer.compress(piece) for piece in pieces) + packer.flush()
        lines = "lines" in query
        self.send(body, "application/x-ndjson" if lines else "application/json", Content_Encoding="gzip")

    def route_envelope(self, query, shape):
        """A WSDL to who asks for it, and packed envelopes of one shape."""
        if self.command == "GET":
            address = f"http://127.0.0.1:{self.server.server_address[1]}{self.path}"
            return self.send(WSDL.replace("ADDRESS", address.replace("&", "&amp;")), "text/xml")
        packer = gzip.zlib.compressobj(9, gzip.zlib.DEFLATED, 31)
        pieces = envelopes(int(query.get("mib", 60)) * MIB)[shape]()
        body = b"".join(packer.compress(piece) for piece in pieces) + packer.flush()
        self.send(body, "text/xml", Content_Encoding="gzip")

    def route_drip(self, query, where):
        """One byte at a time, in the head or the body; or nothing at all."""
        pause = float(query.get("pause", 0.2))
        head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n"
        self.close_connection = True
        try:
            if where == "silence":
                time.sleep(60)
            for byte in head if where == "head" else b"":
                self.wfile.write(bytes([byte]))
                self.wfile.flush()
                time.sleep(pause)
            if where != "head":
                self.wfile.write(head)
            for _ in range(1000):
                self.wfile.write(b" ")
                self.wfile.flush()
                time.sleep(pause)
        except OSError:
            pass

    def route_stop(self, query, how):
        """Ten bytes of a longer body, and then silence or the end of the connection."""
        self.close_connection = True
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n" + b"x" * 10)
        self.wfile.flush()
        if how == "silence":
            time.sleep(20)

    def route_stream(self, query):
        """Megabytes as fast as they are taken."""
        size = int(query.get("mib", 8)) * MIB
        self.send_response(200)
        self.send_header("Content-Type", "application/x-ndjson")
        self.send_header("Content-Length", str(size))
        self.end_headers()
        line = b'{"id": 1, "name": "' + b"n" * 1003 + b'"}\n'
        try:
            self.wfile.write((line * (size // len(line) + 1))[:size - 1] + b"\n")
        except OSError:
            pass


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    request_queue_size = 128


def main():
    servers = [Server(("127.0.0.1", 0), Handler) for _ in range(2)]
    for server in servers:
        threading.Thread(target=server.serve_forever, daemon=True).start()
    print(*(server.server_address[1] for server in servers), flush=True)
    # Ends with the process that started it: its end of the pipe closes.
    sys.stdin.read()


if __name__ == "__main__":
    main()
