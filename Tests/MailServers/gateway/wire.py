"""Clients for SMTP, LMTP and milters that send arbitrary bytes."""

import re
import socket
import struct

from surroundings import Failure


class Wire:
    def __init__(self, around, place="serve_out", hello="EHLO c.test", timeout=120):
        """`place` is the name of a port, or of a socket such as out.lmtp."""
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


class MilterWire:
    """A mail server that asks the milter behind the socket `place`, and waits for a reply to each command."""

    def __init__(self, around, place, timeout=120):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(timeout)
        self.socket.connect(around.name("run", place))
        self.unread = b""
        self.send(b"O", struct.pack(">III", 6, 0x1FF, 0))
        self.expect(b"O")
        self.send(b"D", b"Cj\0c.test\0")
        self.send(b"C", b"client.test\0" + b"4" + struct.pack(">H", 25) + b"127.0.0.1\0")
        self.expect(b"c")

    def send(self, command, data=b""):
        self.socket.sendall(struct.pack(">I", len(data) + 1) + command + data)

    def read(self, count):
        while len(self.unread) < count:
            more = self.socket.recv(1 << 16)
            if not more:
                raise Failure("the milter has closed the connection")
            self.unread += more
        found, self.unread = self.unread[:count], self.unread[count:]
        return found

    def reply(self):
        """The next reply: its command, and its data."""
        packet = self.read(struct.unpack(">I", self.read(4))[0])
        return packet[:1], packet[1:]

    def expect(self, command):
        found, data = self.reply()
        if found != command:
            raise Failure(f"{command} expected, not {found} {data[:200]!r}")

    def bring(self, identifier, sender, recipients, content):
        """Sends a message with CRLF line ends to the milter. Returns the replies to its end; the last one is without the changes before it."""
        self.send(b"D", f"Mi\0{identifier}\0".encode())
        commands = [(b"M", f"<{sender}>\0".encode()), *[(b"R", f"<{recipient}>\0".encode()) for recipient in recipients], (b"T", b"")]
        header, body = content.split(b"\r\n\r\n", 1)
        for field in re.split(rb"\r\n(?![ \t])", header):
            name, value = field.split(b":", 1)
            commands.append((b"L", name + b"\0" + value.removeprefix(b" ").replace(b"\r\n", b"\n") + b"\0"))
        commands += [(b"N", b""), *[(b"B", body[start : start + 65535]) for start in range(0, len(body), 65535)]]
        for command in commands:
            self.send(*command)
            self.expect(b"c")
        self.send(b"E")
        changes = []
        while (reply := self.reply())[0] not in (b"c", b"a", b"d", b"r", b"t", b"y"):
            if reply[0] != b"p":
                changes.append(reply)
        return reply[0], changes
