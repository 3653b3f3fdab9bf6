#!/usr/bin/env python3
"""How the time of `bmo sync` depends on the shape of the data: wide rows, deep and nested ones, many entities, growth.

Each task brings made-up data into SQLite, cold and unchanged, and prints processor time per value or per record, so that
the lines of a table can be compared with each other. An nginx of its own on loopback serves the data;
`growth` uses the bridge in C that counts (Tests/CountingBridge), which costs next to nothing.
Everything that it makes is in .build/benchmarks/shapes.
"""
import argparse
import itertools
import json
import shutil
import sqlite3
import statistics
import sys
from pathlib import Path

from measuring import ROOT, WORK, Nginx, build_bmo, compiled, run, without_database

HERE = WORK / "shapes"
REST = """\
version: 1
bridges: {{api: {{plugin: rest, options: {{url: "{url}"}}}}}}
entities:
{entities}
"""


class Place:
    """A folder with a configuration, and the runs of bmo in it."""

    def __init__(self, options, name):
        self.bmo, self.rounds, self.folder = options.bmo, options.rounds, HERE / name
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.variables = {}

    def write(self, text):
        (self.folder / "bmo.yml").write_text(text)

    def run(self, *words):
        return run([self.bmo, *words], self.folder, **self.variables)

    def cold_and_again(self, *synced):
        """The run of the least processor time into no database, and the same again."""
        cold, again = [], []
        for _ in range(self.rounds):
            without_database(self.folder)
            cold.append(self.run("sync", *synced))
            again.append(self.run("sync", *synced))
        return tuple(min(runs, key=lambda one: one.processor) for runs in (cold, again))

    def count(self, table):
        with sqlite3.connect(self.folder / "bmo.sqlite") as database:
            return database.execute(f'SELECT count(*) FROM "{table}"').fetchone()[0]

    @property
    def size(self):
        return sum(path.stat().st_size for path in self.folder.glob("bmo.sqlite*"))


def table(title, *columns):
    print(f"\n## {title}\n\n| {' | '.join(columns)} |\n|---|{'---:|' * (len(columns) - 1)}", flush=True)


def row(*cells):
    print(f"| {' | '.join(str(cell) for cell in cells)} |", flush=True)


def micro(seconds, count):
    return f"{seconds / count * 1e6:.2f}"


def serve(folder):
    """Serves folder/files/NAME/PAGE.json as /NAME?page=PAGE, and as /NAME/KEY the same file for each key."""
    return Nginx(folder / "files", http="default_type application/json;", server="""
        location ~ ^/(?<list>[a-z]+)$ { try_files /$list/$arg_page.json =404; }
        location ~ ^/(?<list>[a-z]+)/[0-9]+$ { try_files /$list/one.json =404; }""")


def pages(folder, name, records, size):
    """Writes the pages of a list; the one after the last is empty.

    Never holds them all: the peak that `wait4` tells of a program includes what this process had when it started it.
    """
    place = folder / "files" / name
    place.mkdir(parents=True)
    records = iter(records)
    for number in itertools.count(1):
        items = list(itertools.islice(records, size))
        text = json.dumps({"items": items, "more": len(items) == size}, separators=(",", ":"))
        (place / f"{number}.json").write_text(text)
        if len(items) < size:
            break


def entity(name, attributes, path, extra=""):
    return (f"  {name}:\n    bridge: api\n    key: id\n    attributes: {{{attributes}}}\n{extra}"
            f"    rest: {{path: /{path}, records: $.items, paging: {{style: page, has_more: $.more}}}}\n")


def measure(title, options, lists, entities, counted, unit, *synced):
    """Syncs lists from nginx, and prints the processor time for each of what is counted."""
    place = Place(options, title)
    for name, records, size in lists:
        pages(place.folder, name, records, size)
    with serve(place.folder) as server:
        place.write(REST.format(url=server.url, entities=entities))
        cold, again = place.cold_and_again(*synced)
    kinds, number = counted(place)
    row(kinds, f"{number:,} {unit}", f"{cold.processor:.2f}", f"{again.processor:.2f}", micro(cold.processor, number),
        micro(again.processor, number), f"{cold.mebibytes:.0f}", f"{place.size / number:.0f}")


