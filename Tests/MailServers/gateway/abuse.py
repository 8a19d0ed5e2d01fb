"""Hostile and faulty clients of the service: protocol violations, slow, numerous or vanished clients, large messages, and its end."""

import os
import random
import signal
import socket
import subprocess
import threading
import time

from surroundings import Service, check, message, send, step, wait_until
from wire import MilterWire, Wire


def run(around):
    around.start_sink()
    around.service = Service(around, hops="sink").start()
    garbage(around)
    smuggling(around)
    edges(around)
    chunks(around)
    storms(around)
    recipients(around)
    spellings(around)
    broken_hop(around)
    tried_again(around)
    workers(around)
    idle(around)
    gone(around)
    full(around)
    check(around.service.metric("smime_messages_in_flight") == 0, "a message stays in flight")
    check(around.service.stop() == 0, "SIGTERM does not end it with 0")
    memory(around)
    envelopes(around)
    strangers(around)
    stopping(around)


def arrived(around, identifier):
    return around.having(f"<{identifier}@test>")


def logs(around, text):
    wait_until(lambda: text in around.service.log(), f"the log does not say: {text}", 30)


def is_well(around, name):
    """A message still passes."""
    send(around.port["serve_out"], "alice@example.com", ["x@plain.test"], message(name, "x@plain.test", "Well."))
    check(len(arrived(around, name)) == 1, f"{name} did not come")


def garbage(around):
    step("pipelined garbage: the first violation closes")
    violations = around.service.metric("smime_protocol_violations_total")
    generator = random.Random(17)
    cases = [b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00", b"\0\0\0\0\r\n", b"\xff\xfe\r\nQUIT\r\n", b"A" * 100_000, b"NOOP\n", b"NOOP\r", b"\r\n" * 50,
             b"EHLO x\r\nMAIL FROM:<a@b>\r\n\x80\r\n", b" EHLO x\r\n"]  # fmt: skip
    cases += [generator.randbytes(generator.randrange(1, 3000)) for _ in range(40)]
    for place in ("serve_out", "out.lmtp"):
        for case in cases:
            with Wire(around, place, hello=None) as wire:
                wire.expect("220")
                try:
                    wire.send(case)
                    wire.socket.shutdown(1)
                except OSError:
                    pass
                wire.rest()
    check(around.service.metric("smime_protocol_violations_total") > violations + 20, "violations are not counted")
    lines = open(around.name("serve.log"), errors="replace").read()
    check("a client: protocol error: " in lines, "violations are not logged")
    with Wire(around) as wire:
        wire.send(b"POST / HTTP/1.1\r\nHost: x\r\n\r\nMAIL FROM:<alice@example.com>\r\nRCPT TO:<x@plain.test>\r\nDATA\r\n")
        replies = wire.rest()
        check(not any(reply.startswith("354") for reply in replies), f"it went on: {replies}")
    with Wire(around) as wire:
        wire.send(b"MAIL FROM:<alice@example.com>\r\nRCPT TO:<x@plain.test>\r\nDATA\r\nSubject: early\r\n\r\nx\r\n.\r\n")
        check(not any(reply.startswith("354") for reply in wire.rest()), "content before 354 is taken")
    is_well(around, "after-garbage")


