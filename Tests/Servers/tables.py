"""People as tables: CSV, XML and lines, packed and not, and replies that are something else. tables.py

The path says the form, and `/told` has the query's `body`. `people` in the folder, if it exists, has the rows of CSV in place of the usual ones. If `busy` exists, the second of
the pages is a message.
"""
import answers
import gzip
import io
import os
import zipfile

CSV = "id,name,city\n1,Ann,Köln\n2,Bo,\n3,\"Cy, the third\",Bern\n"
BAD = "id,name,city\n1,Ann,Köln\n2,Bo\n3,Cy,Bern\n"
XML = ('<?xml version="1.0"?><reply><people><person id="1"><name>Ann</name><city>Köln</city></person>'
       '<person id="2"><name>Bo</name></person><person id="3"><name>Cy</name><city>Bern</city></person></people></reply>')
LINES = '{"id": 1, "name": "Ann", "city": "Köln"}\n{"id": 2, "name": "Bo"}\nbroken\n{"id": 3, "name": "Cy"}\n'
LOGIN = "<!DOCTYPE html><html><head><title>Sign in to Shop</title></head><body><input type=password></body></html>"


LONG = ["id,name,city\n" + "".join(f"{number},n{number},\n" for number in range(part * 5000 + 1, part * 5000 + 5001)) for part in (0, 1)]


def packed(*texts):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for number, text in enumerate(texts): archive.writestr(f"part{number}.csv", text)
    return out.getvalue()


MESSAGE = b"Service temporarily unavailable, please try again later\n"


def page(query):
    number = int(query.get("page", "1"))
    if number == 2 and os.path.exists("busy"): return 200, {"Content-Type": "text/plain"}, MESSAGE
    link = {"Link": f'<{answers.url()}/pages?page={number + 1}>; rel="next"'} if number < 3 else {}
    return 200, {"Content-Type": "text/csv", **link}, f"id,name,city\n{number},n{number},\n".encode()


def answer(path, query):
    if path == "/people.csv" and os.path.exists("people"):
        with open("people", "rb") as file: return 200, {"Content-Type": "text/csv"}, file.read()
    whole = gzip.compress(CSV.encode())
    replies = {
        "/people.csv": ("text/csv", CSV.encode()),
        "/bad.csv": ("text/csv; charset=utf-8", BAD.encode()),
        "/latin.csv": ("text/csv; charset=\"windows-1252\"", CSV.replace(",", ";").replace("\"", "").encode("cp1252")),
        "/klingon.csv": ("text/csv; charset=klingon", CSV.encode()),
        "/people.csv.gz": ("application/gzip", whole),
        "/cut.csv.gz": ("application/gzip", whole[:-12]),
        "/people.zip": ("application/zip", packed(CSV, "id,name,city\n4,Di,Rom\n")),
        "/people.xml": ("application/xml", XML.encode()),
        "/latin.xml": ("text/xml; charset=iso-8859-1", XML.encode("latin-1")),
        "/lines.gz": ("application/gzip", gzip.compress(LINES.encode())),
        "/long.csv": ("text/csv", (LONG[0] + LONG[1].partition("\n")[2]).encode()),
        "/long.zip": ("application/zip", packed(*LONG)),
        "/page.csv": ("text/html", CSV.encode()),
        "/login": ("text/html; charset=utf-8", LOGIN.encode()),
        "/refused": ("application/json", b'{"error": {"message": "quota exceeded"}}'),
        "/list": ("application/json", b'[{"id": 1}]'),
        "/empty": ("text/csv", b""),
        "/message": ("text/plain", MESSAGE),
        "/other.csv": ("text/csv", b"code,label\n"),
        "/none.csv": ("text/csv", b"id,name,city\n"),
        "/none.xml": ("text/xml", b"<reply><people/></reply>"),
    }
    if path == "/pages": return page(query)
    if path == "/told": return 200, {"Content-Type": query["type"]}, query["body"].encode()
    if path == "/coded.csv": return 200, {"Content-Type": "text/csv", "Content-Encoding": "gzip",
                                          "Content-Length": str(len(whole))}, whole
    kind, body = replies[path]
    return 200, {"Content-Type": kind}, body


answers.serve(answer)