SHAPE_COLUMNS = ("shape", "number", "cold, s of processor", "unchanged, s", "us each, cold", "us each, unchanged",
                 "peak MiB", "bytes of the file each")


def wide(options):
    table("Wide: columns of a row, with the same number of values", *SHAPE_COLUMNS)
    for columns in (10, 50, 200):
        rows = 2_000_000 // columns
        names = [f"c{number}" for number in range(1, columns)]

        def records():
            for identifier in range(rows):
                yield {"id": identifier, **{name: f"value {identifier * 31 + at}" for at, name in enumerate(names)}}

        attributes = ", ".join(["id: integer"] + [f"{name}: text" for name in names])
        measure(f"wide-{columns}", options, [("rows", records(), 10_000 // columns)], entity("Row", attributes, "rows"),
                lambda place: (f"{columns} columns", place.count("Row") * columns), "values")


def nested(level):
    return {"at": f"level {level}", **({"below": nested(level - 1)} if level else {})}


def deep(options):
    table("Deep: an attribute of each level of nested objects", *SHAPE_COLUMNS)
    for levels in (1, 5, 20):
        rows = 1_000_000 // (levels + 1)
        paths = [".".join(["below"] * level + ["at"]) for level in range(1, levels + 1)]
        attributes = ", ".join(
            ["id: integer"] + [f"c{at}: {{type: text, from: {path}}}" for at, path in enumerate(paths)])
        records = ({"id": identifier, **nested(levels)} for identifier in range(rows))
        measure(f"deep-{levels}", options, [("rows", records, 1000)], entity("Row", attributes, "rows"),
                lambda place: (f"{levels} {'level' if levels == 1 else 'levels'}", place.count("Row") * (levels + 1)), "values")


def children(options):
    table("Children: nested objects with a table of their own, as many in all", *SHAPE_COLUMNS)
    for each in (1, 10, 1000):
        parents = 200_000 // each
        records = (
            {"id": parent, "items": [{"id": parent * each + at, "name": f"child {at}"} for at in range(each)]}
            for parent in range(parents))
        entities = entity("Parent", "id: integer", "parents",
                          "    relationships: {children: {many: Child, inverse: parent, from: items}}\n")
        entities += ("  Child:\n    bridge: api\n    key: id\n    attributes: {id: integer, name: text}\n"
                     "    relationships: {parent: {to: Parent}}\n")
        measure(f"children-{each}", options, [("parents", records, max(1, 1000 // each))], entities,
                lambda place: (f"{each} of each parent", place.count("Child")), "children", "Parent")


def alone(number, count):
    return entity(f"Entity{number}", "id: integer, name: text, size: integer", "rows")


def related(number, count):
    """Each entity refers to the next one, so that all of them can be reached from the first."""
    extra = f"    relationships: {{next: {{to: Entity{(number + 1) % count}, from: size}}}}\n"
    return entity(f"Entity{number}", "id: integer, name: text", "rows", extra)


def kinds(number, count):
    """All entities but the first are sub-entities of it, with an attribute of their own."""
    if number == 0:
        return entity("Entity0", "id: integer, name: text, size: integer", "rows")
    return (f"  Entity{number}:\n    extends: Entity0\n    when: {{property: name, equals: kind {number}}}\n"
            f"    attributes: {{own{number}: text}}\n")


def entities(options):
    table("Entities of one configuration", "entities", "`bmo check`, s of processor", "wall, s", "peak MiB",
          "`bmo status` of the made database, s of processor", "`bmo sync` again, s of processor", "wall, s", "peak MiB")
    forms = [("", alone, (1, 100, 2000)), (", each refers to the next", related, (100, 1000, 2000)),
             (", sub-entities of one", kinds, (50, 200, 800))]
    for words, form, counts in forms:
        for count in counts:
            place = Place(options, f"entities-{form.__name__}-{count}")
            text = "".join(form(number, count) for number in range(count))
            pages(place.folder, "rows", [{"id": 1, "name": "one", "size": 1}], 1)
            with serve(place.folder) as server:
                place.write(REST.format(url=server.url, entities=text))
                place.run("sync", "-q")
                syncs = [place.run("sync", "-q") for _ in range(options.rounds)]
                checks = [place.run("check") for _ in range(options.rounds)]
            status = [place.run("status") for _ in range(options.rounds)]
            best, sync = (min(runs, key=lambda one: one.processor) for runs in (checks, syncs))
            row(f"{count:,}{words}", f"{best.processor:.3f}", f"{best.seconds:.3f}", f"{best.mebibytes:.0f}",
                f"{min(one.processor for one in status):.3f}", f"{sync.processor:.3f}", f"{sync.seconds:.3f}",
                f"{sync.mebibytes:.0f}")


def counting(options, name, count):
    """A place whose records the bridge in C counts."""
    place = Place(options, name)
    bridge = compiled("shapes/plugins/libCountingBridge.so", ROOT / "Tests/CountingBridge/counting_bridge.c", "-shared",
                      "-fPIC", f"-I{ROOT / 'Sources/CBridge/include'}")
    place.variables = {"BMO_PLUGIN_PATH": str(bridge.parent)}
    place.write(
        "version: 1\n"
        f"bridges: {{numbers: {{plugin: counting, options: {{count: {count}, batch_size: 1000, page_size: 1000}}}}}}\n"
        "entities:\n  Number:\n    bridge: numbers\n    key: id\n    attributes: {id: integer, name: text}\n"
        "    counting: {}\n")
    return place


def growth(options):
    table("Growth: one table of two columns", "records", "cold, s of processor", "unchanged, s", "us each, cold",
          "us each, unchanged", "peak MiB", "bytes of the file each")
    count = 10_000
    while count <= options.records:
        place = counting(options, "growth", count)
        cold, again = place.cold_and_again()
        if place.count("Number") != count:
            sys.exit(f"{place.count('Number')} rows of {count}")
        row(f"{count:,}", f"{cold.processor:.2f}", f"{again.processor:.2f}", micro(cold.processor, count),
            micro(again.processor, count), f"{max(cold.mebibytes, again.mebibytes):.0f}", f"{place.size / count:.0f}")
        count *= 10


def history(options):
    """What the history of a tenth of the rows takes, and what reads and reverts it."""
    count = min(options.records, 1_000_000)
    place = Place(options, "history")

    def records(word):
        for identifier in range(count):
            name = f"{word} {identifier}" if identifier % 10 == 0 else f"old {identifier}"
            yield {"id": identifier, "name": name, "city": f"City {identifier % 977}", "size": identifier * 7919 % 100_003}

    pages(place.folder, "rows", records("old"), 1000)
    table(f"History: {count:,} rows, of which the third run changes a tenth", "what", "wall, s", "s of processor",
          "peak MiB", "size of the database, MB")
    with serve(place.folder) as server:
        place.write(REST.format(
            url=server.url, entities=entity("Row", "id: integer, name: text, city: text, size: integer", "rows")))

        def line(name, *words):
            one = place.run(*words)
            row(name, f"{one.seconds:.2f}", f"{one.processor:.2f}", f"{one.mebibytes:.0f}", f"{place.size / 1e6:.1f}")

        line("first load", "sync")
        line("unchanged", "sync")
        shutil.rmtree(place.folder / "files")
        pages(place.folder, "rows", records("new"), 1000)
        line("a tenth changed", "sync")
        with sqlite3.connect(place.folder / "bmo.sqlite") as database:
            newest = database.execute("SELECT max(id) FROM bmo_runs").fetchone()[0]
        line("`bmo diff --json` of that run", "diff", str(newest), "--json")
        line("`bmo undo` of that run", "undo", str(newest))


TASKS = {"wide": wide, "deep": deep, "children": children, "entities": entities, "growth": growth, "history": history}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3, help="how often each is measured (default: 3)")
    parser.add_argument("--records", type=int, default=10_000_000, help="how far `growth` goes (default: 10,000,000)")
    parser.add_argument("--only", choices=TASKS, action="append", help="only this task; may be repeated")
    parser.add_argument("--bmo", type=Path, help="a built bmo (default: builds a release)")
    options = parser.parse_args()
    options.bmo = (options.bmo or build_bmo()).resolve()
    HERE.mkdir(parents=True, exist_ok=True)
    for name, task in TASKS.items():
        if options.only is None or name in options.only:
            task(options)


if __name__ == "__main__":
    main()
