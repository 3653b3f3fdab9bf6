#!/usr/bin/env python3
"""200,000 users over HTTP into SQLite: `bmo sync` beside the floor, a C++ program that does the least possible.

Generates the users (the same each time), serves them with an nginx of its own on loopback, runs both programs in turn
and prints wall and processor time as Markdown tables: once on all cores, once with the program pinned to the first core
and nginx to the last. Everything that it makes is in .build/benchmarks.
"""
import argparse
import json
import os
import random
import shutil
import socket
import sqlite3
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / ".build" / "benchmarks"
USERS = 200_000
PAGE = 1_000
COLUMNS = ["id", "name", "username", "email", "phone", "website", "company", "born", "registered", "score", "active",
           "city", "zip"]

CONFIG = """\
version: 1
database: bmo.sqlite
bridges:
  users:
    plugin: rest
    options:
      url: {url}
entities:
  User:
    bridge: users
    key: id{incremental}
    attributes:
      id: integer
      name: text
      username: text
      email: text
      phone: text
      website: text
      company: text
      born: date
      registered: timestamp
      score: real
      active: boolean
      city: {{type: text, from: address.city}}
      zip: {{type: text, from: address.zip}}
    rest:
      path: /users
      records: $.items
      paging: {{style: page, page_parameter: page, size_parameter: per_page, size: {page}}}
"""

NGINX = """\
daemon off;
{user}
pid {state}/nginx.pid;
error_log {state}/error.log;
worker_processes 1;
events {{ worker_connections 64; }}
http {{
    access_log off;
    default_type application/json;
    sendfile on;
    keepalive_requests 100000;
    client_body_temp_path {state}/body;
    proxy_temp_path {state}/proxy;
    fastcgi_temp_path {state}/fastcgi;
    uwsgi_temp_path {state}/uwsgi;
    scgi_temp_path {state}/scgi;
    server {{
        listen 127.0.0.1:{port};
        root {pages};
        location = /users {{ try_files /$arg_page.json =404; }}
    }}
}}
"""

FIRST = ["Ada", "Blaž", "Chloé", "Dilan", "Emeka", "Fatima", "Gözde", "Hiroshi", "Ingrid", "Jürgen", "Klára", "Lúcia",
         "Mia", "Noël", "Olga", "Pavel", "Quang", "Rosa", "Søren", "Tomás"]
LAST = ["Andersson", "Bianchi", "Costa", "Dubois", "Eriksen", "Fernández", "García", "Horváth", "Ivanov", "Jansen",
        "Kowalski", "Łukasik", "Müller", "Nguyễn", "O'Connor", "Popescu", "Quintero", "Rossi", "Schäfer", "Tanaka"]
CITIES = ["Aarhus", "Brno", "Córdoba", "Dijon", "Essen", "Firenze", "Göteborg", "Hanoi", "Izmir", "Jyväskylä"]
COMPANIES = ["Northwind Traders", "Contoso \"Pharma\" & Sons", "Fabrikam, Inc.", "Tailspin Toys", "Litware"]


def user(number, random_):
    first, last = random_.choice(FIRST), random_.choice(LAST)
    name = f"{first.lower()}{number}"
    return {
        "id": number,
        "name": f"{first} {last}",
        "username": name,
        "email": f"{name}@example.org",
        "phone": f"+{random_.randrange(10**10, 10**11)}",
        "website": f"https://{number}.example.org",
        "company": random_.choice(COMPANIES),
        "born": f"{random_.randrange(1940, 2008)}-{random_.randrange(1, 13):02}-{random_.randrange(1, 29):02}",
        "registered": f"20{random_.randrange(10, 25)}-{random_.randrange(1, 13):02}-{random_.randrange(1, 29):02}"
                      f"T{random_.randrange(24):02}:{random_.randrange(60):02}:{random_.randrange(60):02}Z",
        "score": random_.randrange(100_000) / 100,
        "active": random_.random() < 0.8,
        "address": {
            "street": f"{random_.randrange(1, 400)} {last} St",
            "city": random_.choice(CITIES),
            "zip": f"{random_.randrange(100_000):05}",
            "lat": random_.randrange(-900_000, 900_000) / 1e4,
            "lng": random_.randrange(-1_800_000, 1_800_000) / 1e4,
        },
    }


