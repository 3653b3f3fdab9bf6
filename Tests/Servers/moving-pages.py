"""Numbered pages of a listing by time of change, whose rows change while they are fetched."""
import answers
import os
import threading

lock = threading.Lock()
rows = {id: {"id": id, "name": f"item {id}", "changed": id} for id in range(1, 1212)}
state = {"clock": 1211, "done": False, "next": 0}
def change(id, name):
    state["clock"] += 1
    rows[id] = {"id": id, "name": name, "changed": state["clock"]}
def answer(path, query):
    with lock:
        number = int(query.get("page", 0)) or int(query.get("offset", 0)) // 100 + 1
        if number == 1 and os.path.exists("touch"):
            os.remove("touch")
            for id in range(200, 700): change(id, f"touched {id}")
            state["done"] = False
        # The rows of the page before are read by now.
        if number == 4 and not state["done"]:
            state["done"] = True
            since = int(query.get("since", 0))
            listed = sorted((row for row in rows.values() if row["changed"] >= since), key=lambda row: row["changed"])
            for row in listed[:3]:
                if os.path.exists("deleting"): del rows[row["id"]]
                elif os.path.exists("replacing"):
                    del rows[row["id"]]
                    change(row["id"] + 5000, "new")
                else: change(row["id"], f"changed {row['id']}")
        if number == 4 and os.path.exists("restless"):
            # A row that comes late, with a time that the scan has passed.
            state["next"] += 1
            id = 5000 + state["next"]
            rows[id] = {"id": id, "name": "late", "changed": 5}
        since = int(query.get("since", 0))
        listed = sorted((row for row in rows.values() if row["changed"] >= since), key=lambda row: row["changed"])
        start = (number - 1) * 100
        if "offset" in query: start = int(query["offset"])
        return 200, {"items": listed[start:start + 100], "total": len(listed)}

answers.serve(answer)
