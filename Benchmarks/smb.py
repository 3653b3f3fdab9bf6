#!/usr/bin/env python3
"""A share of files: `bmo sync` beside a bare libsmbclient program in C, smbclient and rclone.

Starts an smbd of its own on loopback, runs each program in turn, and prints medians as Markdown tables: 50,000 files in 500
folders, the contents of 2,000 files of 20 KB, and a CSV file as rows. With --delay a proxy hands on everything as many
milliseconds later, each way. Each program runs on all cores and pinned to one. Everything that it makes is in .build/benchmarks/smb.
"""
import argparse
import os
import pwd
import shutil
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import measuring
from measuring import ALL_CORES, PINS, ROOT, compiled, free_port, package_flags, print_table, wait_for, without_database

WORK = measuring.WORK / "smb"
USER = pwd.getpwuid(os.geteuid()).pw_name
PASSWORD = "benchmark"

SMB_CONF = """\
[global]
server role = standalone server
smb ports = {port}
interfaces = 127.0.0.1/8
bind interfaces only = yes
disable netbios = yes
private dir = {d}/private
lock directory = {d}/lock
state directory = {d}/state
cache directory = {d}/cache
pid directory = {d}/pid
ncalrpc dir = {d}/ncalrpc
log file = {d}/log/smbd.log
passdb backend = tdbsam:{d}/private/passdb.tdb
load printers = no
printing = bsd
printcap name = /dev/null
disable spoolss = yes
[bench]
path = {d}/share
valid users = {user}
read only = yes
"""

CONFIG = """\
version: 1
database: bmo.sqlite
bridges:
  files:
    plugin: smb
    options: {{url: "smb://127.0.0.1:{port}/bench", user: {user}, password: {{env: SMB_PASSWORD}}, timeout: 60}}
entities:
  Row:
    bridge: files
    key: {key}
    attributes: {attributes}
    smb: {section}
"""
LISTING = ("path", "{path: text, name: text, folder: text, size: integer, modified: timestamp}", "{files: 'tree/**'}")
CONTENTS = ("path", "{path: text, size: integer, content: data}", "{files: 'contents/*', content: data}")
ROWS = ("id", "{id: integer, name: text, city: text, amount: decimal}", "{csv: rows.csv}")


def make_share(folder, rows_mb):
    share = folder / "share"
    if not (share / "made").exists() or (share / "made").read_text() != str(rows_mb):
        shutil.rmtree(share, ignore_errors=True)
        for number in range(500):
            path = share / "tree" / f"folder{number:03}"
            path.mkdir(parents=True)
            for file in range(100):
                (path / f"file{file:03}.txt").write_bytes(b"")
        (share / "contents").mkdir()
        for number in range(2000):
            (share / "contents" / f"{number:04}.bin").write_bytes(bytes([number % 256]) * 20_000)
        with open(share / "rows.csv", "w") as file:
            file.write("id,name,city,amount\n")
            row, size = 0, 0
            while size < rows_mb * 1_000_000:
                row += 1
                line = f"{row},Name of somebody {row * 7919 % 100003},City {row % 977},{row % 10000}.{row % 100:02}\n"
                size += len(line)
                file.write(line)
        (share / "made").write_text(str(rows_mb))