def make_pages(folder, users):
    """The pages, and an empty one after the last, which a client asks for that knows no total."""
    pages = users // PAGE
    stamp = folder / f"complete-{users}"
    if not stamp.exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        random_ = random.Random(1)
        for page in range(1, pages + 2):
            items = [] if page > pages else [user((page - 1) * PAGE + n, random_) for n in range(1, PAGE + 1)]
            body = {"items": items, "page": page, "pages": pages, "total": users,
                    "next": f"/users?page={page + 1}" if page < pages else None}
            text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
            (folder / f"{page}.json").write_text(text, encoding="utf-8")
        stamp.touch()
    return [folder / f"{page}.json" for page in range(1, pages + 1)]


class Server:
    """nginx of our own, on a free loopback port; a context manager."""

    def __init__(self, pages):
        self.pages = pages
        self.state = WORK / "nginx"

    def __enter__(self):
        shutil.rmtree(self.state, ignore_errors=True)
        self.state.mkdir(parents=True)
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        conf = self.state / "nginx.conf"
        conf.write_text(NGINX.format(user="user root;" if os.geteuid() == 0 else "", state=self.state,
                                     port=self.port, pages=self.pages))
        self.process = subprocess.Popen(["taskset", "-c", str(os.cpu_count() - 1), "nginx", "-c", conf, "-p", self.state, "-e", self.state / "error.log"])
        end = time.monotonic() + 10
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return self
            except ConnectionRefusedError:
                if self.process.poll() is not None or time.monotonic() > end:
                    self.__exit__()
                    sys.exit(f"nginx did not start: {(self.state / 'error.log').read_text()}")
                time.sleep(0.02)

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()


class Run(NamedTuple):
    seconds: float
    processor: float  # seconds of user and system time, of the program and its processes
    mebibytes: float  # of the largest of its processes


PINNED = ["taskset", "-c", "0"]


