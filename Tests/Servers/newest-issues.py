"""Issues, the newest first, two on a page, and the comments of each issue. newest-issues.py

The file `issues` has a line for each issue: its number, when it was updated, its title. `order` may say `oldest`. While the
file `broken` names a page, that page is refused. `drop` has a page and an issue: when the page is asked for, the issue is
removed first, once. `comments` has a line for each comment: its number, its issue, its text; while the file `hold` is
there, no comments are sent. The file `asked` gets a line for each request.
"""
import answers
import os
import threading
import time

lock = threading.Lock()


def lines(name):
    if not os.path.exists(name): return []
    with open(name) as file: return [line.split(" ") for line in file.read().splitlines()]


def answer(path, query):
    with lock, open("asked", "a") as file:
        file.write(f"issues {query['page']}\n" if path == "/issues" else f"comments {query['issue']}\n")
    if path == "/comments":
        while os.path.exists("hold"): time.sleep(0.01)
        return 200, [{"id": int(id), "text": text} for id, issue, text in lines("comments") if issue == query["issue"]]
    page = int(query["page"])
    if [str(page)] in lines("broken"): return 400, {"message": "this page is broken"}
    with lock:
        for number, id in lines("drop"):
            if int(number) != page: continue
            left = [" ".join(line) for line in lines("issues") if line[0] != id]
            with open("issues", "w") as file: file.write("\n".join(left))
            os.remove("drop")
        issues = [{"id": int(id), "updated": updated, "title": title} for id, updated, title in lines("issues")]
    issues.sort(key=lambda issue: (issue["updated"], issue["id"]), reverse=[["oldest"]] != lines("order"))
    return 200, {"items": issues[2 * page - 2:2 * page], "more": 2 * page < len(issues)}


answers.serve(answer)
