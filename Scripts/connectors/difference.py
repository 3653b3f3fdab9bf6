"""difference.py BMO FOLDER...: reads each connector with Airbyte's runtime and with bmo from one fake API, and compares.

Each folder holds an unpacked connector. Prints a table of the streams that differ, one row for each connector, and the totals.
"""
import datetime
import json
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
import urllib.request

import yaml

import manifests
from comparison import UTC, by_stream, canonical, from_json, near, without_bounds

HERE = pathlib.Path(__file__).parent


def control(port, path):
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(f"http://127.0.0.1:{port}{path}") as reply:
        return json.load(reply)


class Connector:
    def __init__(self, bmo, folder, work):
        self.bmo, self.name = bmo, folder.name
        self.work = work / folder.name
        shutil.rmtree(self.work, ignore_errors=True)
        shutil.copytree(folder, self.work / "source")
        self.base = datetime.datetime.now(UTC).replace(microsecond=0) - datetime.timedelta(hours=2)

    def prepare(self):
        path, _ = manifests.load(self.work / "source")
        manifests.simplify(path)
        path, manifest = manifests.load(self.work / "source")
        self.config = manifests.all_inputs(manifest, self.base - datetime.timedelta(days=12))
        (self.work / "config.json").write_text(json.dumps(self.config))
        given = [f"--set={'.'.join(p)}={v if isinstance(v, str) else json.dumps(v)}"
                 for p, v in manifests.leaves(self.config)]
        done = subprocess.run(
            [self.bmo, "introspect", "airbyte", str(path.parent), "--report", "--force", "-o", "bmo.yml", *given],
            cwd=self.work, capture_output=True, text=True)
        (self.work / "report").write_text(done.stdout + done.stderr)
        file = self.work / "bmo.yml"
        if not file.exists():
            raise RuntimeError(done.stderr.strip().split("\n")[0])
        # A budget would decide how long a run takes.
        text = re.sub(r"\n +limits: \{[^}]*\}", "", file.read_text())
        for name in ("bmo", "timed", "warm"):
            (self.work / f"{name}.yml").write_text(re.sub(r"(?m)^database: .*", f"database: {name}.sqlite", text))
        self.delegated = manifests.delegated(manifest)
        self.entities = yaml.safe_load(text).get("entities") or {}
        self.verdicts = self.read_report(done.stdout + done.stderr)
        self.environment = {**os.environ, "NO_PROXY": "", "no_proxy": ""}
        for variable in set(re.findall(r"\{env: (\w+)\}", text)):
            self.environment[variable] = self.value_of(variable)

    def value_of(self, variable):
        """The value of the input for which a variable of the environment stands."""
        paths = sorted(manifests.leaves(self.config), key=lambda leaf: len("_".join(leaf[0])))
        for whole in (True, False):
            for path, value in paths:
                name = re.sub(r"\W", "_", "_".join(path) if whole else path[-1]).upper()
                if variable.endswith("_" + name):
                    return value if isinstance(value, str) else json.dumps(value)
        return "secret"

    @staticmethod
    def read_report(text):
        """The verdict of each stream: carried, doubts or not."""
        verdicts = {}
        for line in text.split("\n"):
            found = re.match(r"(carried with doubts|carried|not carried): (.*)", line)
            if found:
                verdicts[found[2].strip("'\"")] = found[1]
        return verdicts

    def start(self):
        self.server = subprocess.Popen(
            [sys.executable, str(HERE / "fake_api.py"), str(self.work / "source"), str(self.work / "config.json"),
             self.base.isoformat()], stdout=subprocess.PIPE, stderr=open(self.work / "server.log", "w"), text=True)
        line = self.server.stdout.readline()
        if not line:
            raise RuntimeError("the fake API does not start: " + (self.work / "server.log").read_text()[-300:])
        self.port = int(line)
        for name in ("http_proxy", "HTTP_PROXY", "https_proxy"):
            self.environment[name] = f"http://127.0.0.1:{self.port}"

    def stop(self):
        if getattr(self, "server", None):
            self.server.kill()
            self.server.wait()

    def wait(self, command, **files):
        """Runs a command for at most 15 minutes, and returns its status when it ends.

        With `timeout=`, Python would look for the end only every 50 ms, which is as long as a whole sync takes.
        """
        process = subprocess.Popen(command, cwd=self.work, env=self.environment, **files)
        limit = threading.Timer(900, process.kill)
        limit.start()
        try:
            return process.wait()
        finally:
            limit.cancel()

    # Airbyte's runtime

    def cdk(self, command, *options, output=None):
        began = time.monotonic()
        with open(self.work / (output or command[0] + ".jsonl"), "w") as out:
            status = self.wait(
                [sys.executable, str(HERE / "read_with_cdk.py"), str(self.work / "source"), *options, *command],
                stdout=out, stderr=open(self.work / "cdk.err", "a"))
        return status, time.monotonic() - began

    def messages(self, output):
        with open(self.work / output) as file:
            for line in file:
                try:
                    yield json.loads(line)
                except ValueError:
                    pass

    def discover(self):
        self.cdk(["discover", "--config", "config.json"])
        streams = []
        for message in self.messages("discover.jsonl"):
            streams += message.get("catalog", {}).get("streams", [])
        if not streams:
            text = [m["trace"]["error"].get("internal_message") or m["trace"]["error"]["message"] for m in self.messages("discover.jsonl") if m.get("trace", {}).get("error")]
            raise RuntimeError("Airbyte's runtime cannot list the streams: " + "; ".join(text)[:200])
        self.streams = {s["name"]: s for s in streams}

    def catalog(self, names):
        chosen = []
        for name in names:
            stream = self.streams[name]
            modes = stream.get("supported_sync_modes", [])
            chosen.append({
                "stream": stream, "sync_mode": "incremental" if "incremental" in modes else "full_refresh",
                "destination_sync_mode": "append", "cursor_field": stream.get("default_cursor_field") or [],
                "primary_key": stream.get("source_defined_primary_key") or []})
        (self.work / "catalog.json").write_text(json.dumps({"streams": chosen}))

    def read(self, output, *options, state=None):
        command = ["read", "--config", "config.json", "--catalog", "catalog.json"]
        command += ["--state", state] if state else []
        status, seconds = self.cdk(command, *options, output=output)
        records, states, errors = {}, {}, {}
        for message in self.messages(output):
            if message["type"] == "RECORD":
                records.setdefault(message["record"]["stream"], []).append(message["record"]["data"])
            elif message["type"] == "STATE":
                states[json.dumps(message["state"].get("stream", {}).get("stream_descriptor"))] = message["state"]
            elif message["type"] == "TRACE" and message["trace"].get("error"):
                error = message["trace"]["error"]
                name = (error.get("stream_descriptor") or {}).get("name", "-")
                errors.setdefault(name, (error.get("internal_message") or error.get("message") or "")[:200])
        (self.work / "state.json").write_text(json.dumps(list(states.values())))
        return records, errors, seconds

    # bmo

    def sync(self, name, log):
        began = time.monotonic()
        with open(self.work / log, "w") as out:
            status = self.wait([self.bmo, "sync", "-f", f"{name}.yml"], stdout=out, stderr=subprocess.STDOUT)
        return status, time.monotonic() - began

    def rows(self, database, entity):
        with sqlite3.connect(self.work / database) as store:
            store.row_factory = sqlite3.Row
            return [dict(row) for row in store.execute(f'SELECT * FROM "{entity}"')]

    # Comparison

    def compare_records(self, stream, records, database):
        """Returns a text that says how the rows differ from the records, and nothing where they are equal."""
        entity, section = self.entity(stream)
        if entity is None:
            return "it has no entity"
        try:
            rows = self.rows(database, entity)
        except sqlite3.Error as error:
            return f"no table: {error}"
        columns = {}
        for name, attribute in (section.get("attributes") or {}).items():
            attribute = attribute if isinstance(attribute, dict) else {"type": attribute}
            source = attribute.get("from", name)
            columns[name] = (source if isinstance(source, str) else name, attribute.get("type", "text"))
        key = section.get("key")
        key = [] if section.get("unique") == "none" or not key else key if isinstance(key, list) else [key]
        expected, found = {}, {}
        for number, record in enumerate(records):
            flat = self.as_columns(record, columns)
            expected[tuple(str(canonical(flat.get(k))) for k in key) if key else number] = flat
        for number, row in enumerate(rows):
            own = {k: from_json(row[k]) if columns[k][1] == "json" else row[k] for k in columns if k in row}
            own["extra"] = json.loads(row.get("extra") or "{}")
            found[tuple(str(canonical(own.get(k))) for k in key) if key else number] = own
        if not key:
            return self.compare_lists(list(expected.values()), list(found.values()), columns)
        missing, more = expected.keys() - found.keys(), found.keys() - expected.keys()
        if missing or more:
            return f"{len(missing)} of {len(expected)} records missing, {len(more)} more" + (
                f"; missing {next(iter(missing))}" if missing else f"; more {next(iter(more))}")
        different = {}
        for identity, record in expected.items():
            for name in self.unequal(record, found[identity], columns):
                different.setdefault(name, (record.get(name), found[identity].get(name)))
        return "; ".join(f"{name}: {str(a)[:60]!r} is {str(b)[:60]!r}" for name, (a, b) in list(different.items())[:4])

    def compare_lists(self, expected, found, columns):
        if len(expected) != len(found):
            return f"{len(expected)} records, {len(found)} rows"
        for record in expected:
            match = next((row for row in found if not self.unequal(record, row, columns)), None)
            if match is None:
                near = min(found, key=lambda row: len(self.unequal(record, row, columns)))
                names = self.unequal(record, near, columns)
                return "; ".join(f"{n}: {str(record.get(n))[:60]!r} is {str(near.get(n))[:60]!r}" for n in names[:4])
            found.remove(match)
        return ""

    def entity(self, stream):
        name = re.sub(r"\W", "_", stream)
        for entity, section in self.entities.items():
            if entity == name or entity == "_" + name:
                return entity, section
        for entity, section in self.entities.items():
            if entity.lower().strip("_") == name.lower().strip("_"):
                return entity, section
        return None, {}

    @staticmethod
    def as_columns(record, columns):
        """A record of Airbyte's as a row: by the attribute's name, or the path that it reads."""
        row, used = {}, set()
        for name, (source, _) in columns.items():
            plain = source.replace("\\", "")
            for candidate in (name, plain, plain.lstrip("@")):
                if candidate in record and (candidate == name or candidate not in columns):
                    row[name] = record[candidate]
                    used.add(candidate)
                    break
            else:
                inner = record
                for part in re.split(r"(?<!\\)\.", source):
                    inner = inner.get(part.replace("\\", "")) if isinstance(inner, dict) else None
                if inner is not None:
                    row[name] = inner
        row["extra"] = {k: v for k, v in record.items() if k not in used}
        return row

    @staticmethod
    def unequal(record, row, columns):
        names = [n for n in columns if canonical(record.get(n), columns[n][1]) != canonical(row.get(n))]
        extra = row.get("extra") or {}
        for name, value in record["extra"].items():
            if value is not None and canonical(extra.get(name)) != canonical(value):
                names.append("extra")
                break
        # Columns that only bmo has, such as a parent's key, are no difference.
        return [n for n in names if n in record or n == "extra"]


