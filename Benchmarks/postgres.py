#!/usr/bin/env python3
"""Times `bmo sync` into PostgreSQL, cold and unchanged, and prints the statements and the write-ahead log of each.

    Benchmarks/postgres.py BMO [COUNT]        BMO: the release build's command; COUNT: users, by default 50000

Starts a server of its own from Debian's package, with shared_buffers=256MB and Debian's other defaults, and serves the
users as pages of 1,000 from a Python server of static files. The server's log counts the statements, of which each is a
round trip. Beside each, psql's time for a floor: the same rows by one statement per 1,000 (an insert from unnest; a
select of a range), without HTTP, JSON and comparison.
"""
import functools
import http.server
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

COLUMNS = "id bigint primary key, name text, email text, city text, age bigint, score double precision, active boolean"


def user(number):
    return {
        "id": number, "name": f"User {number}", "email": f"user{number}@example.com", "city": f"City {number % 997}",
        "age": number % 90, "score": number / 7, "active": number % 3 == 0,
    }


def serve(folder):
    class Handler(http.server.SimpleHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Handler, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_port


class Server:
    def __init__(self, folder):
        self.folder = folder
        self.programs = max(
            pathlib.Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
        self.prefix = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"] if os.geteuid() == 0 else []
        data = folder / "data"
        data.mkdir(mode=0o700)
        if self.prefix:
            shutil.chown(data, "nobody")
            folder.chmod(0o777)
        self.run(["initdb", "-D", data, "-A", "trust", "-U", "bmo", "-E", "UTF8", "--locale=C"])
        self.log = open(folder / "log", "wb")
        settings = [
            "listen_addresses=", "unix_socket_permissions=0777", "shared_buffers=256MB", "log_statement=all",
            "autovacuum=off", "max_wal_size=4GB", "checkpoint_timeout=1h",
        ]
        self.process = subprocess.Popen(
            self.prefix + [self.programs / "postgres", "-D", data, "-k", folder]
            + [word for setting in settings for word in ("-c", setting)], stderr=self.log, cwd=folder)
        while subprocess.call([self.programs / "pg_isready", "-q", "-h", folder]):
            time.sleep(0.1)

    def run(self, command):
        program, *arguments = command
        subprocess.run(
            self.prefix + [self.programs / program, *arguments], check=True, stdout=subprocess.DEVNULL,
            cwd=self.folder)

    def psql(self, sql):
        command = [self.programs / "psql", "-X", "-q", "-At", "-h", self.folder, "-U", "bmo", "postgres"]
        return subprocess.run(command, input=sql, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()

    def wal(self):
        return int(self.psql("select pg_current_wal_insert_lsn() - '0/0'"))

    def statements(self):
        text = (self.folder / "log").read_text(errors="replace")
        return len(re.findall(r"LOG:  (?:statement|execute)", text))

    def stop(self):
        self.process.terminate()
        self.process.wait()


def measured(server, what, body):
    wal, statements, start = server.wal(), server.statements(), time.monotonic()
    peak = body()
    seconds = time.monotonic() - start
    # The questions for the log's position are statements too.
    count = server.statements() - statements
    memory = f"  {peak / 1024:6.0f} MiB" if peak else ""
    print(f"{what:32} {seconds:7.2f} s  {(server.wal() - wal) / 1e6:8.2f} MB of log  {count:6} statements{memory}")


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    bmo = pathlib.Path(sys.argv[1]).absolute()
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 50_000
    folder = pathlib.Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    pages = folder / "pages"
    pages.mkdir()
    for page in range(count // 1000):
        users = [user(number) for number in range(page * 1000, page * 1000 + 1000)]
        following = f"/{page + 1}.json" if page + 1 < count // 1000 else None
        (pages / f"{page}.json").write_text(json.dumps({"items": users, "next": following}))
    port = serve(pages)
    server = Server(folder)
    (folder / "bmo.yml").write_text(f"""
version: 1
database: postgresql://bmo@{str(folder).replace("/", "%2F")}/postgres
bridges: {{api: {{plugin: rest, options: {{url: "http://127.0.0.1:{port}"}}}}}}
entities:
  User:
    bridge: api
    key: id
    attributes: {{id: integer, name: text, email: text, city: text, age: integer, score: real, active: boolean}}
    rest: {{path: /0.json, records: $.items, paging: {{style: next_url, path: $.next}}}}
""")

    def sync():
        process = subprocess.Popen(
            [bmo, "sync", "-f", folder / "bmo.yml"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        message = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        if status:
            sys.exit(message.decode())
        return usage.ru_maxrss

    def floor(sql):
        server.psql("\n".join(sql(page * 1000) for page in range(count // 1000)))

    def insert(first):
        return f"""
            insert into floor select n, 'User ' || n, 'user' || n || '@example.com', 'City ' || n % 997, n % 90, n / 7.0,
            n % 3 = 0 from generate_series({first}, {first + 999}) n on conflict (id) do update set name = excluded.name;"""

    try:
        print(f"{count} users, {server.psql('show server_version')}")
        measured(server, "bmo sync, cold", sync)
        measured(server, "bmo sync, unchanged", sync)
        rows = server.psql('select count(*) from bmo."User"')
        assert int(rows) == count // 1000 * 1000, rows
        server.psql(f"create table floor ({COLUMNS})")
        measured(server, "psql, one insert a page", lambda: floor(insert))
        measured(
            server, "psql, one select a page",
            lambda: floor(lambda first: f"select * from floor where id between {first} and {first + 999};"))
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
