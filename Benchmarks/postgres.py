#!/usr/bin/env python3
"""200,000 users over HTTP into PostgreSQL: `bmo sync` beside the floor, a C program with libpq, and beside dlt.

Takes the users of users.py, served by nginx, and starts a PostgreSQL server of its own from Debian's package. The floor
(postgres-floor.c) has the rows in memory, so that its time is that of the database alone: a page of 1,000 is one
statement, an insert from unnest or a select of a range. Both run in turn, first cold and then unchanged, and what counts
is the ratio of a pair. Prints Markdown tables; everything that it makes is in .build/benchmarks.

With --delays, the same through a proxy that adds as many milliseconds to a round trip. With --dlt PYTHON, also dlt into
the same server, by the Python of a virtual environment with dlt[postgres].
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import measuring
import users
from measuring import ALL_CORES, ONE_CORE, PINS, WORK, compiled, figure, free_port, ratio, wait_for

SETTINGS = ["unix_socket_permissions=0777", "shared_buffers=512MB", "autovacuum=off", "max_wal_size=4GB",
            "checkpoint_timeout=1h", "log_min_duration_statement=-1"]

DLT = '''
import sys
import dlt
from dlt.sources.helpers import requests
from itertools import count

url, target, writes = sys.argv[1:]

@dlt.resource(name="users", primary_key="id", write_disposition=writes)
def all_users():
    for page in count(1):
        items = requests.get(f"{url}/users?page={page}&per_page=1000").json()["items"]
        if not items:
            return
        yield items

pipeline = dlt.pipeline(
    "bench", pipelines_dir="dlt", destination=dlt.destinations.postgres(target), dataset_name="dlt")
pipeline.run(all_users())
'''


class Run(NamedTuple):
    seconds: float
    processor: float  # of the program
    server: float  # processor seconds of the PostgreSQL server
    log: float  # MB of the write-ahead log
    mebibytes: float


class Database:
    """A server of our own; a context manager."""

    def __init__(self):
        self.folder = WORK / "postgres"
        self.programs = max(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
        self.prefix = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"] if os.geteuid() == 0 else []

    def __enter__(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        # Its own folder in /tmp: the server's user may not be allowed to enter the project's.
        self.folder = Path(f"/tmp/bmo-postgres-{os.getpid()}")
        data = self.folder / "data"
        data.mkdir(parents=True, mode=0o700)
        self.folder.chmod(0o755)
        if self.prefix:
            shutil.chown(data, "nobody")
            shutil.chown(self.folder, "nobody")
        self.port = free_port()
        subprocess.run([*self.prefix, self.programs / "initdb", "-D", data, "-A", "trust", "-U", "bmo", "-E", "UTF8",
                        "--locale=C"], check=True, stdout=subprocess.DEVNULL, cwd=self.folder)
        self.messages = open(self.folder / "log", "wb")
        settings = [*SETTINGS, f"port={self.port}", "listen_addresses=127.0.0.1"]
        self.process = subprocess.Popen(
            [*self.prefix, self.programs / "postgres", "-D", data, "-k", self.folder,
             *(word for setting in settings for word in ("-c", setting))], stderr=self.messages, cwd=self.folder)
        while subprocess.call([self.programs / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self.port)]):
            time.sleep(0.1)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def psql(self, sql):
        command = ["psql", "-X", "-q", "-At", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p", str(self.port), "-U", "bmo",
                   "postgres"]
        return subprocess.run(command, input=sql, check=True, stdout=subprocess.PIPE, text=True,
                              env={**os.environ, "PGOPTIONS": "-c client_min_messages=warning"}).stdout.strip()

    def log(self):
        return int(self.psql("SELECT pg_current_wal_insert_lsn() - '0/0'")) / 1e6

    def processor(self):
        """The processor seconds of all sessions that have ended."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")

    def restrict(self, isPinned):
        """Puts the server and the sessions to come on the last core, or back on all."""
        every = os.cpu_count()
        os.sched_setaffinity(self.process.pid, {every - 1} if isPinned else range(every))


