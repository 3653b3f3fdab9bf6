"""Boards on two pages, cards of each board by kind, and events in windows of ten days."""
import answers
import datetime
import json
import os

def stamp(text): return int(datetime.datetime.fromisoformat(text).replace(tzinfo=datetime.timezone.utc).timestamp())
EVENTS = [("e1", stamp("2024-01-02")), ("e2", stamp("2024-01-15")), ("e3", stamp("2024-02-20"))]
def answer(path, query):
    with open("asked", "a") as file: file.write(path + " " + json.dumps(query, sort_keys=True) + "\n")
    if query["@authorization"] != "Key secret-key": return 401, {}
    if path == "/v1/boards":
        page = int(query["page"])
        boards = [{"id": "b1", "label": {"text": "One"}}, {"id": "b2", "label": {"text": "Two"}}, {"id": "b3", "label": None}]
        return 200, {"data": {"boards": boards[(page - 1) * 2:page * 2]}}
    if path.startswith("/v1/boards/"):
        board = path.split("/")[3]
        if board == "b3": return 404, {"error": "gone"}
        return 200, [{"id": board + query["kind"], "done": query["kind"] == "task"}]
    since, until = int(query["from"]), int(query["to"])
    events = EVENTS + ([("e4", EVENTS[-1][1] + 60)] if os.path.exists("late") else [])
    return 200, {"events": [{"id": key, "at": at, "size": 1.5} for key, at in events if since <= at <= until], "next": None}

answers.serve(answer)