def smuggling(around):
    step("smuggling: a line end that is not CRLF ends the connection, and nothing went")
    inner = b"MAIL FROM:<admin@example.com>%sRCPT TO:<x@plain.test>%sDATA%sMessage-ID: <smuggled@test>%s%sx%s.%s"
    number = 0
    for role in ("serve_out", "serve_in", "out.lmtp"):
        for dot in (b"\n.\n", b"\n.\r\n", b"\r\n.\n", b"\r.\r", b"\r\n.\r", b"\r.\r\n", b"\r\n\0.\r\n", b"\r\n.\0\0\r\n", b"\r\0.\0\r", b"\n\n.\r\n"):
            for end in (b"\r\n", b"\n"):
                for size in (None, 1):
                    number += 1
                    with Wire(around, role, hello="LHLO c.test" if role.endswith("lmtp") else "EHLO c.test") as wire:
                        wire.begin("x@plain.test")
                        content = message(f"outer{number}", "x@plain.test", "x")[:-2] + dot + inner.replace(b"%s", end) + b"\r\n.\r\n"
                        try:
                            wire.send(content, size)
                        except OSError:
                            pass
                        # NULs alone do not end the connection.
                        is_closed = b"\0" not in dot or end == b"\n"
                        replies = wire.rest() if is_closed else [wire.expect("554 5.6.0")]
                    check(replies and replies[0][0] == "5", f"{dot!r}: {replies}")
                    check(sum(reply[0] == "5" for reply in replies) == 1 and not any(reply.startswith(("354", "250")) for reply in replies), f"{dot!r}: {replies}")
    for entry in around.having("<smuggled@test>"):
        check(entry["sender"] == "alice@example.com", "a smuggled message went")
    for entry in around.having("<outer"):
        check(False, f"an outer message went: {around.content(entry)!r}")
    check(not [entry for entry in around.received() if entry["sender"] == "admin@example.com"], "a smuggled message went")


def edges(around):
    step("dots and line ends at the edges of buffers, in pieces of many sizes")
    number = 0
    for size in (None, 1, 2, 3, 4, 5, 7, 13, 511, 1024, 4095, 4096, 4097, 8192, 65535, 65536, 65537):
        for length in (200, 4000) if size and size < 5 else (4093, 65534, 150_000):
            number += 1
            lines, total = [], 0
            generator = random.Random(number)
            while total < length:
                line = generator.choice([b".", b"..", b"...", b"", b".x", b"x.", b"x" * generator.randrange(990), b"." * generator.randrange(1, 70)])
                lines.append(line)
                total += len(line) + 2
            body = b"\r\n".join(lines) + b"\r\n"
            content = message(f"edge{number}", "x@plain.test", "BODY").replace(b"BODY\r\n", body)
            stuffed = b"\r\n".join(b"." + line if line.startswith(b".") else line for line in content.split(b"\r\n"))
            with Wire(around, "serve_out") as wire:
                wire.begin("x@plain.test")
                wire.send(stuffed + b".\r\n", size)
                wire.expect("250")
            found = arrived(around, f"edge{number}")
            check(len(found) == 1 and around.content(found[0]).endswith(b"\r\n\r\n" + body), f"pieces of {size}, {length} bytes: another body")


def chunks(around):
    step("BDAT: the same bytes in chunks of any size, and sizes that are wrong")
    body = b"".join(b"." * (n % 5) + b"x" * n + b"\r\n" for n in range(300))
    for number, size in enumerate((1 << 20, 4096, 997, 70)):
        content = message(f"chunk{number}", "x@plain.test", "BODY").replace(b"BODY\r\n", body)
        with Wire(around) as wire:
            wire.begin("x@plain.test", data=False)
            pieces = [content[start : start + size] for start in range(0, len(content), size)]
            wire.send(b"".join(b"BDAT %d%s\r\n" % (len(piece), b" LAST" * (place == len(pieces) - 1)) + piece for place, piece in enumerate(pieces)))
            for _ in pieces:
                wire.expect("250")
        found = arrived(around, f"chunk{number}")
        check(len(found) == 1 and around.content(found[0]).endswith(b"\r\n\r\n" + body), f"chunks of {size}: another body")
    text = message("wrong", "x@plain.test", "x")
    wrong = [b"BDAT\r\n", b"BDAT -1\r\n", b"BDAT 1x\r\n", b"BDAT 99999999999999999999999\r\n", b"BDAT 9223372036854775807 LAST\r\n", b"BDAT 9223372036854775808\r\n",
             b"BDAT 10 LAST X\r\n", b"BDAT 0x10 LAST\r\n", b"BDAT 5 LAST\r\nab\ncd", b"BDAT 3\r\nx\r\nDATA\r\n", b"BDAT %d\r\n" % (len(text) - 5) + text + b"BDAT 0 LAST\r\n",
             b"BDAT %d LAST\r\n" % (len(text) + 100) + text, b"BDAT 1\r\n\rBDAT 1 LAST\r\nx", b"BDAT 200000000 LAST\r\n" + text]  # fmt: skip
    for case in wrong:
        with Wire(around) as wire:
            wire.begin("x@plain.test", data=False)
            wire.send(case)
            wire.socket.shutdown(1)
            wire.rest()
    check(not arrived(around, "wrong"), "a message with a wrong size went")
    with Wire(around) as wire:
        wire.begin("x@plain.test", data=False)
        wire.say("BDAT 0 LAST", "250", "5", "451")
        wire.send(b"BDAT 4 LAST\r\nabcd")
        wire.expect("503")
        wire.say("NOOP", "250")
    is_well(around, "after-chunks")


