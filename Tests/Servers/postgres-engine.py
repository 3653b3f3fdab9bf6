#!/usr/bin/env python3
"""Makes a PostgreSQL server refuse what another engine does not have.

    postgres-engine.py ENGINE SOCKET [FLAG]   prints "port N"; SOCKET: the folder of the server's socket

When the file FLAG exists, the answer of the next COMMIT is lost with its connection, and the file is removed.

A statement that ENGINE would refuse, as its documentation says, or would accept without doing what it says, such as an
advisory lock of CockroachDB, reaches the server as a syntax error that names the rule. The engine's version is what
`version()` returns. ENGINE `postgresql-13` is a server that says it has that version.
"""
import os
import re
import socket
import struct
import sys
import threading

LOCKS = [r"\bLOCK\s+TABLE\b", r"pg_(?:try_)?advisory", r"\bpg_locks\b"]
TRANSACTION_IDS = [r"pg_xact_status", r"pg_current_xact_id", r"\bxid8\b", r"\btxid_\w+", r"\bxmin\b", r"\bctid\b"]
OTHERS = [r"\bMERGE\s+INTO\b", r"\bCREATE\s+TEMP", r"\bSKIP\s+LOCKED\b", r"\bCREATE\s+TRIGGER\b"]

# The first group of rules that holds is what the error names.
REFUSED = {
    "postgresql-13": [],
    # The rows of a schema are on one node, and its transactions have that node's numbers.
    "citus-schema": TRANSACTION_IDS,
    "citus-distributed": TRANSACTION_IDS + OTHERS + [r"\bFOREIGN\s+KEY\b", r"\bREFERENCES\b", r'"?bmo_row"? bigint NOT NULL UNIQUE'],
    "cockroachdb": LOCKS + TRANSACTION_IDS + OTHERS + [
        r"\bDEFERRABLE\b", r"\bSET\s+CONSTRAINTS\b", r"\bLISTEN\b", r"\bNOTIFY\b", r"\bCOPY\b", r"SELECT\s+FROM\b",
        r"\bOVERRIDING\b", r"\bhashtext\b", r"(?:CREATE|ALTER)\s+TABLE[^;]*\bCOLLATE\b", r"ISOLATION LEVEL REPEATABLE",
    ],
    "yugabytedb": LOCKS + TRANSACTION_IDS + OTHERS + [
        r"\bLISTEN\b", r"\bNOTIFY\b", r"\bCOPY\b", r"(?:PRIMARY\s+KEY|UNIQUE)\s*(?:\([^)]*\))?\s*DEFERRABLE",
    ],
}
VERSIONS = {
    "cockroachdb": "CockroachDB CCL v26.3.0 (x86_64-pc-linux-gnu, built 2026/08/03)",
    "yugabytedb": "PostgreSQL 15.12-YB-2025.2.0.0-b0 on x86_64-pc-linux-gnu",
}
SERVER_VERSIONS = {"cockroachdb": "13.0.0", "postgresql-13": "13.22"}
LONGEST = {"cockroachdb": 16 << 20}
# Engines whose changes of tables cannot be rolled back.
ALONE = {"cockroachdb", "yugabytedb"}
DDL = re.compile(r"(?:^|;)\s*(?:CREATE|ALTER|DROP)\s", re.I)

engine, folder, flag = (sys.argv[1:] + [""])[:3]
rules = [re.compile(rule, re.I) for rule in REFUSED[engine]]
# The first column of the key of each table that has been created: Citus cannot change it.
keys = {}


def refusal(sql, size, in_transaction):
    """Returns why the engine refuses a statement; None if it does not."""
    if size > LONGEST.get(engine, 1 << 30):
        return "a statement of this size"
    for rule in rules:
        found = rule.search(sql)
        if found:
            return found.group(0)
    if engine in ALONE and DDL.search(sql) and (in_transaction or re.search(r"(?:^|;)\s*BEGIN", sql, re.I)):
        return "a change of tables in a transaction"
    if engine == "citus-distributed":
        made = re.match(r'CREATE TABLE ("[^"]+"\."(?!bmo_)[^"]+").*PRIMARY KEY \("?([^",)]+)', sql, re.S)
        if made:
            keys[made.group(1)] = made.group(2)
        changed = re.search(r'(?:UPDATE|INSERT INTO) ("[^"]+"\."[^"]+")(.*)', sql, re.S)
        key = changed and keys.get(changed.group(1))
        if key and re.search(r'\bSET\b.*(?<![.\w"])"?%s"?\s*=' % re.escape(key), changed.group(2).split(" WHERE ")[0], re.S):
            return "a change of the distribution column"
    return None