class Server:
    def __init__(self, folder):
        for name in ("private", "lock", "state", "cache", "pid", "ncalrpc", "log"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        self.port = free_port()
        conf = folder / "smb.conf"
        conf.write_text(SMB_CONF.format(port=self.port, d=folder, user=USER))
        subprocess.run(
            ["pdbedit", "-s", conf, "-t", "-a", "-u", USER], input=f"{PASSWORD}\n{PASSWORD}\n", text=True, check=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.process = subprocess.Popen(
            ["smbd", "-s", conf, "--foreground", "--no-process-group", "-l", folder / "log"], start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for(self.port)

    def stop(self):
        os.killpg(self.process.pid, signal.SIGTERM)
        self.process.wait()


def run(command, folder, **variables):
    return measuring.run(command, folder, SMB_PASSWORD=PASSWORD, PASSWD=PASSWORD, **variables)


def bmo(folder, command, entity, port, isWarm=False):
    key, attributes, section = entity
    folder.mkdir(exist_ok=True)
    if not isWarm:
        without_database(folder)
    (folder / "bmo.yml").write_text(
        CONFIG.format(port=port, user=USER, key=key, attributes=attributes, section=section))
    result = run([*command, "sync"], folder)
    with sqlite3.connect(folder / "bmo.sqlite") as database:
        count = database.execute('SELECT count(*) FROM "Row"').fetchone()[0]
    if not isWarm:
        print(f"{folder.name}: {count:,} rows", file=sys.stderr)
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bmo", default=ROOT / ".build" / "release" / "bmo", help="the command to measure")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rows-mb", type=int, default=500, help="size of the CSV file")
    parser.add_argument("--delay", type=int, default=0, help="milliseconds to add each way")
    parser.add_argument("--only", choices=["listing", "contents", "rows"])
    arguments = parser.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    make_share(WORK, arguments.rows_mb)
    floor = compiled("smb/smb-floor", "smb-floor.c", *package_flags("smbclient"))
    server = Server(WORK)
    port, proxy = server.port, None
    if arguments.delay:
        port = free_port()
        proxy = subprocess.Popen([compiled("delay-proxy", "delay-proxy.c", "-pthread"), str(port), str(server.port), str(arguments.delay)])
        wait_for(port)
    try:
        measure(arguments, server, port, floor)
    finally:
        if proxy:
            proxy.kill()
            proxy.wait()
        server.stop()


def measure(arguments, server, port, floor):
    url = "smb://127.0.0.1/bench"
    rows_floor = compiled("smb/csv-floor", "csv-floor.c", "-lcsv", "-lsqlite3")
    program = Path(arguments.bmo).resolve()
    smbclient = ["smbclient", "-p", str(port), "-U", USER, "//127.0.0.1/bench", "-c"]
    rclone = shutil.which("rclone")
    remote = None
    if rclone:
        secret = subprocess.run([rclone, "obscure", PASSWORD], capture_output=True, text=True, check=True).stdout.strip()
        remote = f":smb,host=127.0.0.1,port={port},user={USER},pass={secret}:bench"

    def command(*words, **variables):
        return lambda pin: run([*pin, *words], WORK, **variables)

    def sync(name, entity, isWarm=False):
        return lambda pin: bmo(WORK / name, [*pin, program], entity, port, isWarm)

    def into_sqlite(isWarm=False):
        def measured(pin):
            if not isWarm:
                without_database(WORK, "floor.sqlite")
            return run([*pin, rows_floor, "floor.sqlite", WORK / "share" / "rows.csv"], WORK)
        return measured

    # Of each task what it is compared with, and its programs.
    tasks = {
        "listing": ("floor, 4 processes", {
            "floor: readdirplus2 in C": command(floor, "list", url + "/tree", str(port), USER),
            "floor, 4 processes": command(floor, "list", url + "/tree", str(port), USER, "4"),
            "smbclient, recurse ls": command(*smbclient, "cd tree; recurse; ls"),
            "rclone lsjson -R": remote and command(rclone, "lsjson", "-R", remote + "/tree", RCLONE_CONFIG="/dev/null"),
            "bmo sync, cold": sync("listing", LISTING),
            "bmo sync, unchanged": sync("listing", LISTING, True),
        }),
        "contents": ("smbclient, mget", {
            "smbclient, mget": command(*smbclient, "cd contents; prompt off; lcd got; mget *"),
            "rclone copy": remote and command(
                rclone, "copy", remote + "/contents", WORK / "got2", RCLONE_CONFIG="/dev/null"),
            "bmo sync, cold": sync("contents", CONTENTS),
            "bmo sync, unchanged": sync("contents", CONTENTS, True),
        }),
        "rows": ("floor: libcsv and SQLite, from disk, cold", {
            "reading in C, over SMB": command(floor, "read", url + "/rows.csv", str(port), USER),
            "floor: libcsv and SQLite, from disk, cold": into_sqlite(),
            "floor: libcsv and SQLite, from disk, unchanged": into_sqlite(True),
            "bmo sync, cold": sync("rows", ROWS),
            "bmo sync, unchanged": sync("rows", ROWS, True),
        }),
    }
    for name, (base, programs) in tasks.items():
        if arguments.only not in (None, name):
            continue
        results = {pin: {title: [] for title, body in programs.items() if body} for pin in PINS}
        for _ in range(arguments.rounds):
            for pin, found in results.items():
                # Sessions are processes that smbd forks: they inherit its cores.
                every = os.cpu_count()
                os.sched_setaffinity(server.process.pid, range(every) if pin == ALL_CORES else {every - 1})
                for title, runs in found.items():
                    for got in ("got", "got2"):
                        shutil.rmtree(WORK / got, ignore_errors=True)
                        (WORK / got).mkdir()
                    runs.append(programs[title](PINS[pin]))
        print(f"\n## {name}, {arguments.delay} ms added each way; {arguments.rounds} rounds; the floor is \"{base}\"")
        for pin, found in results.items():
            print_table(pin, [(title, runs, None if title == base else found[base]) for title, runs in found.items()])


if __name__ == "__main__":
    sys.exit(main())
