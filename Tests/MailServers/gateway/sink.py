"""The last mail server: accepts messages, and stores each one before it confirms it. `sink.py PORT FOLDER [ADDRESS]`

FOLDER/log has a line of JSON for each message taken ("taken"), one for each reply that was given to its client ("replied"), so that it
can be told what was in flight when the sink was killed, and one when content has come ("begun"). What recipients it does not take, their addresses say: `later`, `never`, and
behind the content `later-content` and `never-content`. Content for `slow-content` takes three seconds, and after content for `gone-content`
the connection ends without a reply.
"""

import asyncio
import json
import os
import re
import sys
import time

OFFERS = ["sink.test", "PIPELINING", "SIZE 200000000", "8BITMIME", "SMTPUTF8", "DSN", "ENHANCEDSTATUSCODES", "XFORWARD NAME ADDR PROTO HELO IDENT SOURCE PORT"]


class Sink:
    def __init__(self, folder):
        self.folder = folder
        self.log = os.open(os.path.join(folder, "log"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        self.count = 0

    def write(self, **fields):
        os.write(self.log, (json.dumps(fields) + "\n").encode())

    def take(self, envelope, content):
        self.count += 1
        name = f"S{os.getpid()}x{self.count}"
        with open(os.path.join(self.folder, name), "wb") as file:
            file.write(content)
        self.write(taken=name, at=time.time(), **envelope)
        return name

    async def serve(self, reader, writer):
        try:
            await self.talk(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        finally:
            writer.close()

    async def talk(self, reader, writer):
        envelope, xforward = None, {}
        writer.write(b"220 sink.test ESMTP\r\n")
        while line := await reader.readline():
            words = line.decode("utf-8", "surrogateescape").strip()
            verb = words.split(" ")[0].upper()
            reply = "250 2.0.0 Ok"
            if verb == "EHLO":
                reply = "\r\n".join("250" + ("-" if offer != OFFERS[-1] else " ") + offer for offer in OFFERS)
            elif verb == "XFORWARD":
                xforward.update(word.split("=", 1) for word in words.split(" ")[1:])
            elif verb == "MAIL":
                sender = re.match(r"MAIL FROM:<(.*?)>\s*(.*)", words, re.I)
                envelope = {"sender": sender[1], "mail": sender[2], "recipients": [], "rcpt": {}, "xforward": dict(xforward)}
            elif verb == "RCPT":
                recipient = re.match(r"RCPT TO:<(.*?)>\s*(.*)", words, re.I)
                local = recipient[1].split("@")[0]
                if local in ("later", "never"):
                    reply = "451 4.2.0 come back later" if local == "later" else "550 5.1.1 nobody here"
                else:
                    envelope["recipients"].append(recipient[1])
                    envelope["rcpt"][recipient[1]] = recipient[2]
            elif verb == "DATA":
                if not envelope or not envelope["recipients"]:
                    reply = "554 5.5.1 no recipients"
                else:
                    writer.write(b"354 go on\r\n")
                    await writer.drain()
                    content = await reader.readuntil(b"\r\n.\r\n")
                    content = re.sub(rb"(?m)^\.", b"", content[:-3])
                    self.write(begun=time.time())
                    locals_ = {address.split("@")[0] for address in envelope["recipients"]}
                    if "slow-content" in locals_:
                        await asyncio.sleep(3)
                    if "gone-content" in locals_:
                        return
                    if "later-content" in locals_:
                        reply = "451 4.3.0 come back later"
                    elif "never-content" in locals_:
                        reply = "554 5.6.0 this is not wanted"
                    else:
                        name = self.take(envelope, content)
                        writer.write(f"250 2.0.0 Ok: queued as {name}\r\n".encode())
                        await writer.drain()
                        self.write(replied=name, at=time.time())
                        envelope = None
                        continue
                    envelope = None
            elif verb == "RSET":
                envelope = None
            elif verb == "QUIT":
                writer.write(b"221 2.0.0 Bye\r\n")
                return
            elif verb not in ("NOOP", "HELO"):
                reply = "502 5.5.1 what?"
            writer.write(reply.encode("utf-8", "surrogateescape") + b"\r\n")
            await writer.drain()


async def main():
    sink = Sink(sys.argv[2])
    address = sys.argv[3] if len(sys.argv) > 3 else "127.0.0.1"
    server = await asyncio.start_server(sink.serve, address, int(sys.argv[1]), limit=300_000_000, backlog=1000, reuse_address=True)
    await server.serve_forever()


asyncio.run(main())
