#!/usr/bin/env python3
"""`bmo sync` of a listing in pages whose server takes 50 ms to answer each request: one request at a time, and as it comes.

The pages are numbered, so that they can be asked for before they are wanted. Prints wall and processor time as a Markdown table.
"""
import argparse
import http.server
import json
import statistics
import sys
import threading
import time
import urllib.parse
from pathlib import Path

from measuring import WORK, build_bmo, figure, run, without_database

PAGES, SIZE = 60, 100

CONFIG = """\
version: 1
database: bmo.sqlite
bridges:
  users:
    plugin: rest
    options: {{url: "{url}"{limits}}}
entities:
  User:
    bridge: users
    key: id
    attributes: {{id: integer, name: text}}
    rest: {{path: /users{paging}}}
"""
WAYS = {
    "one at a time": (", limits: {concurrency: 1}", ""),
    "paging detected, with a number of pages": ("", ""),
    "paging: page, nothing known of the end": (
        "", ", records: $.items, paging: {style: page, size_parameter: size, size: 100}"),
}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    delay = 0.05

    def log_message(self, *arguments):
        pass

    def do_GET(self):
        time.sleep(self.delay)
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)
        page = int(query.get("page", ["1"])[0])
        numbers = range((page - 1) * SIZE + 1, page * SIZE + 1) if page <= PAGES else []
        body = json.dumps({"items": [{"id": n, "name": f"User {n}"} for n in numbers], "page": page, "pages": PAGES}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    # With the usual 5, connections that come together wait a second for their second try.
    request_queue_size = 64


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5, help="how often each way runs (default: 5)")
    parser.add_argument("--delay", type=float, default=0.05, help="seconds per request (default: 0.05)")
    parser.add_argument("--bmo", type=Path, help="a built bmo (default: builds a release)")
    options = parser.parse_args()
    Handler.delay = options.delay
    bmo = (options.bmo or build_bmo()).resolve()

    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_address[1]}"
    folder = WORK / "latency"
    folder.mkdir(parents=True, exist_ok=True)
    runs = {way: [] for way in WAYS}
    for _ in range(options.rounds):
        for way, (limits, paging) in WAYS.items():
            without_database(folder)
            (folder / "bmo.yml").write_text(CONFIG.format(url=url, limits=limits, paging=paging))
            runs[way].append(run([bmo, "sync"], folder))
    server.shutdown()

    print(f"{PAGES} pages, {options.delay * 1000:.0f} ms per request; {options.rounds} rounds: medians, with the shortest in brackets\n")
    print("| what | wall, s | times faster | processor, s |")
    print("|---|---:|---:|---:|")
    slowest = statistics.median(one.seconds for one in runs["one at a time"])
    for way, found in runs.items():
        times = slowest / statistics.median(one.seconds for one in found)
        print(f"| {way} | {figure(one.seconds for one in found)} | {times:.1f} | "
              f"{figure(one.processor for one in found)} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
