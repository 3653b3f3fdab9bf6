"""Not a server: makes files that a share should not have. bad-files.py FOLDER"""
import gzip
import os
import sys
import zipfile
import zlib

root = sys.argv[1] + "/bad"
os.makedirs(root, exist_ok=True)
def write(name, data):
    with open(root + "/" + name, "wb") as file: file.write(data)
write("a-good.csv", b"id,name\n1,first\n")
write("b-empty.csv", b"")
write("c-header.csv", b"id,name\n")
write("d-ragged.csv", b"id,name\n1\n2,two,more\n3,three\n")
write("e-nul.csv", b"id,name\n1,a\0b\n2,ok\n")
write("f-truncated.csv.gz", gzip.compress(b"id,name\n" + b"".join(b"%d,x\n" % i for i in range(200000)))[:2000])
pack = zlib.compressobj(9, zlib.DEFLATED, 31)
with open(root + "/g-bomb.csv.gz", "wb") as file:
    file.write(pack.compress(b"id,name\n"))
    for _ in range(1024): file.write(pack.compress(b"x" * (1 << 20)))
    file.write(pack.flush())
with zipfile.ZipFile(root + "/h-dots.csv.zip", "w") as archive:
    archive.writestr("../../../tmp/escaped.csv", "id,name\n7,inside\n")
    archive.writestr("/etc/absolute.csv", "id,name\n8,inside\n")
with zipfile.ZipFile(root + "/i-bomb.csv.zip", "w", zipfile.ZIP_DEFLATED) as archive:
    with archive.open("bomb.csv", "w", force_zip64=True) as member:
        member.write(b"id,name\n")
        for _ in range(256): member.write(b"x" * (1 << 20))
write("j-not.csv.zip", b"PK\3\4" + b"no archive" * 100)
with open(root + "/k-line.csv", "wb") as file:
    file.write(b"id,name\n1,")
    file.seek(1 << 30)
    file.write(b"\n")
write("l-marked.csv", b"\xef\xbb\xbfid,name\n9,marked\n")
write("m-wide.csv", "\ufeffid,name\r\n10,w\u00efde\r\n".encode("utf-16-le"))
os.path.lexists(root + "/n-out.csv") or os.symlink("/etc/passwd", root + "/n-out.csv")
write("z-last.csv", b"id,name\n99,last\n")