def run(command, folder):
    began = time.perf_counter()
    with open(folder / "output.log", "wb") as log:
        process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{command[0]} ended with {process.returncode}:\n{(folder / 'output.log').read_text()}")
    return Run(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def cold_and_again(command, folder, database):
    for suffix in ("", "-wal", "-shm"):
        (folder / (database + suffix)).unlink(missing_ok=True)
    return run(command, folder), run(command, folder)


def same_rows(floor, bmo, users):
    """Compares all values, those aside whose form in the column is the store's own choice (date and time)."""
    columns = ", ".join(c for c in COLUMNS if c not in ("born", "registered"))
    with sqlite3.connect(floor) as connection:
        connection.execute("ATTACH ? AS bmo", [str(bmo)])
        count = connection.execute("SELECT count(*) FROM bmo.User").fetchone()[0]
        different = connection.execute(
            f"SELECT count(*) FROM (SELECT {columns} FROM main.User EXCEPT SELECT {columns} FROM bmo.User)").fetchone()[0]
    connection.close()
    if (count, different) != (users, 0):
        sys.exit(f"bmo has {count} rows of {users}, {different} of them with other values than the floor's")


def build_floor():
    floor = WORK / "floor"
    source = ROOT / "Benchmarks" / "floor.cpp"
    if not floor.exists() or floor.stat().st_mtime < source.stat().st_mtime:
        subprocess.run(["g++", "-std=c++17", "-O2", "-Wall", "-Wextra", "-o", floor, source, "-lsimdjson", "-lsqlite3"],
                       check=True)
    return floor


def build_bmo():
    log = subprocess.run(["swift", "build", "-c", "release"], cwd=ROOT, text=True, capture_output=True)
    if log.returncode != 0:
        sys.exit(log.stdout + log.stderr)
    path = subprocess.run(["swift", "build", "-c", "release", "--show-bin-path"], cwd=ROOT, text=True, check=True,
                          stdout=subprocess.PIPE).stdout.strip()
    return Path(path) / "bmo"


def row(name, runs, floors=None):
    """Medians with the shortest, and the ratio to the floor's run of the same round: median, from least to most."""
    def figure(values):
        return f"{statistics.median(values):.2f} ({min(values):.2f})"

    def ratio(value):
        if not floors:
            return ""
        ratios = [value(one) / value(floor) for one, floor in zip(runs, floors)]
        return f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"

    wall, processor = ([getattr(one, name) for one in runs] for name in ("seconds", "processor"))
    return (f"| {name} | {figure(wall)} | {ratio(lambda one: one.seconds)} | {figure(processor)} | "
            f"{ratio(lambda one: one.processor)} | {statistics.median(one.mebibytes for one in runs):.0f} |")


def print_table(title, results):
    print(f"\n{title}: medians, with the shortest or the range in brackets\n")
    print("| what | wall, s | times the floor's | processor, s | times the floor's | peak MiB |")
    print("|---|---:|---:|---:|---:|---:|")
    print(row("floor, cold (from disk)", results["floor, cold"]))
    print(row("floor, again (from disk)", results["floor, again"]))
    if results["cold"]:
        print(row("`bmo sync`, cold (HTTP)", results["cold"], results["floor, cold"]))
        print(row("`bmo sync`, unchanged (HTTP)", results["again"], results["floor, again"]))
        print(row("`bmo sync`, unchanged, `incremental: token`: nginx answers 304", results["token"],
                  results["floor, again"]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5, help="how often each program runs (default: 5)")
    parser.add_argument("--users", type=int, default=USERS, help=f"a multiple of {PAGE} (default: {USERS})")
    parser.add_argument("--bmo", type=Path, help="a built bmo (default: builds a release)")
    parser.add_argument("--floor-only", action="store_true", help="leaves bmo out")
    options = parser.parse_args()

    WORK.mkdir(parents=True, exist_ok=True)
    pages = make_pages(WORK / "pages", options.users)
    floor = build_floor()
    bmo = None if options.floor_only else (options.bmo or build_bmo()).resolve()

    results = {pin: {name: [] for name in ("floor, cold", "floor, again", "cold", "again", "token")}
               for pin in ("all", "one")}
    with Server(WORK / "pages") as server:
        folders = {name: WORK / name for name in ("run-floor", "run-bmo", "run-bmo-token")}
        for folder in folders.values():
            folder.mkdir(exist_ok=True)
        for name, incremental in (("run-bmo", ""), ("run-bmo-token", "\n    incremental: token")):
            (folders[name] / "bmo.yml").write_text(
                CONFIG.format(url=f"http://127.0.0.1:{server.port}", page=PAGE, incremental=incremental))
        if bmo:
            cold_and_again([bmo, "sync"], folders["run-bmo-token"], "bmo.sqlite")
        # In turn, so that whatever else the machine does meets both alike.
        for _ in range(options.rounds):
            for pin, found in results.items():
                before = PINNED if pin == "one" else []
                floor_runs = cold_and_again(
                    [*before, floor, "floor.sqlite", *pages], folders["run-floor"], "floor.sqlite")
                found["floor, cold"].append(floor_runs[0])
                found["floor, again"].append(floor_runs[1])
                if not bmo:
                    continue
                cold, again = cold_and_again([*before, bmo, "sync"], folders["run-bmo"], "bmo.sqlite")
                found["cold"].append(cold)
                found["again"].append(again)
                found["token"].append(run([*before, bmo, "sync"], folders["run-bmo-token"]))
                for name in ("run-bmo", "run-bmo-token"):
                    same_rows(folders["run-floor"] / "floor.sqlite", folders[name] / "bmo.sqlite", options.users)

    size = sum(page.stat().st_size for page in pages) / 1e6
    print(f"{options.users:,} users, {size:.0f} MB of JSON in {len(pages)} pages; {options.rounds} rounds")
    print_table("On all cores", results["all"])
    print_table("Pinned to one core, nginx on the other", results["one"])


if __name__ == "__main__":
    main()