def run(connector):
    """Compares a connector, and returns the results of its streams."""
    connector.prepare()
    connector.start()
    control(connector.port, "/_state?generation=1&faults=0")
    connector.discover()
    names = [n for n in connector.streams if connector.verdicts.get(n) in ("carried", "carried with doubts")]
    results = {n: {"verdict": v, "faults": []} for n, v in connector.verdicts.items()}
    if not names:
        return results, None
    connector.catalog(names)
    # For the time: without faults, into an empty database, the shortest of three in turn. The fake API makes its records
    # at the first request, which would count for the program that sends it.
    connector.sync("warm", "warm.log")
    theirs, ours = [], []
    for _ in range(3):
        for file in connector.work.glob("timed.sqlite*"):
            file.unlink()
        theirs.append(connector.read("timed.jsonl")[2])
        ours.append(connector.sync("timed", "timed.log")[1])
    times = [min(theirs), min(ours)]
    control(connector.port, "/_log")
    known = {}
    for generation in (1, 2):
        part = "first" if generation == 1 else "second"
        control(connector.port, f"/_state?generation={generation}&faults=1")
        records, errors, _ = connector.read(f"{part}.jsonl", "--no-pauses", state="state.json" if generation == 2 else None)
        log = control(connector.port, "/_log")
        cdk = by_stream(log, generation == 2)
        bounds = {name for entry in log for name in entry["bounds"]}
        control(connector.port, f"/_state?generation={generation}&faults=1")
        status, _ = connector.sync("bmo", f"{part}.log")
        own = by_stream(control(connector.port, "/_log"), generation == 2)
        for name in names:
            faults = results[name]["faults"]
            known.setdefault(name, []).extend(records.get(name, []))
            results[name]["records"] = len(known[name])
            if generation == 2 and name in connector.delegated:
                continue  # Airbyte's runtime reads another listing, which names what changed.
            if results[name].get("unserved"):
                continue
            if name in errors or generation == 1 and not records.get(name):
                results[name]["unserved"] = f"not compared: Airbyte's runtime {errors.get(name, 'reads no record')}"
                continue
            text = connector.compare_records(name, known[name], "bmo.sqlite")
            if text:
                faults.append(f"{part}, records: {text}")
            more = own.get(name, set()) - cdk.get(name, set())
            if more and (without_bounds(own[name], bounds) == without_bounds(cdk.get(name, set()), bounds)
                         and len(own[name]) == len(cdk[name])):
                more = set()  # Windows that share their bound, where Airbyte's end a step before the next one.
            if more:
                faults.append(f"{part}, {len(more)} of {len(own[name])} requests differ: " + near(min(more), cdk.get(name, set())))
        for name in sorted((own.keys() - cdk.keys()) - set(names)):
            results.setdefault("-", {"verdict": "-", "faults": []})["faults"].append(
                f"{part}: requests that Airbyte does not send, {name}: {min(own[name])[:200]}")
    return results, times


