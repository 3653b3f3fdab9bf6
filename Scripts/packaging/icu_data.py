#!/usr/bin/env python3
"""icu_data.py ARCHIVE OBJECT: makes an object file with the part of ICU's data that bmo needs.

ARCHIVE is lib_FoundationICU.a of Swift, whose data has the languages, regions, currencies, units and collations of the
whole world: 34 MB. bmo prints and reads no text for a locale; what GRDB and Yams format is for en_US_POSIX. OBJECT has
the data that belong to no locale, and those of English, as the symbol __wrap_NAME. Prints NAME, the symbol of ARCHIVE,
for the linker's option --wrap=NAME.

Source of the format: ICU's source/common/ucmndata.h: a header, whose first two bytes are its size; the number of items;
the offsets of each item's name and content, sorted by name; the names; the contents.
"""

import pathlib
import re
import struct
import subprocess
import sys
import tempfile

# The items that stay, without the name of the package.
KEPT = re.compile(
    r"[^/]*\.(?:icu|nrm)"
    r"|(?![a-z]{2,3}(?:_\w+)?\.res)\w+\.res"
    r"|brkitr/\w+\.brk"
    r"|(?:\w+/)?(?:root|en|en_001|en_US|en_US_POSIX|pool|res_index|supplementalData|tzdbNames|ucadata)\.(?:icu|res)"
)


def run(*command):
    """Runs a program, and returns its standard output."""
    return subprocess.run(command, check=True, capture_output=True).stdout


def items(data):
    """Returns the header, and the name and content of each item."""
    size = struct.unpack_from("<H", data)[0]
    body = data[size:]
    count = struct.unpack_from("<I", body)[0]
    table = [struct.unpack_from("<II", body, 4 + 8 * index) for index in range(count)]
    ends = [content for _, content in table[1:]] + [len(body)]
    names = [body[name : body.index(b"\0", name)] for name, _ in table]
    return data[:size], [(name, body[entry[1] : end]) for name, entry, end in zip(names, table, ends)]


def archive(header, kept):
    """Returns the bytes of a package with these items."""
    names, contents = b"", b""
    table_size = 4 + 8 * len(kept)
    start = -(-(table_size + sum(len(name) + 1 for name, _ in kept)) // 16) * 16
    table = struct.pack("<I", len(kept))
    for name, content in kept:
        table += struct.pack("<II", table_size + len(names), start + len(contents))
        names += name + b"\0"
        contents += content + bytes(-len(content) % 16)
    return header + (table + names).ljust(start, b"\0") + contents


def main():
    """Writes the object file."""
    source, output = sys.argv[1:]
    member = "icu_packaged_data.cpp.o"
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        (path / "all.o").write_bytes(run("ar", "p", source, member))
        (symbol,) = re.findall(r" R (icudt\d+_dat)$", run("nm", path / "all.o").decode(), re.MULTILINE)
        run("objcopy", "-O", "binary", "--only-section=.rodata", path / "all.o", path / "all")
        header, found = items((path / "all").read_bytes())
        kept = [(name, content) for name, content in found if KEPT.fullmatch(name.decode().partition("/")[2])]
        (path / "kept").write_bytes(archive(header, kept))
        ours = "__wrap_" + symbol
        # The header's size is a multiple of 16, so that contents are aligned as ICU needs them.
        (path / "kept.s").write_text(
            f'.section .rodata\n.globl {ours}\n.hidden {ours}\n.type {ours}, @object\n.balign 16\n{ours}:\n'
            f'.incbin "{path}/kept"\n.size {ours}, . - {ours}\n.section .note.GNU-stack,"",@progbits\n'
        )
        run("cc", "-c", "-o", output, path / "kept.s")
    print(symbol)


if __name__ == "__main__":
    main()