def storms(around):
    step("storms of RSET, NOOP, EHLO and unknown commands end the connection")
    for line in (b"RSET\r\n", b"NOOP\r\n", b"EHLO x\r\n", b"VRFY x\r\n", b"FOO\r\n", b"MAIL FROM:<a@b>\r\nRSET\r\n", b"RCPT TO:<a@b>\r\n", b"MAIL FROM:<\r\n"):
        with Wire(around) as wire:
            try:
                wire.send(line * 20_000)
            except OSError:
                pass
            replies = wire.rest()
            check(len(replies) < 1000, f"{line!r}: {len(replies)} replies")
    logs(around, "too many commands without a message")
    logs(around, "too many unknown commands")
    logs(around, "too many errors")
    is_well(around, "after-storms")


def recipients(around):
    step("10,000 recipients, and one more")
    with Wire(around) as wire:
        wire.say("MAIL FROM:<alice@example.com>", "250")
        for first in range(0, 10_000, 500):
            wire.send(b"".join(b"RCPT TO:<r%d@plain.test>\r\n" % number for number in range(first, first + 500)))
            for _ in range(500):
                wire.expect("250")
        wire.say("RCPT TO:<more@plain.test>", "452")
        wire.say("DATA", "354")
        wire.send(message("many", "many@plain.test", "Hello, all.") + b".\r\n")
        wire.expect("250")
    taken = [address for entry in arrived(around, "many") for address in entry["recipients"]]
    check(sorted(taken) == sorted(f"r{number}@plain.test" for number in range(10_000)), f"{len(taken)} have it")


def spellings(around):
    step("one mailbox in several spellings: each recipient gets the message once")
    names = ["bob@example.com", "BOB@example.com", "bob@EXAMPLE.com", "eve@example.net", "Eve@example.net"]
    for to in (names[0], "undisclosed-recipients:;"):
        os.truncate(around.name("received", "log"), 0)
        with Wire(around, "out.lmtp", "LHLO c.test") as wire:
            wire.begin(*names)
            wire.send(message("spelled", to, "x") + b".\r\n")
            for _ in names:
                wire.expect("250")
        taken = sorted(address for entry in arrived(around, "spelled") for address in entry["recipients"])
        check(taken == sorted(names), f"To: {to}: {taken}")


