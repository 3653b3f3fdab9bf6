#!/usr/bin/env python3
"""A server on 127.0.0.1 that attacks its client on the wire, below HTTP's meaning: python3 wire.py FOLDER ATTACK

It makes a certificate in FOLDER (ca.pem), prints its port, and plays ATTACK, one of those below, on each connection.
The attack `none` serves the whole listing of 61 rows, one JSON object a line, and FOLDER/calm makes every attack `none`.
`short` is a listing that lacks six of them and is whole by HTTP/2's rules: what an attack must not be taken for.

HTTP/2 frames: RFC 9113, section 4; header fields are written literally, without indexing (RFC 7541, section 6.2.2).
"""
import json
import os
import socket
import ssl
import struct
import subprocess
import sys
import threading
import time

FOLDER, ATTACK = sys.argv[1], sys.argv[2]
LINES = [json.dumps({"id": n, "name": f"row {n}"}).encode() + b"\n" for n in range(1, 62)]
BODY, SHORT = b"".join(LINES), b"".join(LINES[:55])
DATA, HEADERS, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = 0, 1, 3, 4, 5, 6, 7, 8, 9
END_STREAM, END_HEADERS, ACK = 1, 4, 1
SECONDS = 20  # how long an endless attack goes on, at most


def certificate(name, *options, days="2"):
    """A self-signed certificate NAME.pem with its key in NAME.key."""
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", days,
         "-subj", "/CN=127.0.0.1", "-keyout", f"{FOLDER}/{name}.key", "-out", f"{FOLDER}/{name}.pem", *options],
        check=True, capture_output=True)


