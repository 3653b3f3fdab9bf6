"""What the benchmarks share: running a program, a server of our own beside it, and the tables.

A run has its wall time, its processor time (user and system, of the program and of the processes that it waited for) and
the peak memory of the largest of them, all from `wait4`. Rounds are made on all cores and pinned to one core, with the
server on the last one, and each is compared with the floor's run of the same round.
"""
import os
import shutil
import socket
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / ".build" / "benchmarks"

# How the programs are run, and what comes before their commands.
ALL_CORES, ONE_CORE = "On all cores", "Pinned to one core, the server on the other"
PINS = {ALL_CORES: [], ONE_CORE: ["taskset", "-c", "0"]}


class Run(NamedTuple):
    seconds: float
    processor: float  # seconds of user and system time, of the program and its processes
    mebibytes: float  # of the largest of its processes


def run(command, folder, **variables):
    """Runs a command in a folder, with its output in a file; ends the benchmark when it fails."""
    began = time.perf_counter()
    with open(folder / "output.log", "wb") as log:
        process = subprocess.Popen(command, cwd=folder, env={**os.environ, **variables}, stdin=subprocess.DEVNULL,
                                   stdout=log, stderr=log)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{command[0]} ended with {process.returncode}:\n{(folder / 'output.log').read_text()[-2000:]}")
    return Run(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def without_database(folder, name="bmo.sqlite"):
    for suffix in ("", "-wal", "-shm"):
        (folder / (name + suffix)).unlink(missing_ok=True)


def cold_and_again(command, folder, database="bmo.sqlite"):
    """A run that finds no database, and one that finds all rows of the first."""
    without_database(folder, database)
    return run(command, folder), run(command, folder)


def compiled(name, source, *flags, compiler="cc"):
    """A floor, compiled when its source has changed."""
    program = WORK / name
    program.parent.mkdir(parents=True, exist_ok=True)
    source = ROOT / "Benchmarks" / source
    if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
        subprocess.run([compiler, "-O2", "-Wall", "-Wextra", "-o", program, source, *flags], check=True)
    return program


def package_flags(*packages):
    return subprocess.run(["pkg-config", "--cflags", "--libs", *packages], text=True, check=True,
                          stdout=subprocess.PIPE).stdout.split()


def build_bmo():
    log = subprocess.run(["swift", "build", "-c", "release"], cwd=ROOT, text=True, capture_output=True)
    if log.returncode != 0:
        sys.exit(log.stdout + log.stderr)
    path = subprocess.run(["swift", "build", "-c", "release", "--show-bin-path"], cwd=ROOT, text=True, check=True,
                          stdout=subprocess.PIPE).stdout.strip()
    return Path(path) / "bmo"


def on_last_core(command):
    return ["taskset", "-c", str(os.cpu_count() - 1), *command]


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


def wait_for(port, process=None, log=None):
    """Waits until something accepts connections at a port, at most ten seconds and while the process lives."""
    end = time.monotonic() + 10
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port)).close()
        except ConnectionRefusedError:
            if (process and process.poll() is not None) or time.monotonic() > end:
                sys.exit(f"nothing answers at port {port}: {log.read_text() if log else ''}")
            time.sleep(0.02)


NGINX = """\
daemon off;
{user}
pid {state}/nginx.pid;
error_log {state}/error.log;
worker_processes 1;
events {{ worker_connections 64; }}
http {{
    access_log off;
    sendfile on;
    keepalive_requests 100000;
    client_body_temp_path {state}/body;
    proxy_temp_path {state}/proxy;
    fastcgi_temp_path {state}/fastcgi;
    uwsgi_temp_path {state}/uwsgi;
    scgi_temp_path {state}/scgi;
    {http}
    server {{
        listen 127.0.0.1:{port};
        root {files};
        {server}
    }}
}}
"""


class Nginx:
    """nginx of our own on the last core and a free loopback port; a context manager."""

    def __init__(self, files, http="", server=""):
        self.files, self.http, self.server = files, http, server
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"

    def __enter__(self):
        state = self.files.parent / "nginx"
        shutil.rmtree(state, ignore_errors=True)
        state.mkdir(parents=True)
        conf = state / "nginx.conf"
        conf.write_text(NGINX.format(user="user root;" if os.geteuid() == 0 else "", state=state, port=self.port,
                                     files=self.files, http=self.http, server=self.server))
        self.process = subprocess.Popen(
            on_last_core(["nginx", "-c", conf, "-p", state, "-e", state / "error.log"]))
        try:
            wait_for(self.port, self.process, state / "error.log")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()


def figure(values, digits=2):
    """The median, with the shortest."""
    values = list(values)
    return f"{statistics.median(values):.{digits}f} ({min(values):.{digits}f})"


def ratio(runs, floors, value):
    """The median of each round's ratio to the floor's, from least to most."""
    ratios = [value(one) / value(floor) for one, floor in zip(runs, floors)]
    return f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"


def row(name, runs, floors=None):
    wall = ratio(runs, floors, lambda one: one.seconds) if floors else ""
    processor = ratio(runs, floors, lambda one: one.processor) if floors else ""
    return (f"| {name} | {figure(one.seconds for one in runs)} | {wall} | {figure(one.processor for one in runs)} | "
            f"{processor} | {statistics.median(one.mebibytes for one in runs):.0f} |")


def print_table(title, rows):
    """Prints rows of (name, runs, the floor's runs or None); those without runs are left out."""
    print(f"\n{title}: medians, with the shortest or the range in brackets\n")
    print("| what | wall, s | times the floor's | processor, s | times the floor's | peak MiB |")
    print("|---|---:|---:|---:|---:|---:|")
    for name, runs, floors in rows:
        if runs:
            print(row(name, runs, floors), flush=True)
