#!/usr/bin/env python3
"""wheel.py TREE TAG FOLDER: writes the wheel `bmo-sync`, which carries the program, into FOLDER.

Its command is `bmo`. The program is in `.data/scripts`, its libraries in `.data/data/lib/bmo`, so that an installer lays
them out as in TREE. Source: https://packaging.python.org/en/latest/specifications/binary-distribution-format/
"""

import base64
import datetime
import hashlib
import os
import pathlib
import sys
import zipfile

# The name bmo belongs to another project on the index.
NAME = "bmo_sync"
LEFT_OUT = ("share/doc/bmo/docs", "share/doc/bmo/CHANGELOG.md", "share/doc/bmo/README.md", "share/zsh")


def metadata(version):
    """Returns the METADATA file."""
    description = pathlib.Path("Scripts/packaging/wheel.md").read_text()
    return f"""Metadata-Version: 2.4
Name: {NAME.replace("_", "-")}
Version: {version}
Summary: Keep a relational, offline SQLite copy of any API: the command bmo
License-Expression: MIT
License-File: LICENSE
Requires-Python: >=3.8
Classifier: Environment :: Console
Classifier: Operating System :: POSIX :: Linux
Classifier: Topic :: Database
Description-Content-Type: text/markdown

{description}"""


class Wheel:
    """A wheel that is being written, whose files all have the time of the commit."""

    def __init__(self, path, information):
        moment = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)
        self.time = moment.timetuple()[:6]
        self.archive = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=int(os.environ["BMO_LEVEL"]))
        self.information = information
        self.record = []

    def add(self, name, content, mode=0o644):
        """Adds a file, and its line in RECORD."""
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        self.record.append(f"{name},sha256={digest},{len(content)}")
        self._write(name, content, mode)

    def _write(self, name, content, mode):
        entry = zipfile.ZipInfo(name, self.time)
        entry.external_attr = (0o100000 | mode) << 16
        entry.create_system = 3
        entry.compress_type = zipfile.ZIP_DEFLATED
        self.archive.writestr(entry, content)

    def close(self):
        """Writes RECORD, which has itself without a hash."""
        name = f"{self.information}/RECORD"
        self._write(name, "\n".join(self.record + [f"{name},,"]).encode() + b"\n", 0o644)
        self.archive.close()


def main():
    """Writes the wheel."""
    tree, tag, folder = sys.argv[1:]
    tree = pathlib.Path(tree)
    version = os.environ["BMO_VERSION"]
    information = f"{NAME}-{version}.dist-info"
    data = f"{NAME}-{version}.data"
    wheel = Wheel(pathlib.Path(folder) / f"{NAME}-{version}-py3-none-{tag}.whl", information)
    for path in sorted(tree.rglob("*")):
        name = str(path.relative_to(tree))
        if not path.is_file() or name.startswith(LEFT_OUT):
            continue
        if name == "bin/bmo":
            wheel.add(f"{data}/scripts/bmo", path.read_bytes(), 0o755)
        elif name.startswith("share/doc/bmo/"):
            kind = "sboms" if name.endswith(".spdx.json") else "licenses"
            inner = path.relative_to(tree / "share/doc/bmo")
            wheel.add(f"{information}/{kind}/{inner}", path.read_bytes())
        else:
            wheel.add(f"{data}/data/{name}", path.read_bytes())
    wheel.add(f"{information}/METADATA", metadata(version).encode())
    kind = f"Wheel-Version: 1.0\nGenerator: bmo-Scripts/package\nRoot-Is-Purelib: false\nTag: py3-none-{tag}\n"
    wheel.add(f"{information}/WHEEL", kind.encode())
    wheel.close()


if __name__ == "__main__":
    main()
