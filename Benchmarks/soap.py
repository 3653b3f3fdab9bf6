#!/usr/bin/env python3
"""A SOAP reply of 400,000 rows: `bmo sync` beside a floor in C and a Python program with zeep.

Serves a WSDL and the reply with an nginx of its own on loopback, runs each program in turn, cold and again, on all cores
and pinned to one, compares the rows, and prints wall and processor time as Markdown tables. Everything that it makes is in .build/benchmarks/soap.
"""
import argparse
import os
import sqlite3
import sys
from pathlib import Path

import measuring
from measuring import ALL_CORES, PINS, ROOT, Nginx, build_bmo, cold_and_again, compiled, package_flags, print_table

WORK = measuring.WORK / "soap"
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


def serve(files):
    # nginx answers a POST with 405, so that the error's page is the file.
    server = Nginx(files, http="types { text/xml xml wsdl; }", server="error_page 405 =200 $uri;")
    (files / "service.wsdl").write_text(WSDL.format(url=server.url))
    return server


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
    return compiled("soap/soap-floor", "soap-floor.c", *package_flags("libxml-2.0", "sqlite3"))


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
    with serve(WORK / "files") as server:
        commands = {"floor": [build_floor(), "bmo.sqlite", reply], "bmo": [bmo, "sync"]}
        if not options.no_zeep:
            commands["zeep"] = [python, ROOT / "Benchmarks" / "soap-zeep.py", server.url + "/service.wsdl", "bmo.sqlite"]
        folders = {name: WORK / f"run-{name}" for name in commands}
        for folder in folders.values():
            folder.mkdir(exist_ok=True)
        (folders["bmo"] / "bmo.yml").write_text(CONFIG.format(url=server.url))
        results = {pin: {name: ([], []) for name in commands} for pin in PINS}
        # In turn, so that whatever else the machine does meets all alike.
        for _ in range(options.rounds):
            for pin, found in results.items():
                for name, command in commands.items():
                    # Pinned, zeep would take half a minute a round to say the same again.
                    if name == "zeep" and pin != ALL_CORES:
                        continue
                    cold, again = cold_and_again([*PINS[pin], *command], folders[name])
                    found[name][0].append(cold)
                    found[name][1].append(again)
                same_rows(folders, options.rows)
    print(f"{options.rows:,} rows, a reply of {reply.stat().st_size / 1e6:.0f} MB; {options.rounds} rounds")
    titles = {"floor": ("floor, cold (from disk)", "floor, again (from disk)"),
              "bmo": ("`bmo sync`, cold (HTTP)", "`bmo sync`, unchanged (HTTP)"),
              "zeep": ("zeep and sqlite3 in Python, cold (HTTP)", "zeep and sqlite3 in Python, again (HTTP)")}
    for pin, found in results.items():
        print_table(pin, [
            (titles[name][index], runs, None if name == "floor" else found["floor"][index])
            for name, both in found.items() for index, runs in enumerate(both)])


if __name__ == "__main__":
    main()