def receive(connection, count):
    data = bytearray()
    while len(data) < count:
        part = connection.recv(min(1 << 18, count - len(data)))
        if not part:
            raise EOFError
        data += part
    return bytes(data)


def checked(kind, body, state):
    """Returns the body of a message to the server."""
    if kind == b"Q":
        name, sql, rest = b"", body[:-1].decode(), b""
    else:
        name, sql, rest = body.split(b"\0", 2)
        sql = sql.decode()
    if engine in VERSIONS:
        sql = sql.replace("version()", "'%s'::text" % VERSIONS[engine])
    why = refusal(sql, len(body), state["open"])
    if why:
        sql = '"%s refuses: %s"' % (engine, why.replace('"', "'"))
    for word in re.findall(r"(?:^|;)\s*(BEGIN|COMMIT|ROLLBACK(?!\s+TO))\b", sql, re.I):
        state["open"] = word.upper() == "BEGIN"
        if word.upper() == "COMMIT" and flag and os.path.exists(flag):
            os.remove(flag)
            state["lost"] = True
    return sql.encode() + b"\0" if kind == b"Q" else name + b"\0" + sql.encode() + b"\0" + rest


def shut(*ends):
    """Ends connections, which also wakes the threads that wait for them."""
    for end in ends:
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def to_server(client, server, state):
    try:
        while True:
            head = receive(client, 5)
            kind, size = head[:1], struct.unpack("!I", head[1:])[0]
            body = receive(client, size - 4)
            if kind in b"QP":
                body = checked(kind, body, state)
            elif len(body) > LONGEST.get(engine, 1 << 30):
                return
            server.sendall(kind + struct.pack("!I", len(body) + 4) + body)
    except (EOFError, OSError):
        pass
    finally:
        shut(client, server)


def to_client(server, client, state):
    try:
        ready = engine not in SERVER_VERSIONS
        while not ready:
            head = receive(server, 5)
            body = receive(server, struct.unpack("!I", head[1:])[0] - 4)
            if head[:1] == b"S" and body.startswith(b"server_version\0"):
                body = b"server_version\0" + SERVER_VERSIONS[engine].encode() + b"\0"
            client.sendall(head[:1] + struct.pack("!I", len(body) + 4) + body)
            ready = head[:1] in b"ZE"
        while part := server.recv(1 << 18):
            if state["lost"]:
                return
            client.sendall(part)
    except (EOFError, OSError):
        pass
    finally:
        shut(client, server)


def serve(client):
    server = socket.socket(socket.AF_UNIX)
    try:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        server.connect(folder + "/.s.PGSQL.5432")
        while True:
            size = struct.unpack("!I", receive(client, 4))[0]
            start = receive(client, size - 4)
            code = struct.unpack("!I", start[:4])[0]
            # Requests for TLS (80877103) and GSSAPI (80877104) come before the first message; see the documentation of
            # PostgreSQL, "Message Formats".
            if code in (80877103, 80877104):
                client.sendall(b"N")
                continue
            server.sendall(struct.pack("!I", size) + start)
            break
        state = {"open": False, "lost": False}
        answers = threading.Thread(target=to_client, args=(server, client, state), daemon=True)
        answers.start()
        to_server(client, server, state)
        answers.join()
    except (EOFError, OSError):
        pass
    finally:
        client.close()
        server.close()


def accept(listener):
    while True:
        threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()


listener = socket.create_server(("127.0.0.1", 0), backlog=128)
print("port", listener.getsockname()[1], flush=True)
threading.Thread(target=accept, args=(listener,), daemon=True).start()
# Ends with the test process, which holds the other end.
sys.stdin.read()