class Proxy:
    """A delay of half as many milliseconds each way; a context manager."""

    def __init__(self, target, delay, port=None):
        self.target, self.delay, self.port = target, delay, port or free_port()

    def __enter__(self):
        program = compiled("delay-proxy", "delay-proxy.c", "-pthread")
        self.process = subprocess.Popen([program, str(self.port), str(self.target), str(self.delay / 2)],
                                        stdout=subprocess.PIPE, text=True)
        wait_for(self.port, self.process)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.trips = int(self.process.communicate()[0])


def measured(database, command, folder):
    database.psql("CHECKPOINT")
    log, processor = database.log(), database.processor()
    run = measuring.run(command, folder)
    # The session ends a little later than its client.
    while database.psql("SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'bmo%' OR "
                        "(backend_type = 'client backend' AND pid <> pg_backend_pid())") != "0":
        time.sleep(0.02)
    return Run(run.seconds, run.processor, database.processor() - processor, database.log() - log, run.mebibytes)


def floor_run(database, floor, port, rows, what, folder):
    run = measured(database, [*floor, f"host=127.0.0.1 port={port} user=bmo dbname=postgres", rows, what], folder)
    seconds, processor, log, _ = (folder / "output.log").read_text().split()
    return run._replace(seconds=float(seconds), processor=float(processor), log=float(log) / 1e6)


def line(name, runs, floors=None):
    def times(value):
        return ratio(runs, floors, value) if floors else ""

    return (f"| {name} | {figure(run.seconds for run in runs)} | {times(lambda run: run.seconds)} | "
            f"{figure(run.processor for run in runs)} | {figure(run.server for run in runs)} | "
            f"{times(lambda run: run.processor + run.server)} | {figure(run.log for run in runs)} | "
            f"{figure((run.mebibytes for run in runs), 0)} |")


