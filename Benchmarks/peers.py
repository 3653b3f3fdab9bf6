#!/usr/bin/env python3
"""One listing over HTTP into SQLite by whole commands: `bmo sync` beside what one would use, or write, instead of it.

Serves the users of users.py with an nginx of its own on loopback, without gzip, and runs in turn `bmo sync`, a program
in Swift that is written for this one listing (peers/: Codable, URLSession, GRDB), sqlite-utils and dlt, each into no
database (cold) and again into the one that it has just made (unchanged). After each run the rows are counted, sums over
columns are compared with those of the listing, and the server must have been asked for every page.

The first run installs what is missing into .build/benchmarks/peers: dlt and sqlite-utils in virtual environments, the
Swift program as a release. A peer that can't be installed is named with the reason.
"""
import argparse
import json
import os
import re
import shutil
import sqlite3
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Callable, NamedTuple

import measuring
import users
from measuring import ROOT, WORK, Nginx, Run, figure, ratio

HERE = WORK / "peers"
PACKAGE = ROOT / "Benchmarks" / "peers"
DATABASE = "users.sqlite"
LOG = HERE / "requests.log"
SUMS = """
    SELECT count(*), sum(id), CAST(round(sum(score) * 100) AS INTEGER), sum(active),
           sum(length(name) + length(email) + length(phone) + length(city) + length(zip))
    FROM User
"""


class Unavailable(Exception):
    """Why a peer can't run here."""


class Peer(NamedTuple):
    title: str
    install: Callable  # makes what is missing; raises Unavailable
    command: Callable  # of the server's address and the number of pages
    files: Callable = lambda url: {}  # what the folder has before a cold run
    variables: dict = {}
    usual: bool = True  # runs without --only


class Measured(NamedTuple):
    run: Run
    megabytes: float  # of the database's files


def ending(text):
    """The end of an output, as a reason."""
    return " / ".join(text.strip().splitlines()[-2:])[-300:] or "it said nothing"


def tried(command):
    try:
        process = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    except OSError as error:
        raise Unavailable(str(error)) from error
    if process.returncode != 0:
        raise Unavailable(f"{command[0]} ended with {process.returncode}: {ending(process.stdout)}")


def required(*programs):
    for program in programs:
        if not shutil.which(program):
            raise Unavailable(f"{program} is not installed: run Scripts/install test")


def python_package(requirement):
    """The bin folder of a virtual environment with a package of just this version."""
    folder = HERE / "python" / re.split(r"\W=|\[", requirement)[0]
    stamp = folder / "installed"

    def install():
        if stamp.exists() and stamp.read_text() == requirement:
            return
        shutil.rmtree(folder, ignore_errors=True)
        tried([sys.executable, "-m", "venv", folder])
        tried([folder / "bin" / "pip", "install", "-q", "--disable-pip-version-check", "--retries", "1", requirement])
        stamp.write_text(requirement)

    return folder / "bin", install


def swift_program():
    program = HERE / "build" / "release" / "UserSync"

    def install():
        sources = [PACKAGE / "Package.swift", *(PACKAGE / "Sources").rglob("*.swift")]
        if program.exists() and all(source.stat().st_mtime < program.stat().st_mtime for source in sources):
            return
        required("swift")
        tried(["swift", "build", "-c", "release", "--package-path", PACKAGE, "--scratch-path", HERE / "build"])

    return program, install


DLT, SQLITE_UTILS = "dlt[sqlalchemy]==1.31.0", "sqlite-utils==4.2.1"


