"""Counts the public symbols of symbol graphs, and fails if one has no documentation.

    undocumented.py GRAPH.symbols.json...
"""

import json
import sys

count = 0
bare = []
for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as file:
        graph = json.load(file)
    for symbol in graph["symbols"]:
        # A declaration without a location is derived by the compiler, as the members of RawRepresentable are.
        if "location" not in symbol:
            continue
        count += 1
        if not symbol.get("docComment", {}).get("lines"):
            name = ".".join([graph["module"]["name"], *symbol["pathComponents"]])
            bare.append(f"{name} at {symbol['location']['uri']}:{symbol['location']['position']['line'] + 1}")
if count == 0:
    sys.exit("there is no symbol")
if bare:
    sys.exit("\n".join(sorted(bare)) + f"\n{len(bare)} of {count} public symbols have no documentation")
print(f"all {count} public symbols are documented")
