#!/usr/bin/env python3
"""A Singer tap over a JSON file: `teams` comes whole each time, `people` only what is newer than the bookmark.

tap.py --config FILE [--catalog FILE] [--state FILE] [--discover]; the configuration has `file` and `token`.
"""
import argparse
import json
import sys

STREAMS = {
    "teams": ("FULL_TABLE", {"id": "integer", "name": "string", "city": "string"}),
    "people": ("INCREMENTAL", {"id": "integer", "name": "string", "team_id": "integer", "updated_at": "string"}),
}


def say(**message):
    print(json.dumps(message), flush=True)


def schema(name):
    properties = {key: {"type": ["null", kind]} for key, kind in STREAMS[name][1].items()}
    if "updated_at" in properties:
        properties["updated_at"]["format"] = "date-time"
    return {"type": "object", "properties": properties}


def catalog():
    return {
        "streams": [
            {
                "tap_stream_id": name,
                "stream": name,
                "key_properties": ["id"],
                "schema": schema(name),
                "metadata": [{"breadcrumb": [], "metadata": {"replication-method": method, "inclusion": "available"}}],
            }
            for name, (method, _) in STREAMS.items()
        ]
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--config", required=True)
    parser.add_argument("--catalog")
    parser.add_argument("--state")
    parser.add_argument("--discover", action="store_true")
    arguments = parser.parse_args()
    with open(arguments.config) as file:
        config = json.load(file)
    if arguments.discover:
        print(json.dumps(catalog()))
        return
    if not config.get("token"):
        sys.exit("the token is missing")
    with open(arguments.catalog) as file:
        chosen = [stream["stream"] for stream in json.load(file)["streams"] if stream.get("selected")]
    state = {"bookmarks": {}}
    if arguments.state:
        with open(arguments.state) as file:
            state = json.load(file)
    with open(config["file"]) as file:
        rows = json.load(file)
    for name in chosen:
        say(type="SCHEMA", stream=name, schema=schema(name), key_properties=["id"])
        newest = state["bookmarks"].get(name, {}).get("updated_at", "")
        for row in rows[name]:
            if "updated_at" in row and row["updated_at"] <= newest:
                continue
            say(type="RECORD", stream=name, record=row)
        if STREAMS[name][0] == "INCREMENTAL":
            newest = max([newest] + [row["updated_at"] for row in rows[name]])
            state["bookmarks"][name] = {"updated_at": newest}
            say(type="STATE", value=state)


main()
