#!/usr/bin/env python3
"""The pages of `bmo serve` over a file of a million rows and 100,000 changes, in milliseconds.

Serves users to `bmo sync`, changes 100,000 of them and syncs again, then asks the release build's `bmo serve` for each page
several times and prints the median, the slowest and the size as a Markdown table. The file stays in
.build/benchmarks/page for the next time; --new makes it again.
"""
import argparse
import http.server
import json
import os
import re
import shutil
import sqlite3
import statistics
import subprocess
import threading
import time
import urllib.parse
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / ".build" / "benchmarks" / "page"
BMO = ROOT / ".build" / "release" / "bmo"
USERS = 1_000_000
CITIES = 2_000
CHANGED = 100_000
PAGE = 10_000

CONFIG = """\
version: 1
bridges: {{users: {{plugin: rest, options: {{url: "{url}"}}}}}}
entities:
  City:
    bridge: users
    key: id
    attributes: {{id: integer, name: text}}
    rest: {{path: /cities, paging: none}}
  User:
    bridge: users
    key: id
    attributes: {{id: integer, name: text, email: text, score: real, active: boolean, registered: timestamp}}
    relationships: {{city: {{to: City}}}}
    rest: {{path: /users, paging: {{style: page, size_parameter: size, size: {page}}}}}
"""


class Users(http.server.BaseHTTPRequestHandler):
    """The users, of whom the first CHANGED have another name in the second round."""

    protocol_version = "HTTP/1.1"
    round = 1

    def log_message(self, *_):
        pass

    def do_GET(self):
        url = urllib.parse.urlparse(self.path)
        number = int(urllib.parse.parse_qs(url.query).get("page", ["1"])[0])
        if url.path == "/cities":
            rows = [{"id": i, "name": f"City {i}"} for i in range(1, CITIES + 1)]
        else:
            rows = [self.user(i) for i in range((number - 1) * PAGE + 1, min(number * PAGE, USERS) + 1)]
        body = json.dumps(rows).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def user(self, i):
        name = f"Person {i}" + (" the second" if Users.round == 2 and i <= CHANGED else "")
        return {"id": i, "name": name, "email": f"p{i}@example.org", "score": i * 7919 % 1000 / 10, "active": i % 3 > 0,
                "registered": f"2026-01-{i % 28 + 1:02}T00:00:00Z", "city": i % CITIES + 1}


def make(bmo):
    """Makes the file by two syncs."""
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Users)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    (WORK / "bmo.yml").write_text(CONFIG.format(url=f"http://127.0.0.1:{server.server_port}", page=PAGE))
    for Users.round in (1, 2):
        subprocess.run([bmo, "sync", "--quiet"], cwd=WORK, check=True, stdout=subprocess.DEVNULL)
    server.shutdown()


def read(opener, url):
    """Returns the milliseconds, and the body."""
    start = time.perf_counter()
    with opener.open(url) as reply:
        body = reply.read()
    return (time.perf_counter() - start) * 1000, body


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--new", action="store_true", help="make the file again")
    parser.add_argument("--count", type=int, default=15, help="requests of each page (default: 15)")
    parser.add_argument("--bmo", type=Path, default=BMO, help="the program (default: the release build)")
    options = parser.parse_args()
    if options.new or not (WORK / "bmo.sqlite").exists():
        make(options.bmo)
    serve = subprocess.Popen([options.bmo, "serve"], cwd=WORK, stdout=subprocess.PIPE, text=True)
    try:
        address = re.match(r"open (\S+)", serve.stdout.readline()).group(1)
        origin = address.split("/login")[0]
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        first, _ = read(opener, address)
        print(f"The first page, for which all rows are counted when bmo serve starts: {first:.0f} ms.\n")
        paths = [
            "/", "/entity/User", "/entity/User?after=900000", "/entity/User?where=city%3D7",
            "/entity/User?where=id%3E500000&sort=-id", "/entity/User.json?limit=1000", "/object/User/77777",
            "/object/City/7", "/runs", "/runs?entity=User", "/runs/2", "/decide", "/plan", "/model", "/config", "/metrics", "/health",
            "/entity/User?where=name~%25777%25", "/entity/User?sort=name", "/entity/User?sort=-city", "/entity/User?where=name%3Dnobody", "/entity/User?where=city%3D7&count=1",
        ]
        with sqlite3.connect(WORK / "bmo.sqlite") as file:
            changed = []
            for _ in range(options.count):
                file.execute("UPDATE User SET score = score + 1 WHERE id = 1")
                file.commit()
                changed.append(read(opener, origin + "/")[0])
                time.sleep(1)  # the rows are counted beside the page
        print(f"The first page after a change of the file: {statistics.median(changed):.1f} ms, "
              f"at most {max(changed):.1f} ms.\n")
        print("| page | median, ms | slowest, ms | KiB |\n|---|---:|---:|---:|")
        for path in paths:
            times, body = [], b""
            for _ in range(options.count):
                taken, body = read(opener, origin + path)
                times.append(taken)
            print(f"| `{urllib.parse.unquote(path)}` | {statistics.median(times):.1f} | {max(times):.1f} "
                  f"| {len(body) / 1024:.0f} |")
    finally:
        serve.terminate()
        serve.wait()


if __name__ == "__main__":
    main()