def broken_hop(around):
    step("what the next hop refuses, by recipient and by content; a hop that is away")
    for recipients_, code in (
        (["never@plain.test"], "5"), (["later@plain.test"], "4"), (["x@plain.test", "never@plain.test"], "5"), (["later@plain.test", "never@plain.test"], "5"),
        (["never-content@plain.test"], "5"), (["later-content@plain.test"], "4"), (["bob@example.com", "never@plain.test"], "5"), (["bob@example.com", "later@plain.test"], "4"),
    ):  # fmt: skip
        with Wire(around, "out.lmtp", hello="LHLO c.test") as wire:
            wire.begin(*recipients_)
            wire.send(message("refused-by-hop", recipients_[0], "x") + b".\r\n")
            replies = [wire.reply() for _ in recipients_]
            check(all(reply.startswith(code) for reply in replies), f"{recipients_}: {replies}")
            refused = recipients_[-1]
            if len(recipients_) > 1 and "content" not in refused:
                check(all(f"{refused}: " in reply for reply in replies), f"{recipients_}: no reply names the refused one: {replies}")
    check(not arrived(around, "refused-by-hop"), "some of them have it")
    step("a form that is refused late: the others have theirs once, however often it is tried again")
    for _ in range(3):
        with Wire(around) as wire:
            wire.say("XFORWARD IDENT=LATE1", "250")
            wire.begin("bob@example.com", "later-content@plain.test", "eve@example.net")
            wire.send(message("in-part", "bob@example.com", "x") + b".\r\n")
            wire.expect("451")
    taken = sorted(address for entry in arrived(around, "in-part") for address in entry["recipients"])
    check(taken == ["bob@example.com", "eve@example.net"], f"{taken} have it")
    step("a hop that ends the connection in place of a reply: it may have the message, which is counted")
    unknown = around.service.metric("smime_unknown_total")
    with Wire(around) as wire:
        wire.begin("gone-content@plain.test")
        wire.send(message("no-reply", "gone-content@plain.test", "x") + b".\r\n")
        wire.expect("451")
    check(around.service.metric("smime_unknown_total") == unknown + 1, "it is not counted")
    logs(around, "the next hop may have the message")
    around.sink.kill()
    around.sink.wait()
    with Wire(around) as wire:
        wire.begin("x@plain.test")
        wire.send(message("no-hop", "x@plain.test", "x") + b".\r\n")
        wire.expect("451")
    around.start_sink()
    is_well(around, "after-hop")


def tried_again(around):
    step("clients that give up while the next hop still works, and try again: the mail goes out once")
    unconfirmed = around.service.metric("smime_unconfirmed_total")
    for place, hello in (("serve_out", "EHLO c.test"), ("out.lmtp", "LHLO c.test"), ("serve_in", "EHLO c.test")):
        to = ["slow-content@plain.test", "bob@example.com"]
        content = message(f"impatient-{place}", "bob@example.com", "x") + b".\r\n"
        for attempt in range(3):
            with Wire(around, place, hello) as wire:
                wire.say(f"XFORWARD NAME=c.test IDENT=AGAIN{place.replace('.', '')}", "250")
                wire.begin(*to)
                if attempt == 0:
                    os.truncate(around.name("received", "log"), 0)
                wire.send(content)
                if attempt == 0:
                    wait_until(lambda: '"begun"' in open(around.name("received", "log")).read(), "the next hop does not begin")
                elif attempt == 2:
                    for _ in to if "lmtp" in place else [None]:
                        wire.expect("250")
        # The work of the first attempts has ended.
        wait_until(lambda: around.service.metric("smime_messages_in_flight") == 0, "an attempt stays in flight")
        taken = sorted(address for entry in arrived(around, f"impatient-{place}") for address in entry["recipients"])
        check(taken == sorted(to), f"{place}: {taken} have it")
    check(around.service.metric("smime_unconfirmed_total") > unconfirmed, "nothing is counted as unconfirmed")
    step("a client that ends before it reads the reply, and tries again: the mail goes out once; one that has read it may send the same again")
    for name, says in (("unread", None), ("read", "QUIT")):
        for attempt in range(2):
            accepted = around.service.metric("smime_messages_total")
            with Wire(around) as wire:
                wire.say("XFORWARD NAME=c.test IDENT=UNREAD" + name, "250")
                wire.begin("x@plain.test")
                wire.send(message(name, "x@plain.test", "x") + b".\r\n")
                wait_until(lambda: around.service.metric("smime_messages_total") > accepted, "it is not counted")
                if says:
                    wire.expect("250")
                    wire.say(says, "221")
            # Messages whose replies were not read have been recorded by now.
            time.sleep(0.5)
        check(len(arrived(around, name)) == (2 if says else 1), f"{name}: {len(arrived(around, name))} times")
    step("a mail server that ends before it acts on a milter's verdict, and is given the message again: the copy goes out once")
    for name, says in (("unread-milter", None), ("read-milter", b"A")):
        for _ in range(2):
            wire = MilterWire(around, "out.milter")
            wire.bring("UNREAD", "alice@example.com", ["bob@example.com", "eve@example.net"], message(name, "bob@example.com, eve@example.net", "x"))
            if says:
                wire.send(says)
            wire.socket.close()
            time.sleep(0.5)
        check(len(arrived(around, name)) == (2 if says else 1), f"{name}: {len(arrived(around, name))} times")


