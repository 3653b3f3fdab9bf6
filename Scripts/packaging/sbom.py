#!/usr/bin/env python3
"""sbom.py NAME TREE PACKAGES LICENCES OUTPUT: writes an SPDX 2.3 document of what a staged tree carries.

NAME is that of the whole: bmo, bmo-smb or bmo-dev. PACKAGES has a line for each carried Debian library: its file name,
package and version. LICENCES has the licence of each package, as an SPDX expression.
Source: https://spdx.github.io/spdx-spec/v2.3/
"""

import datetime
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

NAMESPACE = "https://spdx.org/spdxdocs/bmo"


def licences(path):
    """Returns the licence of each package."""
    lines = pathlib.Path(path).read_text().splitlines()
    return dict(line.split("\t") for line in lines if line and not line.startswith("#"))


def identifier(name):
    """Returns the SPDX identifier of a package or a file."""
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name)


def swift_version():
    """Returns the version of the compiler, whose runtime is carried."""
    text = subprocess.run(["swift", "--version"], check=True, capture_output=True, text=True).stdout
    return re.search(r"Swift version (\S+)", text).group(1)


def dependencies():
    """Returns the name and version of each Swift package that is linked into bmo."""
    for checkout in sorted(pathlib.Path(os.environ["BMO_CHECKOUTS"]).iterdir()):
        command = ["git", "-C", str(checkout), "describe", "--tags", "--always"]
        yield checkout.name, subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def package(name, version, licence, origin):
    """Returns the description of a package."""
    return {
        "SPDXID": identifier(name),
        "name": name,
        "versionInfo": version,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": licence,
        "licenseDeclared": licence,
        "copyrightText": "NOASSERTION",
        "supplier": "NOASSERTION",
        "comment": origin,
    }


def carried_files(tree):
    """Returns the programs and libraries of the tree, with the hashes that SPDX asks for."""
    for folder in ("bin", "lib", "include"):
        for path in sorted((tree / folder).rglob("*")):
            if not path.is_file():
                continue
            content = path.read_bytes()
            name = str(path.relative_to(tree))
            yield {
                "SPDXID": identifier("File-" + name),
                "fileName": "./" + name,
                "checksums": [
                    {"algorithm": "SHA1", "checksumValue": hashlib.sha1(content).hexdigest()},
                    {"algorithm": "SHA256", "checksumValue": hashlib.sha256(content).hexdigest()},
                ],
                "licenseConcluded": "NOASSERTION",
                "licenseInfoInFiles": ["NOASSERTION"],
                "copyrightText": "NOASSERTION",
            }


def main():
    """Writes the document; fails if the licence of a package is not known."""
    name, tree, packages, table, output = sys.argv[1:]
    tree = pathlib.Path(tree)
    known = licences(table)
    version = os.environ["BMO_VERSION"]
    found = [(name, version, "commit " + os.environ["BMO_COMMIT"])]
    if (tree / "bin/bmo").exists():
        found += [(dependency, described, "linked into bin/bmo") for dependency, described in dependencies()]
    if any((tree / folder).exists() for folder in ("bin", "lib/bmo/bridges")):
        found.append(("swift", swift_version(), "linked into bin/bmo, and lib/bmo/libswift*.so, libdispatch.so, libBlocksRuntime.so"))
    if (tree / "bin/bmo").exists():
        found.append(("icu (in Swift's Foundation)", "as in Swift", "linked into bin/bmo, with a part of its data"))
    debian = {}
    for line in sorted(set(pathlib.Path(packages).read_text().splitlines())):
        library, owner, release = line.split()
        if (tree / "lib/bmo" / library).exists():
            debian.setdefault((owner, release), []).append("lib/bmo/" + library)
    found += [(owner, release, ", ".join(files) + ", of Debian") for (owner, release), files in debian.items()]
    unknown = [each for each, _, _ in found if each not in known]
    if unknown:
        sys.exit("sbom.py: no licence in " + table + " for: " + ", ".join(unknown))

    described = [package(each, release, known[each], origin) for each, release, origin in found]
    files = list(carried_files(tree))
    digest = hashlib.sha256(json.dumps([described, files]).encode()).hexdigest()
    date = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)
    whole = identifier(name)
    document = {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": name + "-" + version,
        "documentNamespace": NAMESPACE + "/" + name + "-" + version + "-" + digest[:32],
        "creationInfo": {"created": date.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: bmo-Scripts/package"]},
        "packages": described,
        "files": files,
        "hasExtractedLicensingInfos": [
            {
                "licenseId": "LicenseRef-public-domain",
                "name": "Public domain",
                "extractedText": "liblzma is in the public domain; see share/doc/bmo/licences/liblzma5.txt.",
            }
        ],
        "relationships": [
            {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": whole}
        ]
        + [
            {"spdxElementId": whole, "relationshipType": "CONTAINS", "relatedSpdxElement": entry["SPDXID"]}
            for entry in described[1:] + files
        ],
    }
    pathlib.Path(output).write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
