#!/usr/bin/env python3
"""200,000 users over HTTP into SQLite: `bmo sync` beside the floor, a C++ program that does the least possible.

Generates the users (the same each time), serves them with an nginx of its own on loopback, runs both programs in turn
and prints wall and processor time as Markdown tables: once on all cores, once with the program pinned to the first core
and nginx to the last. Everything that it makes is in .build/benchmarks.
"""
import argparse
import json
import random
import shutil
import sqlite3
import sys
from pathlib import Path

from measuring import PINS, WORK, Nginx, build_bmo, cold_and_again, compiled, print_table, run

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


def serve(pages):
    return Nginx(pages, http="default_type application/json;",
                 server="location = /users { try_files /$arg_page.json =404; }")


def build_floor():
    return compiled("floor", "floor.cpp", "-std=c++17", "-lsimdjson", "-lsqlite3", compiler="g++")


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

    results = {pin: {name: [] for name in ("floor, cold", "floor, again", "cold", "again", "token")} for pin in PINS}
    with serve(WORK / "pages") as server:
        folders = {name: WORK / name for name in ("run-floor", "run-bmo", "run-bmo-token")}
        for folder in folders.values():
            folder.mkdir(exist_ok=True)
        for name, incremental in (("run-bmo", ""), ("run-bmo-token", "\n    incremental: token")):
            (folders[name] / "bmo.yml").write_text(CONFIG.format(url=server.url, page=PAGE, incremental=incremental))
        if bmo:
            cold_and_again([bmo, "sync"], folders["run-bmo-token"])
        # In turn, so that whatever else the machine does meets both alike.
        for _ in range(options.rounds):
            for pin, found in results.items():
                floor_runs = cold_and_again(
                    [*PINS[pin], floor, "floor.sqlite", *pages], folders["run-floor"], "floor.sqlite")
                found["floor, cold"].append(floor_runs[0])
                found["floor, again"].append(floor_runs[1])
                if not bmo:
                    continue
                cold, again = cold_and_again([*PINS[pin], bmo, "sync"], folders["run-bmo"])
                found["cold"].append(cold)
                found["again"].append(again)
                found["token"].append(run([*PINS[pin], bmo, "sync"], folders["run-bmo-token"]))
                for name in ("run-bmo", "run-bmo-token"):
                    same_rows(folders["run-floor"] / "floor.sqlite", folders[name] / "bmo.sqlite", options.users)

    size = sum(page.stat().st_size for page in pages) / 1e6
    print(f"{options.users:,} users, {size:.0f} MB of JSON in {len(pages)} pages; {options.rounds} rounds")
    for pin, found in results.items():
        print_table(pin, [
            ("floor, cold (from disk)", found["floor, cold"], None),
            ("floor, again (from disk)", found["floor, again"], None),
            ("`bmo sync`, cold (HTTP)", found["cold"], found["floor, cold"]),
            ("`bmo sync`, unchanged (HTTP)", found["again"], found["floor, again"]),
            ("`bmo sync`, unchanged, `incremental: token`: nginx answers 304", found["token"], found["floor, again"]),
        ])


if __name__ == "__main__":
    main()
