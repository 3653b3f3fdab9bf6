"""Numbered pages of 30 records that are sorted by a value that is not unique: five of the first page come again on the third
page, in place of its own. The file `stable` makes the order stable, the file `total` adds a total, the file `joined` lists
the first record five times on one page, the file `pinned` lists it first on each page, and the file `gone` removes the last record."""
import answers
import os

def answer(path, query):
    if path == "/parents": return 200, {"items": [{"id": 1}]}
    page = int(query.get("page", 1))
    rows = [{"id": id, "v": id} for id in range(1, 31)]
    if os.path.exists("gone"): del rows[29]
    if os.path.exists("pinned"):
        others = rows[1:]
        body = {"items": rows[:1] + others[(page - 1) * 9:page * 9]}
        if os.path.exists("total"): body["total"] = len(others) + (len(others) + 8) // 9
        return 200, body
    if os.path.exists("joined"): rows = rows[:1] * 4 + rows
    elif not os.path.exists("stable"): rows = rows[:20] + rows[:5] + rows[25:]
    body = {"items": rows[(page - 1) * 10:page * 10]}
    if os.path.exists("total"): body["total"] = len(rows)
    return 200, body

answers.serve(answer)
