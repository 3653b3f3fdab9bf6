#!/usr/bin/env python3
"""A walk by parent: requests a second of `bmo sync`, beside a loop of libcurl's multi interface that only receives the same.

An nginx of its own on loopback serves made-up data, also through a proxy that answers some milliseconds later. With
--postgres, the walk also goes into a PostgreSQL server of its own, as many milliseconds away. Prints Markdown tables;
everything that it makes is in .build/benchmarks.
"""
import argparse
import json
import statistics
from pathlib import Path

from measuring import build_bmo, compiled, run, without_database
from postgres import Database, Proxy
from shapes import HERE, REST, Place, entity, pages, row, serve, table


def configure(place, url, concurrency, database=None):
    text = entity("Parent", "id: integer", "parents")
    text += ("  Child:\n    bridge: api\n    key: [parent_key, id]\n    attributes: {parent_key: {type: integer, from: parent}, id: integer, name: text}\n"
             f"    relationships: {{parent: {{to: Parent}}}}\n"
             f"    parent: {{relationship: parent, concurrency: {concurrency}}}\n"
             "    rest: {path: \"/children/{parent.id}\", records: $.items, paging: none}\n")
    text = REST.format(url=url, entities=text)
    place.write(text if database is None else text.replace("version: 1\n", f"version: 1\ndatabase: {database}\n"))


def median(runs, value):
    return statistics.median(value(one) for one in runs)


def line(name, runs, count, floors=None, *others):
    times = f"{statistics.median(a.seconds / b.seconds for a, b in zip(runs, floors)):.2f}" if floors else ""
    wall = median(runs, lambda one: one.seconds)
    row(name, f"{wall:.2f}", f"{count / wall:,.0f}", times,
        f"{median(runs, lambda one: one.processor) / count * 1e6:.0f}", f"{median(runs, lambda one: one.mebibytes):.0f}",
        *others)


def into_file(options, place, url, concurrency):
    """The walk into SQLite, cold and unchanged, and the floor, in turn."""
    floor = compiled("parents-floor", "parents-floor.c", "-lcurl")
    configure(place, url, concurrency)
    floors, cold, again = [], [], []
    for _ in range(options.rounds):
        without_database(place.folder)
        place.run("sync", "-q", "Parent")
        floors.append(run([floor, f"{url}/children/", str(options.parents), str(concurrency)], place.folder))
        cold.append(place.run("sync", "-q", "Child"))
        again.append(place.run("sync", "-q", "Child"))
    expected = options.parents * options.children
    if place.count("Child") != expected:
        raise SystemExit(f"{place.count('Child')} rows of {expected}")
    line("floor", floors, options.parents)
    line("`bmo sync Child`, cold", cold, options.parents, floors)
    line("`bmo sync Child`, unchanged", again, options.parents, floors)


def into_server(options, place, url, database, delay):
    """The walk into PostgreSQL so many milliseconds away, cold and unchanged."""
    cold, again, trips = [], [], []
    for _ in range(options.rounds):
        database.psql("DROP SCHEMA IF EXISTS bmo CASCADE")
        with Proxy(database.port, delay) as proxy:
            configure(place, url, options.concurrency[-1], f"postgresql://bmo@127.0.0.1:{proxy.port}/postgres")
            place.run("sync", "-q", "Parent")
            cold.append(place.run("sync", "-q", "Child"))
            again.append(place.run("sync", "-q", "Child"))
        trips.append(proxy.trips)
    expected = options.parents * options.children
    found = int(database.psql('SELECT count(*) FROM bmo."Child"'))
    if found != expected:
        raise SystemExit(f"{found} rows of {expected}")
    both = f"{statistics.median(trips) / options.parents / 2:.2f}"
    line(f"{delay} ms away, cold", cold, options.parents, None, both)
    line(f"{delay} ms away, unchanged", again, options.parents, None, both)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--parents", type=int, default=10_000, help="how many parents (default: 10,000)")
    parser.add_argument("--children", type=int, default=5, help="the children of each (default: 5)")
    parser.add_argument("--rounds", type=int, default=3, help="how often each is measured (default: 3)")
    parser.add_argument("--bmo", type=Path, help="a built bmo (default: builds a release)")
    parser.add_argument("--latency", default="0,1", help="milliseconds that the server takes (default: 0,1)")
    parser.add_argument("--concurrency", default="4,16", help="requests at a time (default: 4,16)")
    parser.add_argument("--postgres", default="", help="milliseconds per round trip to PostgreSQL, such as 0,2")
    options = parser.parse_args()
    options.bmo = (options.bmo or build_bmo()).resolve()
    options.concurrency = [int(number) for number in options.concurrency.split(",")]
    HERE.mkdir(parents=True, exist_ok=True)
    place = Place(options, "parents")
    pages(place.folder, "parents", ({"id": identifier} for identifier in range(options.parents)), 1000)
    (place.folder / "files" / "children").mkdir()
    children = [{"id": number, "name": f"child {number}"} for number in range(options.children)]
    (place.folder / "files" / "children" / "one.json").write_text(json.dumps({"items": children, "more": False}))
    columns = ("what", "wall, s", "requests a second", "times the floor's wall", "us of processor each", "peak MiB")
    with serve(place.folder) as server:
        for latency in filter(None, options.latency.split(",")):
            with Proxy(server.port, float(latency)) as proxy:
                url = server.url if float(latency) == 0 else f"http://127.0.0.1:{proxy.port}"
                for concurrency in options.concurrency:
                    table(f"{options.parents:,} parents with {options.children} children, {concurrency} requests at a time, "
                          f"a server that takes {latency} ms", *columns)
                    into_file(options, place, url, concurrency)
        if options.postgres:
            table(f"{options.parents:,} parents with {options.children} children into PostgreSQL, "
                  f"{options.concurrency[-1]} requests at a time", *columns, "round trips each")
            with Database() as database:
                for delay in options.postgres.split(","):
                    into_server(options, place, server.url, database, float(delay))


if __name__ == "__main__":
    main()