def table(title, lines):
    print(f"\n{title}: medians, with the shortest or the range in brackets\n")
    print("| what | wall, s | times the floor's | processor, s | the server's, s | both, times the floor's | log, MB | "
          "peak MiB |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    print("\n".join(lines), flush=True)


def configure(folder, port, target):
    folder.mkdir(exist_ok=True)
    text = users.CONFIG.format(url=f"http://127.0.0.1:{port}", page=users.PAGE, incremental="")
    (folder / "bmo.yml").write_text(text.replace("database: bmo.sqlite", f"database: {target}"))


def write_rows(pages, path):
    """The rows as the floor reads them: values between tabs."""
    with open(path, "w", encoding="utf-8") as file:
        for page in pages:
            for user in json.loads(page.read_text(encoding="utf-8"))["items"]:
                values = [user["address"][c] if c in ("city", "zip") else user[c] for c in users.COLUMNS]
                file.write("\t".join(str(v).lower()[0] if v in (True, False) and isinstance(v, bool) else str(v)
                                     for v in values) + "\n")


def same_rows(database, count):
    # The columns of bmo have the names of the floor's.
    columns = ", ".join(users.COLUMNS)
    found = database.psql(f'SELECT count(*) FROM bmo."User"; SELECT count(*) FROM (SELECT {columns} FROM floor EXCEPT '
                          f'SELECT {columns} FROM bmo."User") d').split()
    if found != [str(count), "0"]:
        sys.exit(f"bmo has {found[0]} rows of {count}, {found[1]} of them with other values than the floor's")


def pairs(database, floor, bmo, rows, folder, port, rounds, count):
    found = {pin: {name: [] for name in ("floor, cold", "floor, unchanged", "cold", "unchanged")} for pin in PINS}
    for _ in range(rounds):
        for pin, runs in found.items():
            database.restrict(pin == ONE_CORE)
            before = PINS[pin]
            database.psql('DROP TABLE IF EXISTS floor; DROP SCHEMA IF EXISTS bmo CASCADE')
            runs["floor, cold"].append(floor_run(database, [*before, floor], port, rows, "cold", folder))
            runs["cold"].append(measured(database, [*before, bmo, "sync", "-q"], folder))
            # So that neither has to note which of its rows are visible.
            database.psql('VACUUM ANALYZE floor; VACUUM ANALYZE bmo."User"; VACUUM ANALYZE bmo.bmo_changes')
            runs["floor, unchanged"].append(floor_run(database, [*before, floor], port, rows, "unchanged", folder))
            runs["unchanged"].append(measured(database, [*before, bmo, "sync", "-q"], folder))
            same_rows(database, count)
    database.restrict(False)
    return found


def print_pairs(title, found):
    for pin, runs in found.items():
        table(f"{title}, {pin[0].lower()}{pin[1:]}", [
            line("floor, cold", runs["floor, cold"]),
            line("`bmo sync`, cold", runs["cold"], runs["floor, cold"]),
            line("floor, unchanged", runs["floor, unchanged"]),
            line("`bmo sync`, unchanged", runs["unchanged"], runs["floor, unchanged"]),
        ])


def round_trips(database, bmo, folder, port):
    """How often a sync, cold and unchanged, sends something after an answer."""
    database.psql("DROP SCHEMA IF EXISTS bmo CASCADE")
    counts = []
    # The same address for both: what bmo remembers is of the database at an address.
    address = free_port()
    for _ in range(2):
        with Proxy(database.port, 0, address) as proxy:
            configure(folder, port, f"postgresql://bmo@127.0.0.1:{proxy.port}/postgres")
            measuring.run([bmo, "sync", "-q"], folder)
        counts.append(proxy.trips)
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5, help="how often each program runs (default: 5)")
    parser.add_argument("--users", type=int, default=users.USERS, help=f"a multiple of {users.PAGE} (default: {users.USERS})")
    parser.add_argument("--bmo", type=Path, help="a built bmo (default: builds a release)")
    parser.add_argument("--delays", default="", help="milliseconds per round trip, such as 0.5,5")
    parser.add_argument("--delay-rounds", type=int, default=2)
    parser.add_argument("--dlt", type=Path, help="the Python of a virtual environment with dlt[postgres]")
    options = parser.parse_args()

    WORK.mkdir(parents=True, exist_ok=True)
    pages = users.make_pages(WORK / "pages", options.users)
    floor = compiled("postgres-floor", "postgres-floor.c", "-D_GNU_SOURCE", "-I/usr/include/postgresql", "-lpq")
    bmo = (options.bmo or measuring.build_bmo()).resolve()
    rows = WORK / "rows.tsv"
    write_rows(pages, rows)
    folder = WORK / "run-postgres"
    with users.serve(WORK / "pages") as server, Database() as database:
        print(f"{options.users:,} users in {len(pages)} pages; PostgreSQL {database.psql('SHOW server_version')}, "
              f"{', '.join(SETTINGS[1:-1])}; {options.rounds} pairs")
        configure(folder, server.port, f"postgresql://bmo@127.0.0.1:{database.port}/postgres")
        found = pairs(database, floor, bmo, rows, folder, database.port, options.rounds, options.users)
        print_pairs("Without delay", found)
        trips = round_trips(database, bmo, folder, server.port)
        print(f"\nRound trips: {trips[0]} cold, {trips[1]} unchanged; the floor's: {len(pages)}", flush=True)
        for delay in filter(None, options.delays.split(",")):
            with Proxy(database.port, float(delay)) as proxy:
                configure(folder, server.port, f"postgresql://bmo@127.0.0.1:{proxy.port}/postgres")
                slow = pairs(database, floor, bmo, rows, folder, proxy.port, options.delay_rounds, options.users)
            print_pairs(f"With {delay} ms a round trip", slow)
        if options.dlt:
            (folder / "load.py").write_text(DLT)
            configure(folder, server.port, f"postgresql://bmo@127.0.0.1:{database.port}/postgres")
            # dlt insists on a password, for which the server does not ask.
            target = f"postgresql://bmo:none@127.0.0.1:{database.port}/postgres"
            lines = []
            for writes in ("replace", "merge"):
                shutil.rmtree(folder / "dlt", ignore_errors=True)
                database.psql("DROP SCHEMA IF EXISTS dlt CASCADE; DROP SCHEMA IF EXISTS dlt_staging CASCADE")
                command = [options.dlt, "load.py", f"http://127.0.0.1:{server.port}", target, writes]
                lines += [line(f"dlt, {writes}, {when}", [measured(database, command, folder)]) for when in ("cold", "again")]
            lines += [line("`bmo sync`, cold", found[ALL_CORES]["cold"]),
                      line("`bmo sync`, unchanged", found[ALL_CORES]["unchanged"])]
            table("Beside dlt", lines)


if __name__ == "__main__":
    main()
