#!/usr/bin/env python3
"""pages.py FOLDER: lays out the pages of the site in FOLDER: docs/, the README as the first page, and the changelog.

Links keep pointing where they do in the repository: to another page, or to a copy of the source file below sources/.
A link to a file that does not exist is an error, and so is a page that the navigation of mkdocs.yml lacks. Source of the differences between GitHub's Markdown and that of the
site: https://python-markdown.github.io/#differences
"""

import os
import pathlib
import posixpath
import re
import shutil
import sys

# The pages that are not in docs/.
PAGES = {"README.md": "index.md", "CHANGELOG.md": "changelog.md", "Benchmarks/README.md": "benchmarks.md"}
LINK = re.compile(r"(?<!!)\[([^\]\[]*(?:\[[^\]]*\][^\]\[]*)*)\]\(([^)\s]+)\)")
ITEM = re.compile(r"(?:[-*]|\d+\.) ")


class Site:
    """The pages that are being written, and the source files that they link to."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.faults = []
        self.sources = set()

    def place(self, path):
        """Returns where a path of the repository is on the site."""
        if path in PAGES:
            return PAGES[path]
        if path == "docs/decisions":
            return "decisions/index.md"
        if path.startswith("docs/"):
            return path.removeprefix("docs/")
        return self.source(path)

    def source(self, path):
        """Copies a source file or the files of a folder, and returns the place of the copy or of a list of them."""
        if path not in self.sources:
            self.sources.add(path)
            if os.path.isdir(path):
                names = sorted(path.name for path in pathlib.Path(path).glob("[!.]*") if path.is_file())
                links = [f"- [{name}]({posixpath.basename(self.source(path + '/' + name))})" for name in names]
                # A list that the navigation does not need.
                text = f"---\nsearch: {{exclude: true}}\n---\n\n# {path}\n\n" + "\n".join(links) + "\n"
                self.write(f"sources/{path}/index.md", text)
            else:
                copy = self.folder / f"sources/{path}.txt"
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, copy)
        return f"sources/{path}/index.md" if os.path.isdir(path) else f"sources/{path}.txt"

    def write(self, place, text):
        file = self.folder / place
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def page(self, path):
        """Writes a page of the repository, with its links changed."""
        place = self.place(path)

        def link(match):
            text, target = match.groups()
            address, mark, anchor = target.partition("#")
            if not address or re.match(r"[a-z]+:", address):
                return match.group(0)
            there = posixpath.normpath(posixpath.join(posixpath.dirname(path), address))
            if not os.path.exists(there):
                self.faults.append(f"{path}: there is no {there}")
                return match.group(0)
            return f"[{text}]({posixpath.relpath(self.place(there), posixpath.dirname(place) or '.')}{mark}{anchor})"

        lines, fence = [], False
        for line in pathlib.Path(path).read_text().split("\n"):
            if line.startswith("```"):
                fence = not fence
            elif not fence and not line.startswith("    "):
                line = "".join(
                    part if part.startswith("`") else LINK.sub(link, part) for part in split_code(line)
                )
                # GitHub takes a list without an empty line above it.
                if ITEM.match(line) and lines and lines[-1] and not ITEM.match(lines[-1]) and lines[-1][0] != " ":
                    lines.append("")
            lines.append(line)
        self.write(place, "\n".join(lines))


def split_code(line):
    """Splits a line into text and `code`; the text of a link may have code in it, and stays whole."""
    parts, start = [], 0
    for match in re.finditer(r"`[^`]*`", line):
        before = line[start : match.start()]
        if before.count("[") > before.count("]"):
            continue
        parts += [before, match.group(0)]
        start = match.end()
    return parts + [line[start:]]


def decisions(folder):
    """Returns the page that lists the decision records."""
    lines = ["# Decisions", "", "Why things are as they are, with numbers.", ""]
    for file in sorted(pathlib.Path(folder).glob("*.md")):
        lines.append(f"- [{file.read_text().splitlines()[0].removeprefix('# ')}]({file.name})")
    return "\n".join(lines) + "\n"


def main():
    """Writes all pages; fails if a link leads nowhere."""
    site = Site(sys.argv[1])
    paths = sorted(str(path) for path in pathlib.Path("docs").rglob("*.md"))
    navigation = (pathlib.Path(__file__).parent / "mkdocs.yml").read_text()
    for path in paths + list(PAGES):
        site.page(path)
        if not path.startswith("docs/decisions/") and f" {site.place(path)}\n" not in navigation:
            site.faults.append(f"{path}: mkdocs.yml does not name it")
    for path in pathlib.Path("docs").rglob("*"):
        if path.is_file() and path.suffix != ".md":
            place = site.folder / site.place(str(path))
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, place)
    site.write("decisions/index.md", decisions("docs/decisions"))
    shutil.copytree(pathlib.Path(__file__).parent / "assets", site.folder / "assets")
    if site.faults:
        sys.exit("pages.py: " + "\npages.py: ".join(site.faults))


if __name__ == "__main__":
    main()
