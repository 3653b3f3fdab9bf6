"""Two hundred pages of ten rows, each after a quarter of a second, until the file `fast` exists."""
import answers
import os
import time

def answer(path, query):
    page = int(query.get("page", 1))
    if not os.path.exists("fast"): time.sleep(0.25)
    return (200, {"items": [{"id": page * 10 + i} for i in range(10 if page <= 200 else 0)]})

answers.serve(answer)
