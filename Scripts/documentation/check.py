#!/usr/bin/env python3
"""check.py SITE: checks that each page of a site works without a network and links to nothing that does not exist.

mkdocs --strict checks the links of the Markdown files; this reads the HTML that a browser gets. A link to another site
must be https; it is not requested.
"""

import html.parser
import pathlib
import sys
import urllib.parse

# Elements that a browser loads by itself, and the attribute with the address.
LOADED = {"script": "src", "img": "src", "iframe": "src", "link": "href"}


class Page(html.parser.HTMLParser):
    """The anchors and addresses of a page."""

    def __init__(self, path):
        super().__init__()
        self.anchors, self.links, self.loads = set(), [], []
        self.feed(path.read_text())

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.anchors.update(value for name, value in attrs if name in ("id", "name") and value)
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        address = values.get(LOADED.get(tag, ""))
        if address and values.get("rel") != "canonical":
            self.loads.append(address)


def main():
    """Prints each fault; fails if there is one."""
    site = pathlib.Path(sys.argv[1]).resolve()
    pages = {path: Page(path) for path in sorted(site.rglob("*.html"))}
    faults = []
    for path, page in pages.items():
        for address in page.loads:
            if urllib.parse.urlsplit(address).scheme or address.startswith("//"):
                faults.append(f"{path.relative_to(site)}: loads {address} from the network")
        for address in page.links + page.loads:
            parts = urllib.parse.urlsplit(address)
            if parts.scheme:
                if parts.scheme not in ("https", "mailto"):
                    faults.append(f"{path.relative_to(site)}: {address} is not https")
                continue
            there = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            # The page for unknown addresses has absolute links, for a server.
            if path.name == "404.html":
                continue
            if not there.is_file():
                faults.append(f"{path.relative_to(site)}: there is no {address}")
            elif parts.fragment and there in pages and urllib.parse.unquote(parts.fragment) not in pages[there].anchors:
                faults.append(f"{path.relative_to(site)}: {address} has no such anchor")
    for style in site.rglob("*.css"):
        if "url(http" in style.read_text() or "@import" in style.read_text():
            faults.append(f"{style.relative_to(site)}: loads something from the network")
    print("\n".join(faults) or f"{len(pages)} pages: all links lead somewhere, and nothing is loaded from the network")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
