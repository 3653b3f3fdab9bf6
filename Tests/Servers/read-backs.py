"""Two lists with notes that cannot be deleted; one note alone is answered with the file `one`, the first list with the file `notes`, and a change with the file `changed`. Notes its requests in `asked`."""
import answers
import os


def answer(path, query):
    method, _, body = answers.asked()
    with open("asked", "a") as file: file.write(f"{method} {path} {body}\n")
    if method == "DELETE": return 409, {"message": "it has dependents"}
    if method != "GET": return 200, {}, open("changed", "rb").read() if os.path.exists("changed") else b"{}"
    if path == "/lists": return 200, [{"id": 1}, {"id": 2}]
    if path == "/lists/1/notes" and os.path.exists("notes"): return 200, {}, open("notes", "rb").read()
    if path.endswith("/notes"): return 200, [{"id": 10, "text": "a"}] if path == "/lists/1/notes" else []
    if os.path.exists("one"): return 200, {}, open("one", "rb").read()
    return 404, {"message": "no such note"}


answers.serve(answer, changes=True)
