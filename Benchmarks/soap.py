#!/usr/bin/env python3
"""A SOAP reply of 400,000 rows: `bmo sync` beside a floor in C and a Python program with zeep.

Serves a WSDL and the reply with an nginx of its own on loopback, runs each program in turn, cold and again, compares the
rows, and prints medians as a Markdown table. Everything that it makes is in .build/benchmarks/soap.
"""
import argparse
import os
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
WORK = ROOT / ".build" / "benchmarks" / "soap"
ROWS = 400_000

CONFIG = """\
version: 1
database: bmo.sqlite
bridges:
  rows:
    plugin: soap
    options: {{wsdl: "{url}/service.wsdl", wsdl_cache: ""}}
entities:
  Row:
    bridge: rows
    key: id
    attributes: {{id: integer, name: text, amount: decimal, active: boolean}}
    soap: {{operation: ListRows, records: ListRowsResponse/row}}
"""

WSDL = """\
<?xml version="1.0" encoding="UTF-8"?>
<definitions name="Rows" targetNamespace="urn:rows" xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:t="urn:rows"
    xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/">
  <types><xs:schema targetNamespace="urn:rows" elementFormDefault="qualified">
    <xs:complexType name="Row"><xs:sequence>
      <xs:element name="id" type="xs:int"/><xs:element name="name" type="xs:string"/>
      <xs:element name="amount" type="xs:decimal"/><xs:element name="active" type="xs:boolean"/>
    </xs:sequence></xs:complexType>
    <xs:element name="ListRows"><xs:complexType><xs:sequence/></xs:complexType></xs:element>
    <xs:element name="ListRowsResponse"><xs:complexType><xs:sequence>
      <xs:element name="row" type="t:Row" minOccurs="0" maxOccurs="unbounded"/>
    </xs:sequence></xs:complexType></xs:element>
  </xs:schema></types>
  <message name="In"><part name="parameters" element="t:ListRows"/></message>
  <message name="Out"><part name="parameters" element="t:ListRowsResponse"/></message>
  <portType name="Rows"><operation name="ListRows"><input message="t:In"/><output message="t:Out"/></operation></portType>
  <binding name="Rows" type="t:Rows"><soap:binding transport="http://schemas.xmlsoap.org/soap/http"/>
    <operation name="ListRows"><soap:operation soapAction=""/>
      <input><soap:body use="literal"/></input><output><soap:body use="literal"/></output></operation></binding>
  <service name="Rows"><port name="Rows" binding="t:Rows"><soap:address location="{url}/reply.xml"/></port></service>
</definitions>
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
    types {{ text/xml xml wsdl; }}
    sendfile on;
    client_body_temp_path {state}/body;
    proxy_temp_path {state}/proxy;
    fastcgi_temp_path {state}/fastcgi;
    uwsgi_temp_path {state}/uwsgi;
    scgi_temp_path {state}/scgi;
    server {{
        listen 127.0.0.1:{port};
        root {files};
        error_page 405 =200 $uri;  # a POST gets the file
    }}
}}
"""


def make_reply(path, rows):
    stamp = path.with_suffix(f".{rows}")
    if stamp.exists():
        return
    for old in path.parent.glob("reply.*"):
        old.unlink()
    with open(path, "w", encoding="utf-8") as file:
        file.write('<?xml version="1.0" encoding="UTF-8"?>\n<s:Envelope '
                   'xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body><ListRowsResponse xmlns="urn:rows">')
        for number in range(1, rows + 1):
            file.write(f"<row><id>{number}</id><name>N{number * 7919 % 100003}</name>"
                       f"<amount>{number % 1000}.{number % 90 + 10}</amount>"
                       f"<active>{'true' if number % 3 else 'false'}</active></row>")
        file.write("</ListRowsResponse></s:Body></s:Envelope>\n")
    stamp.touch()


class Server:
    """nginx of our own, on a free loopback port; a context manager."""

    def __enter__(self):
        state = WORK / "nginx"
        shutil.rmtree(state, ignore_errors=True)
        state.mkdir(parents=True)
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        (WORK / "files" / "service.wsdl").write_text(WSDL.format(url=self.url))
        conf = state / "nginx.conf"
        conf.write_text(NGINX.format(user="user root;" if os.geteuid() == 0 else "", state=state, port=port,
                                     files=WORK / "files"))
        self.process = subprocess.Popen(["nginx", "-c", conf, "-p", state, "-e", state / "error.log"])
        end = time.monotonic() + 10
        while True:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                return self
            except ConnectionRefusedError:
                if self.process.poll() is not None or time.monotonic() > end:
                    self.__exit__()
                    sys.exit(f"nginx did not start: {(state / 'error.log').read_text()}")
                time.sleep(0.02)

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()


class Run(NamedTuple):
    seconds: float
    mebibytes: float  # of the largest of its processes


