"""Replies to a read or a change with the status, media type and body of the query, and notes each change in the file `sent`."""
import answers


def answer(path, query):
    method, _, body = answers.asked()
    if method != "GET":
        with open("sent", "a") as file: file.write(f"{method} {body}\n")
    reply = query.get("body", "").encode()
    fields = {"Content-Type": query.get("type", "application/json")}
    if "cut" in query: fields["Content-Length"] = str(len(reply) + 10)
    return int(query.get("status", "200")), fields, reply


answers.serve(answer, changes=True)
