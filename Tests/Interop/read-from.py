"""Reads From fields with Python's email package, for SoleMailboxDifferentialTests.

Standard input: one field a line, its body and the address that we read, both in hexadecimal, with a blank between.
Standard output: one line for each field on which a reading differs. Last line: how many fields were read.
"""

import sys
from email import policy
from email.parser import BytesParser
from email.utils import getaddresses


def escaped_characters(text):
    """The characters of `text` with their positions; a quoted pair counts as one."""
    pairs = iter(enumerate(text))
    for place, character in pairs:
        yield place, character + next(pairs, (0, ""))[1] if character == "\\" else character


def without_quoted(text):
    """`text` without its quoted strings."""
    kept, start, opened = [], 0, None
    for place, character in escaped_characters(text):
        if character != '"':
            continue
        if opened is None:
            opened = place
        else:
            kept.append(text[start:opened])
            start, opened = place + 1, None
    return "".join(kept) + text[start:]


def has_balanced_parentheses(text):
    depth = 0
    for _, character in escaped_characters(without_quoted(text)):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if depth < 0:
            return False
    return depth == 0


def strict(text):
    """getaddresses of Python 3.12.6 and later, which adds checks to the old one."""
    try:
        return [address for _, address in getaddresses([text], strict=True)]
    except TypeError:
        pass
    found = [address for _, address in getaddresses([text])] if has_balanced_parentheses(text) else [""]
    if len(found) != 1 + without_quoted(text).count(","):
        return [""]
    return ["" if "[" in address else address for address in found]


def old(text):
    try:
        return [address for _, address in getaddresses([text], strict=False)]
    except TypeError:
        return [address for _, address in getaddresses([text])]


PARSER = BytesParser(policy=policy.default)


def parsed(body):
    field = PARSER.parsebytes(b"From:" + body + b"\r\n\r\n", headersonly=True)["from"]
    if any(group.display_name is not None for group in field.groups):
        return ["a group"]
    return [address.addr_spec for address in field.addresses]


def plain(address):
    """The address as UTF-8 text, without quotes that change nothing: the header parser leaves them off."""
    address = address.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    local, _, domain = address.rpartition("@")
    inner = local[1:-1]
    if local[:1] == '"' == local[-1:] and inner and all(inner.split(".")) and not set(inner) & set(' "\\(),:;<>@[]'):
        local = inner
    return f"{local}@{domain}"


count = 0
for line in sys.stdin:
    body, expected = (bytes.fromhex(word) for word in line.split())
    expected = plain(expected.decode())
    text = body.decode("utf-8", "surrogateescape")
    for name, read in (("strict", lambda: strict(text)), ("old", lambda: old(text)), ("parser", lambda: parsed(body))):
        try:
            found = [plain(address) for address in read()]
        except Exception as error:
            found = [repr(error)]
        if found != [expected]:
            print(f"{name}: {body!r}: {found} and not {expected}")
    count += 1
print(count)