def tell(worker, number):
    """Sends a signal to a worker, which may just have ended."""
    try:
        os.kill(worker, number)
    except ProcessLookupError:
        pass


def workers(around):
    present = around.service.workers()
    if len(present) > 1:
        step("a worker that hangs while it is idle: the others go on")
        for worker in present:
            os.kill(worker, signal.SIGSTOP)
            try:
                # Until the next check finds the worker, it may still get a message.
                time.sleep(7)
                for number in range(5):
                    is_well(around, f"beside-hanging{worker}-{number}")
                check(around.service.is_ready(), "the service is not ready with one worker that hangs")
            finally:
                os.kill(worker, signal.SIGCONT)
            time.sleep(1)
    step("a worker that is killed while it handles a message: another one handles it")
    wait_until(lambda: len(around.service.workers()) >= min(2, os.cpu_count()), "there are no workers")
    for attempt in range(40):
        present = around.service.workers()
        for worker in present:
            tell(worker, signal.SIGSTOP)
        with Wire(around) as wire:
            wire.begin("x@plain.test")
            wire.send(message(f"interrupted{attempt}", "x@plain.test", "x") + b".\r\n")
            time.sleep(0.2)
            # Which of them has the message is not known.
            tell(random.choice(present), signal.SIGKILL)
            for worker in present:
                tell(worker, signal.SIGCONT)
            wire.expect("250")
        check(len(arrived(around, f"interrupted{attempt}")) == 1, "it did not come once")
        if "another one got the message" in around.service.log():
            break
        wait_until(lambda: len(around.service.workers()) >= len(present), "no new worker comes")
    logs(around, "another one got the message")
    wait_until(around.service.is_ready, "the service is not ready again")


def idle(around):
    step("1,000 idle connections")
    before = around.service.use()
    wires = [Wire(around, hello=None, timeout=120) for _ in range(1000)]
    for wire in wires:
        wire.expect("220")
    is_well(around, "beside-idle")
    during = around.service.use()
    for wire in wires:
        wire.socket.close()
    wait_until(lambda: around.service.use()["service_fds"] <= before["service_fds"] + 5, "descriptors stay open")
    step(f"service: {before['service_mb']:.1f} MB before, {during['service_mb']:.1f} MB with them")
    check(during["service_mb"] - before["service_mb"] < 64, "they cost more than 64 KiB each")


def gone(around):
    step("messages of which half comes, clients that do not wait for the reply")
    for _ in range(100):
        with Wire(around) as wire:
            wire.begin("x@plain.test")
            wire.send(message("half", "x@plain.test", "x" * 500) * random.choice([1, 400]))
    for number in range(50):
        with Wire(around) as wire:
            wire.begin("x@plain.test")
            wire.send(message(f"unheard{number}", "x@plain.test", "x") + b".\r\n")
    # These are gone while the service writes its first replies.
    for _ in range(100):
        with socket.create_connection(("127.0.0.1", around.port["serve_out"])) as client:
            client.sendall(b"EHLO x\r\nMAIL FROM:<a@x.test>\r\nRCPT TO:<x@plain.test>\r\nDATA\r\n")
    wait_until(lambda: around.service.metric("smime_messages_in_flight") == 0, "half messages stay in flight")
    check(not arrived(around, "half"), "half a message went")
    is_well(around, "after-gone")


