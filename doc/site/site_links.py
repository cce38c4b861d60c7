"""site_links.py - whether the links of a folder of HTML pages lead somewhere.

SPDX-License-Identifier: Apache-2.0

Usage: site_links.py FOLDER.  Prints each link of a page or of the search index whose file or anchor
is missing, each file that would be loaded from elsewhere, each page without a title and each anchor
that a page has twice; then the numbers of pages, links and anchors.  Exit status 1 with any finding.
"""
import json
import os
import sys
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

LINKS = {"href", "src", "srcset", "action", "poster", "data"}
LOADED = {"script", "link", "img", "iframe", "source", "object"}


class Page(HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.links, self.anchors, self.title, self.in_title = [], [], "", False
        with open(path, encoding="utf-8") as file:
            self.feed(file.read())

    def handle_starttag(self, tag, attributes):
        self.in_title = tag == "title"
        for name, value in attributes:
            if name == "id" or (name == "name" and tag == "a"):
                self.anchors.append(value)
            elif name in LINKS:
                self.links.append((tag, value or ""))

    def handle_data(self, data):
        if self.in_title:
            self.title += data

    def handle_endtag(self, tag):
        self.in_title = False


def findings(folder, pages):
    """Yields a line for each thing that is wrong."""
    for name, page in pages.items():
        if not page.title.strip():
            yield f"{name}: no title"
        for anchor in sorted({a for a in page.anchors if page.anchors.count(a) > 1}):
            yield f"{name}: two anchors #{anchor}"
        for tag, link in page.links:
            yield from wrong(folder, pages, name, tag, link)
    with open(os.path.join(folder, "search-index.js"), encoding="utf-8") as file:
        text = file.read()
    for entry in json.loads(text[text.index("["):text.rindex("]") + 1]):
        yield from wrong(folder, pages, "search-index.js", "a", entry[0])


def wrong(folder, pages, name, tag, link):
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        if tag in LOADED:
            yield f"{name}: {link} is loaded from elsewhere"
        return
    path, anchor = unquote(parts.path) or name, unquote(parts.fragment)
    if path.startswith("/") or not os.path.isfile(os.path.join(folder, path)):
        yield f"{name}: no file for {link}"
    elif anchor and (path not in pages or anchor not in pages[path].anchors):
        yield f"{name}: no anchor for {link}"


def main():
    folder = sys.argv[1]
    pages = {name: Page(os.path.join(folder, name)) for name in sorted(os.listdir(folder)) if name.endswith(".html")}
    lines = list(findings(folder, pages))
    for line in lines:
        print(line)
    print(f"{len(pages)} pages, {sum(len(p.links) for p in pages.values())} links,"
          f" {sum(len(p.anchors) for p in pages.values())} anchors")
    return 1 if lines or not pages else 0


if __name__ == "__main__":
    sys.exit(main())
