"""The listings of a page in docs/."""

import os
import re

from surroundings import Failure, check

DOCS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../docs")


class Page:
    def __init__(self, name):
        self.name = name
        # For each listing its section, the word behind its fence, and its text.
        self.listings = []
        section, word, lines = "", None, []
        self.text = open(os.path.join(DOCS, name)).read()
        for line in self.text.splitlines():
            if word is not None:
                if line.strip() == "```":
                    self.listings.append((section, word, "\n".join(lines) + "\n"))
                    word = None
                else:
                    lines.append(line)
            elif found := re.match(r"^ *```(.*)$", line):
                word, lines = found[1], []
            elif line.startswith("#"):
                section = line.lstrip("# ")

    def all(self, word, section=None):
        found = [text for place, name, text in self.listings if name == word and section in (None, place)]
        check(found, f"docs/{self.name}: no listing {word} in '{section or 'the page'}'")
        return found

    def one(self, word, section=None):
        found = self.all(word, section)
        check(len(found) == 1, f"docs/{self.name}: {len(found)} listings {word} in '{section or 'the page'}'")
        return found[0]


def changed(text, changes):
    """The text with each key replaced by its value. A key that the text does not have is a failure: the page has changed, and so must the test."""
    for old, new in changes.items():
        if old not in text:
            raise Failure(f"the listing has no '{old}'")
        text = text.replace(old, new)
    return text


def entries(text):
    """The entries of a master.cf, each with the lines that continue it, by service and type."""
    return {" ".join(found[0].split()[:2]): found[0] for found in re.finditer(r"^\S.*\n(?:[ \t].*\n)*", text, re.M)}
