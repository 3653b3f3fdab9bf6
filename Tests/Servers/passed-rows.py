"""A listing by id, whose rows change after the scan has passed them, and before it reads its newest row.

A change has the time of the change, or (of /numbered) the next number.
"""
import answers
import datetime
import threading

lock = threading.Lock()
state = {"number": 1000, "passed": 0}
rows = {}
def stamp(): return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="microseconds")
def change(id, name):
    state["number"] += 1
    rows[id] = {"id": id, "name": name, "kind": "ab"[id > 125], "at": stamp(), "number": state["number"]}
for id in range(1, 251):
    change(id, f"item {id}")
    rows[id].update(at="2026-01-%02dT00:00:00+00:00" % (1 + id % 28), number=id * 7 % 251)
def answer(path, query):
    with lock:
        after = int(query.get("after", 0)) or 100 * (int(query.get("page", 1)) - 1)
        kind = query.get("kind")
        listed = [rows[id] for id in sorted(rows) if kind in (None, rows[id]["kind"])]
        since = query.get("since")
        if path == "/timed" and since: listed = [row for row in listed if row["at"] >= since]
        if path == "/numbered" and since: listed = [row for row in listed if row["number"] >= int(since)]
        total = len(listed)
        if "page" in query: listed = listed[after:]
        else: listed = [row for row in listed if row["id"] > after]
        # The first reply that is not the scan's first: row 1 was read, row 250 was not.
        if not state["passed"] and (after or kind == "b"):
            state["passed"] = 1
            change(1, "changed")
            change(250, "changed")
            listed = [rows[row["id"]] for row in listed]
        return 200, {"items": listed[:100], "total": total}

answers.serve(answer)
