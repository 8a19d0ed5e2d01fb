"""A client of SMTP or LMTP that says what it wants, byte by byte."""

import re
import socket

from surroundings import Failure


class Wire:
    def __init__(self, around, place="serve_out", hello="EHLO c.test", timeout=120):
        """`place` is a port's name, or the name of a socket such as out.lmtp."""
        if place in around.port:
            self.socket = socket.create_connection(("127.0.0.1", around.port[place]), timeout)
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        else:
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.settimeout(timeout)
            self.socket.connect(around.name("run", place))
        self.unread = b""
        if hello:
            self.expect("220")
            self.say(hello, "250")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, content, size=None):
        """Sends bytes, in pieces of `size`."""
        if not size:
            return self.socket.sendall(content)
        for start in range(0, len(content), size):
            self.socket.sendall(content[start : start + size])

    def reply(self):
        """The next reply, of any number of lines; empty at the end."""
        lines = []
        while True:
            while b"\n" not in self.unread:
                try:
                    more = self.socket.recv(1 << 16)
                except TimeoutError:
                    raise Failure(f"no reply; before: {lines}") from None
                except OSError:
                    more = b""
                if not more:
                    return "".join(lines)
                self.unread += more
            line, self.unread = self.unread.split(b"\n", 1)
            lines.append(line.decode(errors="replace") + "\n")
            if not re.match(r"\d{3}-", lines[-1]):
                return "".join(lines)

    def expect(self, *codes):
        reply = self.reply()
        if not reply.startswith(codes):
            raise Failure(f"{codes} expected, not {reply!r}")
        return reply

    def say(self, line, *codes):
        self.send(line.encode() + b"\r\n")
        return self.expect(*codes)

    def begin(self, *recipients, sender="alice@example.com", data=True):
        self.say(f"MAIL FROM:<{sender}>", "250")
        for recipient in recipients:
            self.say(f"RCPT TO:<{recipient}>", "250")
        if data:
            self.say("DATA", "354")

    def rest(self):
        """All replies up to the end of the connection."""
        replies = []
        while reply := self.reply():
            replies.append(reply)
        return replies