def peers(bmo):
    """The commands, by the names that --only takes; bmo is the first, and all are compared with it."""
    dlt, install_dlt = python_package(DLT)
    tool, install_tool = python_package(SQLITE_UTILS)
    program, install_program = swift_program()

    def configuration(url):
        text = users.CONFIG.format(url=url, page=users.PAGE, incremental="")
        return {"bmo.yml": text.replace("database: bmo.sqlite", f"database: {DATABASE}")}

    def install_pipe():
        required("curl", "jq")
        install_tool()

    def dlt_peer(title, *words, usual=True):
        return Peer(title, install_dlt,
                    lambda url, pages: [dlt / "python", PACKAGE / "dlt-users.py", url, DATABASE, *words],
                    variables={"RUNTIME__DLTHUB_TELEMETRY": "false", "DLT_DATA_DIR": "data"}, usual=usual)

    return {
        "bmo": Peer("`bmo sync`", lambda: None, lambda url, pages: [bmo, "sync"], configuration),
        "swift-statement": Peer("Swift by hand: Codable, one guarded upsert through GRDB", install_program,
                                lambda url, pages: [program, f"{url}/users?page=1", DATABASE, "statement"]),
        "swift-record": Peer("Swift by hand: Codable, GRDB's records", install_program,
                             lambda url, pages: [program, f"{url}/users?page=1", DATABASE, "record"]),
        "sqlite-utils": Peer("sqlite-utils, its Python API", install_tool,
                             lambda url, pages: [tool / "python", PACKAGE / "sqlite-utils-users.py", url, DATABASE]),
        "sqlite-utils-pipe": Peer("curl, jq and `sqlite-utils upsert` in a pipe", install_pipe,
                                  lambda url, pages: [PACKAGE / "sqlite-utils-users", tool / "sqlite-utils", url,
                                                      str(pages), DATABASE]),
        "dlt": dlt_peer("dlt rest_api, merge, with primary keys"),
        "dlt-defaults": dlt_peer("dlt rest_api, merge, without primary keys", "defaults", usual=False),
    }


def expected(pages):
    """What SUMS finds where all rows are right, from the listing itself."""
    found = [0, 0, 0, 0, 0]
    for page in pages:
        for user in json.loads(page.read_text(encoding="utf-8"))["items"]:
            texts = [user["name"], user["email"], user["phone"], user["address"]["city"], user["address"]["zip"]]
            values = 1, user["id"], round(user["score"] * 100), user["active"], sum(map(len, texts))
            found = [total + value for total, value in zip(found, values)]
    return tuple(found)


def check_rows(folder, title, sums):
    with sqlite3.connect(folder / DATABASE) as connection:
        found = connection.execute(SUMS).fetchone()
    connection.close()
    if found != sums:
        sys.exit(f"{title}: the rows have (count and sums) {found}, the listing {sums}")


def check_requests(title, pages):
    """Each page must have been asked for: a command that does nothing would leave the rows right."""
    request = re.compile(r'"GET /users\?(?:\S+&)?page=(\d+)\S* HTTP/1.1" 200 ')
    end = time.monotonic() + 2
    while True:
        asked = set(map(int, request.findall(LOG.read_text())))
        if asked.issuperset(range(1, pages + 1)):
            return
        # nginx writes the line when the client may have its reply already.
        if time.monotonic() > end:
            sys.exit(f"{title}: the server was asked for {len(asked)} of {pages} pages")
        time.sleep(0.02)


def measured(peer, folder, url, pages, sums):
    os.truncate(LOG, 0)
    run = measuring.run(peer.command(url, pages), folder, **peer.variables)
    check_requests(peer.title, pages)
    check_rows(folder, peer.title, sums)
    return Measured(run, sum(file.stat().st_size for file in folder.glob(f"{Path(DATABASE).stem}*")) / 1e6)


def cold_and_again(name, peer, url, pages, sums):
    folder = HERE / f"run-{name}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for file, text in peer.files(url).items():
        (folder / file).write_text(text)
    return tuple(measured(peer, folder, url, pages, sums) for _ in range(2))


def cells(title, runs, base):
    """A line of the table; the ratios are to bmo's run of the same round."""
    own, bmo = [one.run for one in runs], [one.run for one in base]

    def times(value):
        return "" if runs is base or not base else ratio(own, bmo, value)

    return [title, figure(one.seconds for one in own), times(lambda one: one.seconds),
            figure(one.processor for one in own), times(lambda one: one.processor),
            f"{statistics.median(one.mebibytes for one in own):.0f}",
            f"{statistics.median(one.megabytes for one in runs):.1f}"]