def run(command, folder):
    began = time.perf_counter()
    with open(folder / "output.log", "wb") as log:
        process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{command[0]} ended with {process.returncode}:\n{(folder / 'output.log').read_text()}")
    return Run(seconds, usage.ru_maxrss / 1024)


def cold_and_again(command, folder):
    for suffix in ("", "-wal", "-shm"):
        (folder / ("bmo.sqlite" + suffix)).unlink(missing_ok=True)
    return run(command, folder), run(command, folder)


def same_rows(folders, rows):
    """Compares all values; the amounts as numbers, since zeep and bmo may write one decimal in two ways."""
    columns = "id, name, CAST(amount AS REAL), active"
    for name, folder in folders.items():
        with sqlite3.connect(folders["floor"] / "bmo.sqlite") as connection:
            connection.execute("ATTACH ? AS other", [str(folder / "bmo.sqlite")])
            count = connection.execute("SELECT count(*) FROM other.Row").fetchone()[0]
            different = connection.execute(
                f"SELECT count(*) FROM (SELECT {columns} FROM main.Row EXCEPT SELECT {columns} FROM other.Row)"
            ).fetchone()[0]
        connection.close()
        if (count, different) != (rows, 0):
            sys.exit(f"{name} has {count} rows of {rows}, {different} of them with other values than the floor's")


def build_floor():
    floor = WORK / "soap-floor"
    source = ROOT / "Benchmarks" / "soap-floor.c"
    if not floor.exists() or floor.stat().st_mtime < source.stat().st_mtime:
        flags = subprocess.run(["pkg-config", "--cflags", "--libs", "libxml-2.0", "sqlite3"], text=True, check=True,
                               stdout=subprocess.PIPE).stdout.split()
        subprocess.run(["cc", "-O2", "-Wall", "-Wextra", "-o", floor, source, *flags], check=True)
    return floor


def build_bmo():
    log = subprocess.run(["swift", "build", "-c", "release"], cwd=ROOT, text=True, capture_output=True)
    if log.returncode != 0:
        sys.exit(log.stdout + log.stderr)
    path = subprocess.run(["swift", "build", "-c", "release", "--show-bin-path"], cwd=ROOT, text=True, check=True,
                          stdout=subprocess.PIPE).stdout.strip()
    return Path(path) / "bmo"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5, help="how often each program runs (default: 5)")
    parser.add_argument("--rows", type=int, default=ROWS, help=f"11000000 make 1 GB (default: {ROWS})")
    parser.add_argument("--bmo", type=Path, help="a built bmo (default: builds a release)")
    parser.add_argument("--no-zeep", action="store_true", help="leaves zeep out, which takes a GB per 400,000 rows")
    options = parser.parse_args()

    (WORK / "files").mkdir(parents=True, exist_ok=True)
    reply = WORK / "files" / "reply.xml"
    make_reply(reply, options.rows)
    bmo = (options.bmo or build_bmo()).resolve()
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    python = cache / "bmo" / "test-python" / "bin" / "python3"
    with Server() as server:
        commands = {"floor": [build_floor(), "bmo.sqlite", reply], "bmo": [bmo, "sync"]}
        if not options.no_zeep:
            commands["zeep"] = [python, ROOT / "Benchmarks" / "soap-zeep.py", server.url + "/service.wsdl", "bmo.sqlite"]
        folders = {name: WORK / f"run-{name}" for name in commands}
        for folder in folders.values():
            folder.mkdir(exist_ok=True)
        (folders["bmo"] / "bmo.yml").write_text(CONFIG.format(url=server.url))
        results = {name: ([], []) for name in commands}
        # In turn, so that whatever else the machine does meets all alike.
        for _ in range(options.rounds):
            for name, command in commands.items():
                cold, again = cold_and_again(command, folders[name])
                results[name][0].append(cold)
                results[name][1].append(again)
            same_rows(folders, options.rows)
    size = reply.stat().st_size / 1e6
    print(f"{options.rows:,} rows, a reply of {size:.0f} MB; median of {options.rounds} rounds\n")
    print("| what | seconds | peak MiB | times the floor |")
    print("|---|---:|---:|---:|")
    titles = {"floor": ("floor, cold (from disk)", "floor, again (from disk)"),
              "bmo": ("`bmo sync`, cold (HTTP)", "`bmo sync`, unchanged (HTTP)"),
              "zeep": ("zeep and sqlite3 in Python, cold (HTTP)", "zeep and sqlite3 in Python, again (HTTP)")}
    for name, both in results.items():
        for index, runs in enumerate(both):
            # The ratio of each round first: a round's runs meet the same machine.
            ratio = statistics.median(one.seconds / floor.seconds for one, floor in zip(runs, results["floor"][index]))
            seconds, mebibytes = (statistics.median(values) for values in zip(*runs))
            times = "" if name == "floor" else f"{ratio:.2f}"
            print(f"| {titles[name][index]} | {seconds:.2f} | {mebibytes:.0f} | {times} |")


if __name__ == "__main__":
    main()
