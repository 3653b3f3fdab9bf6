"""The users into SQLite with the Python API of sqlite-utils: one call with a generator, as its documentation suggests.

    sqlite-utils-users.py URL DATABASE
"""
import http.client
import json
import sys
from urllib.parse import urlsplit

from sqlite_utils import Database

url, path = sys.argv[1:]


def users():
    server = http.client.HTTPConnection(urlsplit(url).netloc)
    address = "/users?page=1&per_page=1000"
    while address:
        server.request("GET", address)
        reply = server.getresponse()
        if reply.status != 200:
            sys.exit(f"{address} answered {reply.status}")
        page = json.load(reply)
        for user in page["items"]:
            place = user.pop("address")
            yield {**user, "city": place["city"], "zip": place["zip"]}
        address = page["next"]


database = Database(path)
database.enable_wal()
# As bmo, GRDB and dlt set it with WAL.
database.execute("PRAGMA synchronous = NORMAL")
database["User"].upsert_all(users(), pk="id", batch_size=1000)
database.close()
