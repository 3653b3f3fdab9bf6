#!/usr/bin/env python3
"""`bmo work` by 1, 2, 4 ... processes: a remote that takes 50 ms a reply, with many parents, into one PostgreSQL.

    Benchmarks/workers.py BMO [--parents 2000] [--delay 0.05] [--workers 1,2,4]

BMO is a release build. Each number of workers gets an empty schema; the first round brings the rows, the second one finds
nothing new. Each parent has five children, and a worker asks for one parent at a time (`concurrency: 1`), so that the delay
and not the machine decides. Prints a Markdown table of seconds, how many times as fast as one worker, processor seconds of all
workers, and the SQL statements per parent.
"""
import argparse
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
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from postgres import Database

CONFIG = """\
version: 1
database: {database}
bridges: {{api: {{plugin: rest, options: {{url: "{url}"}}}}}}
entities:
  Team:
    bridge: api
    key: id
    attributes: {{id: integer}}
    rest: {{path: /teams, paging: none}}
  User:
    bridge: api
    key: id
    attributes: {{id: integer, name: text}}
    relationships: {{team: {{to: Team}}}}
    parent: {{relationship: team, concurrency: 1}}
    rest: {{path: /users, query: {{team: "{{parent.id}}"}}, paging: none}}
"""
CHILDREN = 5


def serve(parents, delay):
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        wbufsize = -1

        def log_message(self, *_):
            pass

        def do_GET(self):
            url = urllib.parse.urlsplit(self.path)
            if url.path == "/teams":
                items = [{"id": number} for number in range(1, parents + 1)]
            else:
                time.sleep(delay)
                team = int(urllib.parse.parse_qs(url.query)["team"][0])
                numbers = range((team - 1) * CHILDREN, team * CHILDREN)
                items = [{"id": number, "name": f"User {number}"} for number in numbers]
            body = json.dumps(items).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    class Threads(http.server.ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 64

    server = Threads(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_port


def round_of(bmo, count, file, folder):
    start = time.monotonic()
    # A worker that comes late finds the round over, and no other one due.
    command = [bmo, "work", "-f", file, "--until-idle", "--every", "5s"]
    workers = [subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL) for _ in range(count)]
    processor, failed = 0, False
    for worker in workers:
        _, status, usage = os.wait4(worker.pid, 0)
        worker.returncode = os.waitstatus_to_exitcode(status)
        failed = failed or worker.returncode != 0
        processor += usage.ru_utime + usage.ru_stime
    if failed:
        sys.exit("a worker failed")
    return time.monotonic() - start, processor


def statements(server):
    """The number of statements in the server's log so far."""
    return len(re.findall(r"LOG:  (?:statement|execute)", (server.folder / "log").read_text(errors="replace")))


def counted(server, body):
    """What `body` returns, and the number of statements meanwhile."""
    before = statements(server)
    return body(), statements(server) - before


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bmo", type=pathlib.Path)
    parser.add_argument("--parents", type=int, default=2000)
    parser.add_argument("--delay", type=float, default=0.05, help="seconds per reply (default: 0.05)")
    parser.add_argument("--workers", default="1,2,4")
    options = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp())
    port = serve(options.parents, options.delay)
    bmo = options.bmo.absolute()
    with Database() as server:
        server.psql("ALTER ROLE bmo SET log_statement = 'all'")
        print(f"{options.parents} parents, {options.delay * 1000:.0f} ms a reply")
        print("\n| workers | first round | | processor | statements | nothing new | | processor | statements |")
        print("|---|---|---|---|---|---|---|---|---|")
        base = None
        for count in map(int, options.workers.split(",")):
            file = folder / f"{count}.yml"
            database = f"postgresql://bmo@127.0.0.1:{server.port}/postgres?schema=w{count}"
            file.write_text(CONFIG.format(database=database, url=f"http://127.0.0.1:{port}"))
            cold, cold_statements = counted(server, lambda: round_of(bmo, count, file, folder))
            rows = server.psql(f'SELECT count(*) FROM w{count}."User"')
            if rows != str(CHILDREN * options.parents):
                sys.exit(f"{count} workers brought {rows} rows")
            time.sleep(5)
            warm, warm_statements = counted(server, lambda: round_of(bmo, count, file, folder))
            base = base or (cold, warm)
            print(
                f"| {count} | {cold[0]:.1f} s | {base[0][0] / cold[0]:.2f} times | {cold[1]:.1f} s "
                f"| {cold_statements / options.parents:.1f} | {warm[0]:.1f} s | {base[1][0] / warm[0]:.2f} times "
                f"| {warm[1]:.1f} s | {warm_statements / options.parents:.1f} |", flush=True)
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
