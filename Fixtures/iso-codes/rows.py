#!/usr/bin/env python3
"""Rows of the iso-codes fixture as text, a JSON object a line: those that are expected, or those of a database.

    rows.py expected SHARE [ENTITY...]
    rows.py actual DATABASE [ENTITY...]

Nothing here is shared with bmo or with the servers: the expected rows come from iso-codes itself and from the files of
the shared folder SHARE. Both sides have the columns in alphabetical order and the rows in the order of their text, after
a line with the entity's name, so that two outputs can be compared whole.
"""
import json
import sqlite3
import sys
from datetime import datetime, timezone
from pathlib import Path

ISO = Path("/usr/share/iso-codes/json")


def standard(name):
    return json.loads((ISO / f"iso_{name}.json").read_text(encoding="utf-8"))[name]


def countries(_):
    for row in standard("3166-1"):
        yield {"alpha2": row["alpha_2"], "alpha3": row["alpha_3"], "numeric": row["numeric"], "name": row["name"],
               "officialName": row.get("official_name"), "flag": row["flag"]}


def currencies(_):
    for row in standard("4217"):
        yield {"code": row["alpha_3"], "name": row["name"], "numeric": int(row["numeric"])}


def languages(_):
    for row in standard("639-2"):
        yield {"code": row["alpha_3"], "shortCode": row.get("alpha_2"), "name": row["name"]}


def subdivisions(_):
    rows = standard("3166-2")
    codes = {row["code"] for row in rows}
    for row in rows:
        country = row["code"].partition("-")[0]
        parent = row.get("parent")
        # Most parents are written without their country; each is the code of a row, one way or the other.
        if parent is not None and parent not in codes:
            parent = f"{country}-{parent}"
            assert parent in codes, parent
        yield {"code": row["code"], "name": row["name"], "type": row["type"], "country": country, "parent": parent}


def documents(share):
    for file in share.glob("countries/*/*"):
        status = file.stat()
        modified = datetime.fromtimestamp(status.st_mtime_ns // 1000 / 1e6, timezone.utc)
        yield {"path": str(file.relative_to(share)), "name": file.name, "size": status.st_size,
               "modified": modified.strftime("%Y-%m-%dT%H:%M:%S.%fZ"), "country": file.parent.name}


def country_names(_):
    for row in standard("3166-1"):
        yield {"alpha2": row["alpha_2"], "officialName": row.get("official_name"),
               "commonName": row.get("common_name", ""), "numeric": row["numeric"], "country": row["alpha_2"]}


EXPECTED = {"Country": countries, "CountryName": country_names, "Currency": currencies, "Document": documents,
            "Language": languages, "Subdivision": subdivisions}


def expected(entity, share):
    return EXPECTED[entity](share)


def actual(entity, connection):
    return map(dict, connection.execute(f'SELECT * FROM "{entity}"'))


def main(side, source, *entities):
    if side == "expected":
        rows, place = expected, Path(source)
    else:
        rows, place = actual, sqlite3.connect(f"file:{source}?mode=ro", uri=True)
        place.row_factory = sqlite3.Row
    for entity in entities or EXPECTED:
        print(entity)
        for line in sorted(json.dumps(row, ensure_ascii=False, sort_keys=True) for row in rows(entity, place)):
            print(line)


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in ("expected", "actual"):
        sys.exit(__doc__)
    sys.stdout.reconfigure(encoding="utf-8")
    main(*sys.argv[1:])
