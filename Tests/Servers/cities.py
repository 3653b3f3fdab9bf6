"""Twenty cities, none once the file `empty` exists, and streets that always fail."""
import answers
import os

def answer(path, query):
    if path == "/streets": return (500, {"error": "broken"})
    if os.path.exists("empty"): return (200, [])
    return (200, [{"id": i, "name": "n%d" % i} for i in range(20)])

answers.serve(answer)
