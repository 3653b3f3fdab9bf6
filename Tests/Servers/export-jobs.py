"""Orders that are exported by a job: a form creates it, its status has links to files, which expire. export-jobs.py

`mode` in the folder changes what it answers: fails, never, gone, broken, expired, refused, login, own, private, empty, elsewhere, wait, late,
fewer, more, others, reversed, turned, shuffled, rewritten, partial; for the second file accepted, part, whole-part, pages, no-content, unlinked, null-link, blank-link. The file `asked` gets a line for each request, with `+` where it had the credentials of the API. Links are of another origin (localhost).
"""
import answers
import gzip
import json
import os
import urllib.parse

jobs = []
requests = []
FILES = {"4.csv": b"id,item\n1,apple\n2,pear\n", "1.csv": b"id,item\n1,apple\n2,pear\n", "2.csv.gz": gzip.compress(b"id,item\n3,plum\n"), "3.ndjson": b'{"id": 4, "item": "fig"}\n'}


def mode():
    if not os.path.exists("mode"): return ""
    with open("mode") as file: return file.read().strip()


def link(name, job):
    root = answers.url() if mode() == "own" else answers.url().replace("127.0.0.1", "localhost")
    return f"{root}/files/{name}?X-Amz-Signature=s{job['polls']}-abcdefghijklmnop&type=text"


def status(number, job):
    if mode() == "gone" and job["mode"] != "gone": return 404, {"error": "no such job"}
    job["polls"] += 1
    if mode() == "fails": return 200, {"state": "failed", "reason": "the disk is full"}
    if mode() == "elsewhere": return 200, {"status": "running"}
    if mode() == "never" or job["polls"] < 2 and mode() != "late":
        fields = {"Retry-After": "1"} if mode() == "wait" else {}
        return 200, {"Content-Type": "application/json", **fields}, b'{"state": "running"}'
    files = [] if mode() == "empty" else ["1.csv", "2.csv.gz"]
    # The list of a job that an earlier sync created has changed.
    if mode() in ("fewer", "more") and job["mode"] != mode(): files = files[:1] if mode() == "fewer" else ["3.ndjson"] + files
    if mode() == "others" and job["mode"] != mode(): files[0] = "4.csv"
    # The same files in another order: always, or once a link has expired.
    if mode() == "reversed" or mode() == "turned" and job["polls"] > 2: files.reverse()
    entries = [{"url": link(name, job)} for name in files]
    # Beside the links, the job says that some of its rows are missing.
    if mode() == "partial": return 200, {"state": "done", "error": "shard 2 is down", "result": {"files": entries[:1]}}
    if mode() == "unlinked": entries[1] = {"state": "failed"}
    if mode() in ("null-link", "blank-link"): entries[1]["url"] = None if mode() == "null-link" else ""
    return 200, {"state": "done", "result": {"files": entries}}


def file(name, query):
    if mode() == "broken" and name.startswith("2"): return 400, {"error": "no"}
    if mode() == "refused" or mode() == "expired" and query["X-Amz-Signature"].startswith("s2-"):
        return 403, {"Content-Type": "application/xml"}, b"<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>"
    if mode() == "turned" and name.startswith("2") and query["X-Amz-Signature"].startswith("s2-"): return 403, {"error": "expired"}
    if mode() == "private" and not query["@authorization"]: return 401, {"error": "who are you?"}
    if mode() == "login": return 200, {"Content-Type": "text/html"}, b"<html><head><title>Sign in</title></head></html>"
    if name == "1.csv" and mode() in ("long", "cut"):
        # A reply that breaks off after half of its rows.
        body = b"id,item\n" + b"".join(b"%d,item %d\n" % (number, number) for number in range(1, 30001))
        end = {"Content-Length": str(len(body)), "Connection": "close"}
        return 200, {"Content-Type": "text/csv", **end}, body[:len(body) // 2] if mode() == "cut" else body
    if name == "1.csv" and mode() == "shuffled":
        # Written anew for each request, in another order; the first reply breaks off.
        requests.append(name)
        order = range(1, 30001) if len(requests) == 1 else range(30000, 0, -1)
        body = b"id,item\n" + b"".join(b"%d,item %d\n" % (number, number) for number in order)
        end = {"Content-Length": str(len(body)), "Connection": "close"}
        return 200, {"Content-Type": "text/csv", **end}, body[:len(body) // 2] if len(requests) == 1 else body
    if name == "1.csv" and mode() == "rewritten":
        # The first reply breaks off; each later one has fewer rows, with other values.
        requests.append(name)
        body = b"id,item\n" + b"".join(b"%d,item %d\n" % (number, number) for number in range(1, 30001))
        if len(requests) == 1: return 200, {"Content-Length": str(len(body)), "Connection": "close"}, body[:len(body) // 2]
        return 200, {"Content-Type": "text/csv"}, b"id,item\n" + b"".join(b"%d,new\n" % number for number in range(5001, 30001))
    if name.startswith("2"):
        # Replies that may lack rows, or have none.
        size = len(FILES[name])
        if mode() == "accepted": return 202, {"Content-Type": "text/csv"}, b"id,item\n"
        if mode() == "part": return 206, {"Content-Type": "text/csv", "Content-Range": "bytes 0-7/1000"}, b"id,item\n"
        if mode() == "pages": return 206, {"Content-Type": "text/csv"}, b"id,item\n"
        if mode() == "whole-part": return 206, {"Content-Range": f"bytes 0-{size - 1}/{size}"}, FILES[name]
        if mode() == "no-content": return 204, {}, b""
    return 200, {"Content-Type": "application/octet-stream"}, FILES[name]


def answer(path, query):
    with open("asked", "a") as log:
        words = " " + query["since"] if query.get("since") else ""
        log.write(path + words + (" +" if query["@authorization"] else "") + "\n")
    kind, *rest = urllib.parse.unquote(path).strip("/").split("/")
    if kind == "exports" and not rest:
        jobs.append({"polls": 0, "mode": mode()})
        fields = {"Retry-After": "1000000"} if mode() == "late" else {}
        return 201, fields, json.dumps({"job": {"id": f"job {len(jobs)}"}}).encode()
    if kind == "exports":
        number = int(rest[0].split()[1])
        return status(number, jobs[number - 1])
    if kind == "files": return file(rest[0], query)
    return 200, {}


answers.serve(answer)