def frame(kind, flags=0, stream=0, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def fields(*pairs):
    """Header fields in HPACK, each literal and without indexing; lengths up to 16,383."""
    def text(value):
        value = value.encode()
        if len(value) < 127:
            return bytes([len(value)]) + value
        rest, out = len(value) - 127, [127]
        while rest >= 128:
            out.append(rest % 128 + 128)
            rest //= 128
        return bytes(out + [rest]) + value
    return b"".join(b"\x00" + text(name) + text(value) for name, value in pairs)


HEAD = fields((":status", "200"), ("content-type", "application/x-ndjson"))


def reply(stream, body=BODY):
    head = HEAD + fields(("content-length", str(len(body))))
    return frame(HEADERS, END_HEADERS, stream, head) + frame(DATA, END_STREAM, stream, body)


def endless(send, piece):
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        send(piece)


def attack_none(send, stream):
    send(reply(stream))


def attack_short(send, stream):
    send(reply(stream, SHORT))


def attack_cut_without_end(send, stream):
    """A part of the body, ending within a line, then the connection ends, with neither END_STREAM nor a length."""
    send(frame(HEADERS, END_HEADERS, stream, HEAD) + frame(DATA, 0, stream, BODY[:1000]))
    return "close"


def attack_whole_without_end(send, stream):
    """A part of the body that ends with a line; END_STREAM never comes, and the connection ends."""
    send(frame(HEADERS, END_HEADERS, stream, HEAD) + frame(DATA, 0, stream, SHORT))
    return "close"


def attack_reset(send, stream):
    """The same, ended by RST_STREAM with NO_ERROR."""
    send(frame(HEADERS, END_HEADERS, stream, HEAD) + frame(DATA, 0, stream, SHORT))
    send(frame(RST_STREAM, 0, stream, struct.pack(">I", 0)))


def attack_shorter_than_said(send, stream):
    head = HEAD + fields(("content-length", str(len(BODY))))
    send(frame(HEADERS, END_HEADERS, stream, head) + frame(DATA, END_STREAM, stream, SHORT))


def attack_longer_than_said(send, stream):
    head = HEAD + fields(("content-length", "10"))
    send(frame(HEADERS, END_HEADERS, stream, head) + frame(DATA, END_STREAM, stream, BODY))


def attack_goaway(send, stream):
    """The connection is to end, and this request was not looked at."""
    send(frame(GOAWAY, 0, 0, struct.pack(">II", 0, 0)))
    return "close"


def attack_continuation_flood(send, stream):
    send(frame(HEADERS, 0, stream, HEAD))
    endless(send, frame(CONTINUATION, 0, stream, fields(*[("x-flood", "f" * 100)] * 100)))


def attack_many_fields(send, stream):
    send(frame(HEADERS, END_HEADERS, stream, HEAD + fields(*[("x-flood", "f")] * 1400)))
    send(frame(DATA, END_STREAM, stream, BODY))


def attack_header_bomb(send, stream):
    """One field of 3,000 bytes is put into the table, then named by one byte each, 12,000 times (RFC 7541, 7.3)."""
    field = b"\x40" + fields(("x-bomb", "b" * 3000))[1:]
    send(frame(HEADERS, END_HEADERS, stream, HEAD + field + b"\xbe" * 12_000))
    send(frame(DATA, END_STREAM, stream, BODY))


def attack_informational_flood(send, stream):
    endless(send, frame(HEADERS, END_HEADERS, stream, fields((":status", "103"), ("link", "</x>; rel=preload"))) * 100)


def attack_settings_flood(send, stream):
    endless(send, frame(SETTINGS, 0, 0, struct.pack(">HI", 3, 100)) * 1000)


def attack_ping_flood(send, stream):
    endless(send, frame(PING, 0, 0, b"12345678") * 1000)


def attack_empty_data_flood(send, stream):
    send(frame(HEADERS, END_HEADERS, stream, HEAD))
    endless(send, frame(DATA, 0, stream) * 1000)


def attack_push(send, stream):
    """A reply that was not asked for, under a name that the next request may have."""
    head = fields((":method", "GET"), (":scheme", "https"), (":authority", "127.0.0.1"), (":path", "/rows"))
    send(frame(PUSH_PROMISE, END_HEADERS, stream, struct.pack(">I", 2) + head))
    send(frame(HEADERS, END_HEADERS, 2, HEAD) + frame(DATA, END_STREAM, 2, b"[]"))
    send(reply(stream))


def attack_window_overflow(send, stream):
    send(frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", 0x7FFFFFFF)) * 2)
    send(reply(stream))


def attack_huge_frame(send, stream):
    """A frame of 16 MiB, which the client's settings forbid (RFC 9113, 4.2)."""
    send(frame(HEADERS, END_HEADERS, stream, HEAD))
    send(b"\xff\xff\xff" + bytes([DATA, 0]) + struct.pack(">I", stream))
    endless(send, b"x" * 65536)


def attack_huge_frame_behind_rows(send, stream):
    """The same behind a part of the body that ends with a line."""
    send(frame(HEADERS, END_HEADERS, stream, HEAD) + frame(DATA, 0, stream, SHORT))
    time.sleep(0.2)
    send(b"\xff\xff\xff" + bytes([DATA, 0]) + struct.pack(">I", stream))
    endless(send, b"x" * 65536)


def attack_garbage(send, stream):
    send(bytes(range(256)) * 64)


def attack_garbage_behind_rows(send, stream):
    send(frame(HEADERS, END_HEADERS, stream, HEAD) + frame(DATA, 0, stream, SHORT))
    time.sleep(0.2)
    send(bytes(range(256)) * 64)


def attack_goaway_behind_rows(send, stream):
    send(frame(HEADERS, END_HEADERS, stream, HEAD) + frame(DATA, 0, stream, SHORT))
    time.sleep(0.2)
    send(frame(GOAWAY, 0, 0, struct.pack(">II", stream, 0)))
    return "close"


def attack_other_stream(send, stream):
    """The answer to a request that was never sent."""
    send(reply(stream + 1000))


def serve_http2(connection):
    """Reads requests and plays the attack on each; ends with the connection."""
    connection.sendall(frame(SETTINGS))
    received = b""

    def read(count):
        nonlocal received
        while len(received) < count:
            more = connection.recv(65536)
            if not more:
                raise ConnectionError
            received += more
        taken, received = received[:count], received[count:]
        return taken

    if read(24) != b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n":
        return
    while True:
        head = read(9)
        kind, flags, stream = head[3], head[4], struct.unpack(">I", head[5:])[0] & 0x7FFFFFFF
        payload = read(struct.unpack(">I", b"\x00" + head[:3])[0])
        if kind == SETTINGS and not flags & ACK:
            connection.sendall(frame(SETTINGS, ACK))
        elif kind == PING and not flags & ACK:
            connection.sendall(frame(PING, ACK, 0, payload))
        elif kind == HEADERS:
            name = "none" if os.path.exists(f"{FOLDER}/calm") else ATTACK
            if globals()["attack_" + name](connection.sendall, stream) == "close":
                return


def serve_http1(connection, attack):
    """Attacks of TLS itself: the request is read, and the reply is HTTP/1.1's."""
    while b"\r\n\r\n" not in connection.recv(65536):
        pass
    if attack == "tls_truncated":
        # Neither a length nor chunks: only TLS's close_notify tells that the end is the server's (RFC 8446, 6.1).
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nConnection: close\r\n\r\n" + SHORT)
        os.close(connection.detach())
        return
    if attack == "tls_downgrade":
        connection.sendall(b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:%d/rows\r\nContent-Length: 0\r\n\r\n" % PLAIN)
        return
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nContent-Length: %d\r\n\r\n" % len(BODY) + BODY)
    connection.unwrap()


def serve(raw):
    try:
        calm = os.path.exists(f"{FOLDER}/calm")
        attack = "none" if calm else ATTACK
        if attack == "tls_silent":
            time.sleep(SECONDS)
            return
        if attack == "tls_garbage":
            raw.recv(65536)
            raw.sendall(b"\x16\x03\x03\xff\xff" + b"\x00" * 65535)
            time.sleep(1)
            return
        if attack == "tls_drip":
            # The handshake, one byte a second: no byte of HTTP ever comes.
            raw.recv(65536)
            for byte in b"\x16\x03\x03\x40\x00" + b"\x02" * 100:
                raw.sendall(bytes([byte]))
                time.sleep(1)
            return
        kind = attack if attack in CONTEXTS else "http1" if attack.startswith("tls_") else "http2"
        with CONTEXTS[kind].wrap_socket(raw, server_side=True) as connection:
            if connection.selected_alpn_protocol() == "h2":
                serve_http2(connection)
            else:
                serve_http1(connection, attack)
    except (OSError, ConnectionError):
        pass
    finally:
        raw.close()


def context(name, *protocols):
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.load_cert_chain(f"{FOLDER}/{name}.pem", f"{FOLDER}/{name}.key")
    if protocols:
        made.set_alpn_protocols(list(protocols))
    return made


def expired():
    """`openssl req` takes no past date; `openssl x509` signs the request of a certificate that ended long ago."""
    with open(f"{FOLDER}/expired.cnf", "w") as file:
        file.write("subjectAltName=IP:127.0.0.1\n")
    subprocess.run(
        ["openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=127.0.0.1",
         "-keyout", f"{FOLDER}/expired.key", "-out", f"{FOLDER}/expired.csr"], check=True, capture_output=True)
    os.makedirs(f"{FOLDER}/ca", exist_ok=True)
    open(f"{FOLDER}/ca/index.txt", "w").close()
    with open(f"{FOLDER}/ca/openssl.cnf", "w") as file:
        file.write(f"[ca]\ndefault_ca=own\n[own]\ndatabase={FOLDER}/ca/index.txt\nnew_certs_dir={FOLDER}/ca\n"
                   f"rand_serial=yes\ndefault_md=sha256\npolicy=any\n[any]\ncommonName=supplied\n")
    subprocess.run(
        ["openssl", "ca", "-batch", "-config", f"{FOLDER}/ca/openssl.cnf", "-cert", f"{FOLDER}/ca.pem", "-keyfile",
         f"{FOLDER}/ca.key", "-in", f"{FOLDER}/expired.csr", "-out", f"{FOLDER}/expired.pem", "-extfile",
         f"{FOLDER}/expired.cnf", "-startdate", "20200101000000Z", "-enddate", "20200102000000Z"],
        check=True, capture_output=True)


def accept(listener, handler):
    while True:
        connection, _ = listener.accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=handler, args=[connection], daemon=True).start()


def plain(connection):
    """Where the downgrade leads: it notes what was sent to it in clear."""
    with open(f"{FOLDER}/clear", "ab") as file:
        file.write(connection.recv(65536))
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n[]")
    connection.close()


certificate("ca", "-addext", "subjectAltName=IP:127.0.0.1")
CONTEXTS = {"http1": context("ca"), "http2": context("ca", "h2", "http/1.1")}
if ATTACK == "tls_expired":
    expired()
    CONTEXTS["tls_expired"] = context("expired")
if ATTACK == "tls_other_name":
    certificate("other", "-addext", "subjectAltName=DNS:example.com")
    CONTEXTS["tls_other_name"] = context("other")
if ATTACK == "tls_old":
    old = context("ca")
    old.minimum_version, old.maximum_version = ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1
    old.set_ciphers("ALL:@SECLEVEL=0")
    CONTEXTS["tls_old"] = old
listeners = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
PLAIN = listeners[1].getsockname()[1]
threading.Thread(target=accept, args=[listeners[1], plain], daemon=True).start()
print(listeners[0].getsockname()[1], flush=True)
accept(listeners[0], serve)