def main():
    bmo, work, *folders = sys.argv[1:]
    work = pathlib.Path(work)
    total = dict.fromkeys(("streams", "carried", "compared", "equal", "requests"), 0)
    seconds, failed = [0.0, 0.0], False
    print("| connector | streams | carried | compared | equal records | same requests | Airbyte, s | bmo, s |\n|---|---|---|---|---|---|---|---|")
    notes = []
    for folder in map(pathlib.Path, folders):
        connector = Connector(os.path.abspath(bmo), folder, work)
        try:
            results, times = run(connector)
        except Exception as error:
            print(f"| {connector.name} | {error} | | | | | | |", flush=True)
            failed = True
            continue
        finally:
            connector.stop()
        compared = [n for n, r in results.items() if "records" in r and not r.get("unserved")]
        carried = [n for n, r in results.items() if r["verdict"].startswith("carried")]
        equal = [n for n in compared if not any("records:" in f for f in results[n]["faults"])]
        same = [n for n in compared if not any("requests" in f for f in results[n]["faults"])]
        print(f"| {connector.name} | {len([n for n in results if n != '-'])} | {len(carried)} | {len(compared)} | {len(equal)} | {len(same)} | "
              + (f"{times[0]:.1f} | {times[1]:.2f} |" if times else " | |"), flush=True)
        alike = {}
        for name, result in results.items():
            for fault in result["faults"] + [t for t in [result.get("unserved")] if t]:
                alike.setdefault(fault, []).append(name)
        for fault, streams in alike.items():
            more = f" and {len(streams) - 1} more" if len(streams) > 1 else ""
            notes.append(f"{connector.name} {streams[0]}{more} ({results[streams[0]]['verdict']}): {fault}")
        total["streams"] += len([n for n in results if n != "-"])
        total["carried"] += len(carried)
        total["compared"] += len(compared)
        total["equal"] += len(equal)
        total["requests"] += len(same)
        if times:
            seconds = [seconds[0] + times[0], seconds[1] + times[1]]
    print(f"| **all** | {total['streams']} | {total['carried']} | {total['compared']} | {total['equal']} | {total['requests']} | "
          f"{seconds[0]:.1f} | {seconds[1]:.2f} |")
    print()
    print("\n".join(notes))
    sys.exit(1 if failed or total["equal"] < total["compared"] else 0)


if __name__ == "__main__":
    main()
