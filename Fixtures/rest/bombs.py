"""Writes packed files whose rows take most memory or time: python3 bombs.py FOLDER MIB PACKING [KIND-NAME...]

MIB is what each unpacks to, PACKING is gz, zip or plain. Without names all are written, each as FOLDER/KIND-NAME.PACKING.
"""

import gzip
import sys
import zipfile

MIB = 1 << 20


def repeated(before, unit, after=b""):
    def pieces(size):
        yield before
        block = unit * (MIB // len(unit))
        for _ in range(size // MIB):
            yield block
        yield after
    return pieces


def counted(before, form, after, step):
    def pieces(size):
        yield before
        for start in range(0, size // step, 50_000):
            yield b"".join(form % n for n in range(start, start + 50_000))
        yield after
    return pieces


SHAPES = {
    "csv-rows": repeated(b"id,n\n", b"1,2\n"),
    "csv-distinct": counted(b"id,n\n", b"%d,2\n", b"", 9),
    "csv-bad": repeated(b"id,n\n", b"1\n"),
    "csv-blank": repeated(b"id,n\n", b"\n"),
    "csv-commas": repeated(b"id,n\n", b",", b"\n"),
    "csv-field": repeated(b'id,n\n1,"', b"x", b'"\n'),
    "csv-quotes": repeated(b'id,n\n1,"', b'""', b'"\n'),
    "csv-header": counted(b"id", b",n%d", b"\n1\n", 9),
    "ndjson-rows": repeated(b"", b'{"id":1}\n'),
    "ndjson-bad": repeated(b'{"id":1}\n', b"{}\n"),
    "ndjson-lines": repeated(b'{"id":1}\n', b"1\n"),
    "ndjson-broken": repeated(b'{"id":1}\n', b"{1}\n"),
    "ndjson-numbers": repeated(b'{"id":1,"n":[1', b",1", b"]}\n"),
    "ndjson-names": counted(b'{"id":1', b',"k%08d":1', b"}\n", 13),
    "ndjson-deep": repeated(b'{"id":1,"n":', b"[", b"\n"),
    "json-rows": repeated(b'[{"id":1}', b',{"id":1}', b"]"),
    "json-bad": repeated(b'[{"id":1}', b",{}", b"]"),
    "json-numbers": repeated(b'[{"id":1,"n":[1', b",1", b"]}]"),
    "json-deep": repeated(b"", b"[", b""),
    "json-inner": repeated(b'{"items":[{"id":1}', b',{"id":1}', b"]}"),
    "json-spaces": repeated(b'[{"id":1}', b" ", b"]"),
    "xml-rows": repeated(b"<r>", b"<i><id>1</id></i>", b"</r>"),
    "xml-bad": repeated(b"<r>", b"<i/>", b"</r>"),
    "xml-children": repeated(b"<r><i><id>1</id>", b"<a/>", b"</i></r>"),
    "xml-names": counted(b"<r><i><id>1</id>", b"<a%d/>", b"</i></r>", 11),
    "xml-attributes": counted(b"<r><i", b" a%d=''", b"/></r>", 11),
    "xml-deep": repeated(b"<r>", b"<i>", b"</r>"),
    "xml-text": repeated(b"<r><i><id>1</id><n>", b"x", b"</n></i></r>"),
    "xml-references": repeated(b"<r><i><id>1</id><n>", b"&#65;", b"</n></i></r>"),
    "xml-spaces": repeated(b"<r>", b" ", b"</r>"),
    "xml-comments": repeated(b"<r>", b"<!---->", b"</r>"),
    "xml-outer": repeated(b"<r><o>", b"<a/>", b"</o></r>"),
}


def write(folder, size, packing, name):
    path = f"{folder}/{name}.{packing}"
    pieces = SHAPES[name](size)
    if packing == "gz":
        with gzip.open(path, "wb", 6) as file:
            file.writelines(pieces)
    elif packing == "zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("a", "w", force_zip64=True) as file:
            for piece in pieces:
                file.write(piece)
    else:
        with open(path, "wb") as file:
            file.writelines(pieces)


for name in sys.argv[4:] or SHAPES:
    write(sys.argv[1], int(sys.argv[2]) * MIB, sys.argv[3], name)
