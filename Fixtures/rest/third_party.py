#!/usr/bin/env python3
"""Two servers that others wrote, on free ports of 127.0.0.1: Datasette and Kinto, each with 250 users.

Run by the interpreter of the environment that they are installed in, with a folder for their files. Prints both URLs on one
line when they answer, and ends with whoever started it.
"""
import base64
import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.error
import urllib.request

FOLDER = sys.argv[1]
BIN = os.path.dirname(sys.executable)
AUTH = "Basic " + base64.b64encode(b"ann:s3cret-pw").decode()
CHILDREN = []


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def start(name, *arguments):
    with open(os.path.join(FOLDER, name + ".log"), "w", encoding="utf-8") as log:
        CHILDREN.append(subprocess.Popen(
            [os.path.join(BIN, name), *arguments], stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=FOLDER))


def request(url, method="GET", body=None):
    data = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": AUTH, "Content-Type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(url, data, headers, method=method), timeout=10) as reply:
        return json.load(reply)


def wait(url):
    deadline = time.monotonic() + 60
    while True:
        try:
            return request(url)
        except (urllib.error.URLError, ConnectionError):
            if time.monotonic() > deadline or any(child.poll() is not None for child in CHILDREN):
                raise
            time.sleep(0.05)


def main():
    users = [{"id": n, "name": f"User {n}", "city": "Lyon" if n % 2 else "Brno"} for n in range(1, 251)]
    database = os.path.join(FOLDER, "zoo.db")
    with sqlite3.connect(database) as connection:
        connection.execute("CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT, city TEXT)")
        connection.executemany("INSERT INTO users VALUES (:id, :name, :city)", users)
    ports = [free_port(), free_port()]
    start("datasette", "serve", database, "--port", str(ports[0]), "--setting", "suggest_facets", "off")
    ini = os.path.join(FOLDER, "kinto.ini")
    subprocess.run(
        [os.path.join(BIN, "kinto"), "init", "--ini", ini, "--backend", "memory", "--cache-backend", "memory", "--host",
         "127.0.0.1"], check=True, capture_output=True)
    with open(ini, encoding="utf-8") as file:
        text = file.read()
    with open(ini, "w", encoding="utf-8") as file:
        # Any user and password are good: who it is matters to nobody here.
        text = text.replace("multiauth.policies = account", "multiauth.policies = basicauth", 1)
        text = text.replace("kinto.bucket_create_principals = account:admin",
                            "kinto.bucket_create_principals = system.Authenticated", 1)
        file.write(text.replace("[app:main]", "[app:main]\nkinto.paginate_by = 100\n", 1))
    start("kinto", "start", "--ini", ini, "--port", str(ports[1]))
    datasette, kinto = (f"http://127.0.0.1:{port}" for port in ports)
    wait(datasette + "/-/versions.json")
    wait(kinto + "/v1/__heartbeat__")
    request(kinto + "/v1/buckets/zoo", "PUT", {})
    for collection, some in [("users", users), ("few", users[:3])]:
        request(f"{kinto}/v1/buckets/zoo/collections/{collection}", "PUT", {})
        for first in range(0, len(some), 25):
            request(kinto + "/v1/batch", "POST", {"requests": [
                {"method": "PUT", "path": f"/v1/buckets/zoo/collections/{collection}/records/u{user['id']}",
                 "body": {"data": {"number": user["id"], "name": user["name"]}}} for user in some[first:first + 25]]})
    print(datasette, kinto, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        main()
    finally:
        for child in CHILDREN:
            child.kill()
