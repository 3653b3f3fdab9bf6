#!/usr/bin/env python3
"""A share of files: `bmo sync` beside a bare libsmbclient program in C, smbclient and rclone.

Starts an smbd of its own on loopback, runs each program in turn, and prints medians as Markdown tables: 50,000 files in 500
folders, the contents of 2,000 files of 20 KB, and a CSV file as rows. With --delay a proxy hands on everything as many
milliseconds later, each way. Everything that it makes is in .build/benchmarks/smb.
"""
import argparse
import os
import pwd
import shutil
import signal
import socket
import sqlite3
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / ".build" / "benchmarks" / "smb"
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


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(port):
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except OSError:
            time.sleep(0.05)
    raise SystemExit(f"nothing answers at port {port}")


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
    """Seconds and the peak MiB of the largest process of a command."""
    environment = {**os.environ, "SMB_PASSWORD": PASSWORD, "PASSWD": PASSWORD, **variables}
    begin = time.monotonic()
    with open(folder / "output", "wb") as output:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=output, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.monotonic() - begin
    if process.returncode != 0:
        raise SystemExit(f"{command} fails:\n{(folder / 'output').read_text()[-2000:]}")
    # The children that a command waited for count in its own numbers of children only.
    return seconds, usage.ru_maxrss / 1024


def bmo(folder, program, entity, port, isWarm=False):
    key, attributes, section = entity
    folder.mkdir(exist_ok=True)
    if not isWarm:
        for path in folder.glob("bmo.sqlite*"):
            path.unlink()
    (folder / "bmo.yml").write_text(
        CONFIG.format(port=port, user=USER, key=key, attributes=attributes, section=section))
    result = run([program, "sync"], folder)
    with sqlite3.connect(folder / "bmo.sqlite") as database:
        count = database.execute('SELECT count(*) FROM "Row"').fetchone()[0]
    return result + (count,)


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
    flags = subprocess.run(
        ["pkg-config", "--cflags", "--libs", "smbclient"], capture_output=True, text=True, check=True).stdout.split()
    floor = WORK / "smb-floor"
    subprocess.run(["cc", "-O2", ROOT / "Benchmarks" / "smb-floor.c", "-o", floor, *flags], check=True)
    server = Server(WORK)
    port, proxy = server.port, None
    if arguments.delay:
        program = WORK / "delay-proxy"
        subprocess.run(["cc", "-O2", "-pthread", ROOT / "Benchmarks" / "delay-proxy.c", "-o", program], check=True)
        port = free_port()
        proxy = subprocess.Popen([program, str(port), str(server.port), str(arguments.delay)])
        wait_for(port)
    try:
        measure(arguments, port, floor)
    finally:
        if proxy:
            proxy.kill()
            proxy.wait()
        server.stop()


def measure(arguments, port, floor):
    url = "smb://127.0.0.1/bench"
    program = Path(arguments.bmo).resolve()
    smbclient = ["smbclient", "-p", str(port), "-U", USER, "//127.0.0.1/bench", "-c"]
    rclone = shutil.which("rclone")
    remote = None
    if rclone:
        secret = subprocess.run([rclone, "obscure", PASSWORD], capture_output=True, text=True, check=True).stdout.strip()
        remote = f":smb,host=127.0.0.1,port={port},user={USER},pass={secret}:bench"
    tasks = {
        "listing": {
            "floor: readdirplus2 in C": lambda: run([floor, "list", url + "/tree", str(port), USER], WORK),
            "floor, 4 processes": lambda: run([floor, "list", url + "/tree", str(port), USER, "4"], WORK),
            "smbclient, recurse ls": lambda: run([*smbclient, "cd tree; recurse; ls"], WORK),
            "rclone lsjson -R": remote and (
                lambda: run([rclone, "lsjson", "-R", remote + "/tree"], WORK, RCLONE_CONFIG="/dev/null")),
            "bmo sync, cold": lambda: bmo(WORK / "listing", program, LISTING, port),
            "bmo sync, unchanged": lambda: bmo(WORK / "listing", program, LISTING, port, True),
        },
        "contents": {
            "smbclient, mget": lambda: run([*smbclient, "cd contents; prompt off; lcd got; mget *"], WORK),
            "rclone copy": remote and (
                lambda: run([rclone, "copy", remote + "/contents", WORK / "got2"], WORK, RCLONE_CONFIG="/dev/null")),
            "bmo sync, cold": lambda: bmo(WORK / "contents", program, CONTENTS, port),
            "bmo sync, unchanged": lambda: bmo(WORK / "contents", program, CONTENTS, port, True),
        },
        "rows": {
            "floor: reading in C": lambda: run([floor, "read", url + "/rows.csv", str(port), USER], WORK),
            "bmo sync, cold": lambda: bmo(WORK / "rows", program, ROWS, port),
            "bmo sync, unchanged": lambda: bmo(WORK / "rows", program, ROWS, port, True),
        },
    }
    for name, programs in tasks.items():
        if arguments.only not in (None, name):
            continue
        results = {title: [] for title, body in programs.items() if body}
        for _ in range(arguments.rounds):
            for title in results:
                for got in ("got", "got2"):
                    shutil.rmtree(WORK / got, ignore_errors=True)
                    (WORK / got).mkdir()
                results[title].append(programs[title]())
        print(f"\n## {name}, {arguments.delay} ms added each way\n\n| what | seconds | peak MiB | rows |\n|---|---:|---:|---:|")
        for title, rounds in results.items():
            seconds = statistics.median(round[0] for round in rounds)
            memory = max(round[1] for round in rounds)
            rows = rounds[-1][2] if len(rounds[-1]) > 2 else ""
            print(f"| {title} | {seconds:.2f} | {memory:.0f} | {rows} |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