def full(around):
    step("slow clients have all places: the others wait, and get one when it is free")
    places = 8 * os.cpu_count()
    slow = []
    for number in range(places):
        wire = Wire(around)
        wire.begin("x@plain.test")
        wire.send(message(f"slow{number}", "x@plain.test", "x")[:100])
        slow.append(wire)
    with Wire(around) as wire:
        wire.begin("x@plain.test", data=False)
        wire.send(b"DATA\r\n")
        time.sleep(0.5)
        check(around.service.metric("smime_messages_in_flight") == places, "other messages in flight than places")
        slow[0].send(message("slow0", "x@plain.test", "x")[100:] + b".\r\n")
        slow[0].expect("250")
        wire.expect("354")
        wire.send(message("waited", "x@plain.test", "x") + b".\r\n")
        wire.expect("250")
    check(len(arrived(around, "waited")) == 1, "the one that waited did not come")
    for wire in slow:
        wire.socket.close()
    is_well(around, "after-full")


def memory(around):
    step("messages of 90 MB, four at a time, with 4 places")
    around.service = Service(around, "--max-messages", "4", hops="sink").start()
    for _ in range(4):
        is_well(around, "warm")
        os.truncate(around.name("received", "log"), 0)
    before = around.service.use()
    highest = dict(before)
    block = (b"y" * 76 + b"\r\n") * 13_500
    failures = []

    def bring(number):
        try:
            to = "x@eve.test" if number % 2 else "bob@example.com"
            with Wire(around, timeout=600) as wire:
                wire.begin(to)
                wire.send(message(f"huge{number}", to, "x"))
                for _ in range(90):
                    wire.send(block)
                wire.send(b".\r\n")
                wire.expect("250")
        except Exception as failure:
            failures.append(failure)

    threads = [threading.Thread(target=bring, args=(number,), daemon=True) for number in range(4)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        now = around.service.use()
        highest = {key: max(value, now.get(key, 0)) for key, value in highest.items()}
        time.sleep(0.1)
    check(not failures, f"{failures}")
    check(len(around.received()) == 4, "not all came")
    growth = highest["service_mb"] - before["service_mb"]
    each = highest["workers_mb"] / max(highest["workers"], 1)
    step(f"service: {before['service_mb']:.1f} MB, at most {highest['service_mb']:.1f}; workers: {before['worker_mb']:.1f} MB, at most {each:.1f} each")
    check(growth <= 4 + 8, f"the service grew by {growth:.1f} MB for 4 messages")
    # A worker that has not handled a message yet is smaller, so the comparison is with the largest one.
    check(each - before["worker_mb"] <= 8, "the workers hold messages in memory")
    with Wire(around) as wire:
        wire.begin("x@eve.test")
        try:
            wire.send(message("too-large", "x@eve.test", "x"))
            for _ in range(105):
                wire.send(block)
            wire.send(b".\r\n")
        except OSError:
            pass
        wire.expect("552")
    is_well(around, "after-memory")
    around.service.stop()


def envelopes(around):
    step("many clients with very many recipients: the memory for them is limited")
    around.service = Service(around, "--max-messages", "4", hops="sink").start()
    is_well(around, "before-envelopes")
    before = around.service.use()["service_mb"]
    domain = ".".join(["d" * 60] * 3)
    wires, refused = [], 0
    for number in range(12):
        wire = Wire(around)
        wires.append(wire)
        wire.say("MAIL FROM:<a@x.test>", "250")
        for start in range(0, 9000, 100):
            wire.send(b"".join(f"RCPT TO:<r{start + n}@{domain}>\r\n".encode() for n in range(100)))
            refused += sum(wire.reply().startswith("452") for _ in range(100))
    is_well(around, "beside-envelopes")
    growth = around.service.use()["service_mb"] - before
    step(f"the service grew by {growth:.1f} MB, and refused {refused} of {12 * 9000} recipients")
    check(refused > 0 and growth < 32, "the memory for envelopes is not limited")
    for wire in wires:
        wire.socket.close()
    wait_until(lambda: around.service.metric("smime_connections") == 0, "connections stay")
    with Wire(around) as wire:
        wire.begin(*[f"r{n}@{domain}" for n in range(200)])
        wire.send(message("after-envelopes", "x@plain.test", "x") + b".\r\n")
        wire.expect("250")
    check(around.service.stop() == 0, "SIGTERM does not end it with 0")


def strangers(around):
    step("other addresses than loopback: refused without --allow, and then for whom it says so")
    port = around.port["spare"]
    refused = Service(around, "--listen", f"outgoing=smtp:0.0.0.0:{port}")
    result = around.run(["setpriv", "--reuid", "nobody", "--regid", "postfix", "--clear-groups", *refused.words], expect=(64,))
    check(b"--allow" in result.stderr, f"{result.stderr}")
    own = subprocess.run(["hostname", "-I"], stdout=subprocess.PIPE).stdout.decode().split()
    around.service = Service(around, "--listen", f"outgoing=smtp:0.0.0.0:{port}", "--allow", "198.51.100.0/24", hops="sink").start()
    with socket.create_connection(("127.0.0.1", port), 30) as client:
        check(client.recv(3) == b"220", "loopback is refused")
    for address in own[:1]:
        with socket.create_connection((address, port), 30) as client:
            said = client.recv(100)
            check(not said.startswith(b"220"), f"{address} is let in: {said}")
    around.service.stop()
    step("a store that is not there: 78")
    missing = Service(around, hops="sink")
    missing.words[missing.words.index("--home") + 1] = around.name("run", "none")
    around.run(["setpriv", "--reuid", "nobody", "--regid", "postfix", "--clear-groups", *missing.words], expect=(78,))


def stopping(around):
    step("SIGTERM: 250 for what ends within the grace, 421 for the rest, and nothing is half there")
    around.service = Service(around, "--grace", "6", hops="sink").start()
    idle_wire, ending, hanging = Wire(around), Wire(around), Wire(around)
    envelope = Wire(around)
    envelope.begin("x@plain.test", data=False)
    for wire, name in ((ending, "ending"), (hanging, "hanging")):
        wire.begin("x@plain.test")
        wire.send(message(name, "x@plain.test", "x")[:-2])
    around.service.process.send_signal(signal.SIGTERM)
    idle_wire.expect("421")
    check(idle_wire.reply() == "", "the idle connection stays")
    ending.send(b"\r\n.\r\n")
    ending.expect("250")
    check(len(arrived(around, "ending")) == 1, "it did not come")
    replies = envelope.rest()
    check(replies and replies[0].startswith("421"), f"{replies}")
    try:
        Wire(around).socket.close()
        check(False, "it still listens")
    except OSError:
        pass
    replies = hanging.rest()
    check(not replies or replies[0].startswith("421"), f"{replies}")
    check(around.service.process.wait(60) == 0, f"status {around.service.process.returncode}")
    check(not arrived(around, "hanging"), "it came")
    check("messages were still in flight after 6 s" in around.service.log(), around.service.log()[-1000:])
    check(not os.path.exists(around.name("run", "out.lmtp")), "the socket stays")
    step(f"the one that did not end heard {replies}")
    step("a client that does not read its replies is no message in flight")
    around.service = Service(around, "--grace", "2", hops="sink").start()
    with Wire(around, "out.lmtp", hello="LHLO c.test", timeout=5) as wire:
        try:
            wire.send(b"MAIL FROM:<alice@example.com>\r\n" + b"".join(b"RCPT TO:<x%d@plain.test>\r\n" % number for number in range(9_000)))
        except TimeoutError:
            pass
        time.sleep(1)
        check(around.service.stop() == 0, "SIGTERM does not end it with 0")
        check("connections were still open after 2 s, but no message was in flight" in around.service.log(), around.service.log()[-1000:])
    step("starting anew over a socket that a killed service left; a second service on it does not start")
    around.service = Service(around, hops="sink").start()
    around.service.kill()
    check(os.path.exists(around.name("run", "out.lmtp")), "no socket was left")
    around.service.start()
    other = around.run(["setpriv", "--reuid", "nobody", "--regid", "postfix", "--clear-groups", *around.service.words], expect=(73,))
    check(b"cannot listen" in other.stderr, f"{other.stderr}")
    is_well(around, "after-all")
    workers = around.service.workers()
    around.service.kill()
    wait_until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in workers), "workers outlive their service")