def print_table(title, rows, is_markdown):
    rows = [["what", "wall, s", "times bmo's", "processor, s", "times bmo's", "peak MiB", "file MB"], *rows]
    print(f"\n{title}\n")
    if is_markdown:
        lines = ["| " + " | ".join(row) + " |" for row in rows]
        lines.insert(1, "|---|" + "---:|" * (len(rows[0]) - 1))
        print("\n".join(lines), flush=True)
        return
    widths = [max(map(len, column)) for column in zip(*rows)]
    for row in rows:
        padded = [row[0].ljust(widths[0])] + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]
        print("  ".join(padded).rstrip(), flush=True)


def installed(chosen):
    """Those of the peers that run here; says of the others why not."""
    found = {}
    for name, peer in chosen.items():
        try:
            peer.install()
            found[name] = peer
        except Unavailable as error:
            print(f"Left out: {peer.title}: {error}", flush=True)
    return found


def grdb_version():
    try:
        pins = json.loads((PACKAGE / "Package.resolved").read_text())["pins"]
        return next(pin["state"]["version"] for pin in pins if pin["identity"] == "grdb.swift")
    except (OSError, LookupError, StopIteration):
        return "of an unknown version"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    names = list(peers(None))
    parser.add_argument("--rounds", type=int, default=5, help="how often each command runs (default: 5)")
    parser.add_argument("--records", type=int, default=40_000, help=f"a multiple of {users.PAGE} (default: 40,000)")
    parser.add_argument("--bmo", type=Path, help="a built bmo (default: builds a release)")
    parser.add_argument("--only", choices=names, action="append", help="only this one, and bmo; may be repeated")
    parser.add_argument("--install", action="store_true", help="installs the peers and ends; 1 if one is left out")
    parser.add_argument("--markdown", action="store_true", help="prints Markdown")
    options = parser.parse_args()
    if options.records <= 0 or options.records % users.PAGE:
        parser.error(f"--records {options.records}: must be a multiple of {users.PAGE}")

    HERE.mkdir(parents=True, exist_ok=True)
    if options.install:
        chosen = peers(None)
        found = installed(chosen)
        print("Ready:", "; ".join(peer.title for peer in found.values()))
        sys.exit(0 if len(found) == len(chosen) else 1)
    every = peers((options.bmo or measuring.build_bmo()).resolve())
    chosen = installed({name: peer for name, peer in every.items()
                        if name == "bmo" or (name in options.only if options.only else peer.usual)})

    pages = users.make_pages(HERE / "pages", options.records)
    sums = expected(pages)
    LOG.touch()
    load = os.getloadavg()[0]
    results = {name: ([], []) for name in chosen}
    server = f"access_log {LOG}; gzip off; location = /users {{ try_files /$arg_page.json =404; }}"
    with Nginx(HERE / "pages", http="default_type application/json;", server=server) as nginx:
        # In turn, so that whatever else the machine does meets all alike.
        for _ in range(options.rounds):
            for name, peer in chosen.items():
                for runs, run in zip(results[name], cold_and_again(name, peer, nginx.url, len(pages), sums)):
                    runs.append(run)

    size = sum(page.stat().st_size for page in pages) / 1e6
    print(f"{options.records:,} users, {size:.1f} MB of JSON in {len(pages)} pages over HTTP into SQLite; "
          f"{DLT.replace('[sqlalchemy]==', ' ')}, {SQLITE_UTILS.replace('==', ' ')}, GRDB {grdb_version()}; "
          f"{options.rounds} rounds, load {load:.0f} before and {os.getloadavg()[0]:.0f} after.\n"
          "Medians, in brackets the shortest, or the range of a ratio, which is to bmo's run of the same round.")
    for at, title in enumerate(("Cold", "Again, unchanged")):
        rows = [cells(peer.title, results[name][at], results["bmo"][at]) for name, peer in chosen.items()]
        print_table(title, rows, options.markdown)


if __name__ == "__main__":
    main()
