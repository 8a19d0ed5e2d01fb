"""Both roles as a milter of a real Postfix, and commands that only broken mail servers send."""

import shutil
import smtplib
import socket
import struct
import threading
import time

from delivery import decrypt, verify
from surroundings import Postfix, Service, check, message, send, step, wait_until


def run(around):
    around.start_sink()
    around.postfix = Postfix(around)
    around.service = Service(around).start()
    outgoing(around)
    again(around)
    at_once(around)
    incoming(around)
    refusals(around)
    large(around)
    if shutil.which("miltertest"):
        scripted(around)
    else:
        step("miltertest is not installed: its scripts (incoming, refused, aborted) are skipped")
    unable(around)
    abused(around)
    check(around.service.stop() == 0, "SIGTERM does not end it with 0")


def outgoing(around):
    step("in place for all, and copies where the forms differ")
    text = b"Meet me at nine."
    send(around.port["out_milter"], "alice@example.com", ["bob@example.com"], message("one", "bob@example.com", text.decode()))
    found = around.wait_for("<one@test>")
    check(len(found) == 1, "it came twice")
    decrypt(around, found[0], text)
    to = ["bob@example.com", "eve@example.net", "p384@example.com", "x@plain.test"]
    send(around.port["out_milter"], "alice@example.com", to, message("four", "bob@example.com, eve@example.net", text.decode()))
    around.wait_for("<four@test>", count=4)
    forms = {address: around.wait_for("<four@test>", address) for address in to}
    for address, entries in forms.items():
        check(len(entries) == 1 and entries[0]["recipients"] == [address], f"{address}: {entries}")
    decrypt(around, forms["bob@example.com"][0], text)
    verify(around, forms["eve@example.net"][0], text)
    check(around.content(forms["x@plain.test"][0]).endswith(b"\r\n\r\n" + text + b"\r\n"), "the plain form is another")
    check(text not in around.content(forms["p384@example.com"][0]), "in clear")
    step("bytes as they came, fields of every shape, and the parameters of the envelope")
    body = b".\r\n..\r\n\r\nFrom here on\r\ngr\xfc\xdfe  \r\n\ttab\t\r\n" + b"x" * 900 + b"\r\n" + b".y" * 4000 + b"\r\n\r\n\r\n"
    fields = ["X-Folded: one\r\n\ttwo\r\n  three ", "X-Empty:", "X-Close:near", "x-twice: 1", "X-Twice: 2", "MIME-Version: 1.0",
              "Content-Type: text/plain; charset=latin1", "Content-Transfer-Encoding: 8bit"]  # fmt: skip
    content = message("exact", "x@plain.test", "BODY", fields=fields).replace(b"BODY\r\n", body)
    send(around.port["out_milter"], "alice@example.com", ["x@plain.test"], content, ["BODY=8BITMIME", "RET=HDRS", "ENVID=QQ1"], ["NOTIFY=NEVER"])
    found = around.wait_for("<exact@test>")[0]
    check(around.content(found).endswith(b"\r\n\r\n" + body), "not the same bytes")
    for field in fields:
        check(field.encode() + b"\r\n" in around.content(found), f"{field!r} has changed: {around.content(found)[:900]!r}")
    check("RET=HDRS" in found["mail"] and "NOTIFY=NEVER" in found["rcpt"]["x@plain.test"], f"{found}")
    send(around.port["out_milter"], "alice@example.com", ["x@eve.test"], content.replace(b"<exact@", b"<exact2@"))
    verify(around, around.wait_for("<exact2@test>")[0], b"here on")


def again(around):
    step("the same message again, with a Message-ID and without one: copies for all, each time")
    to = ["bob@example.com", "eve@example.net", "x@plain.test"]
    content = message("again", "bob@example.com, eve@example.net", "Meet me again.", fields=["X-Mark: <again@test>"])
    nameless = content.split(b"\r\n", 1)[1].replace(b"<again@", b"<nameless@")
    for mark, content in (("<again@test>", content), ("<nameless@test>", nameless)):
        for times in (1, 2):
            send(around.port["out_milter"], "alice@example.com", to, content)
            for address in to:
                around.wait_for(mark, address, count=times)
            # The journal removes the message just after the reply.
            time.sleep(2)
        for address in to:
            check(len(around.having(mark, address)) == 2, f"{mark} to {address} came {len(around.having(mark, address))} times")


def at_once(around):
    step("the same message several times at once: copies for all, each time")
    to = ["bob@example.com", "eve@example.net", "x@plain.test"]
    content = message("at-once", "bob@example.com, eve@example.net", "Meet me at once.")
    failures = []

    def bring():
        try:
            send(around.port["out_milter"], "alice@example.com", to, content)
        except (OSError, smtplib.SMTPException) as failure:
            failures.append(failure)

    threads = [threading.Thread(target=bring) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    check(not failures, f"{failures}")
    for address in to:
        around.wait_for("<at-once@test>", address, count=8)
    time.sleep(1)
    for address in to:
        check(len(around.having("<at-once@test>", address)) == 8, f"{address}: {len(around.having('<at-once@test>', address))} times")


def incoming(around):
    step("incoming: the gateway's verdicts, and no others; decrypted where a rule says so")
    name = around.name("signed.eml")
    with open(name, "wb") as file:
        file.write(message("good", "alice@example.com", "Written by bob.", "bob@example.com"))
    around.reader("sign", name, "-o", around.name("signed2.eml"))
    signed = open(around.name("signed2.eml"), "rb").read().replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
    forged = b"Authentication-Results: GW.Test (really);\r\n smime=pass forged\r\nX-SMIME-Verdict: good\r\nAuthentication-Results: other.test; spf=pass\r\n"
    forged += b"authentication-results:gw.test;smime=pass forged\r\n" * 5
    send(around.port["in_milter"], "bob@example.com", ["carol@example.com", "dana@example.com"], forged + signed)
    found = around.wait_for("<good@test>")
    content = around.content(found[0])
    check(found[0]["recipients"] == ["carol@example.com", "dana@example.com"], "it is not one message")
    check(content.count(b"smime=pass") == 1 and b"forged" not in content and b"X-SMIME-Verdict" not in content, f"{content[:900]!r}")
    check(b"other.test; spf=pass" in content, "another's field is gone")
    check(content.endswith(signed.split(b"\r\n\r\n", 1)[1]), "the body has changed")
    send(around.port["in_milter"], "bob@example.com", ["carol@example.com"], signed.replace(b"by bob", b"by eve").replace(b"<good@", b"<changed@"))
    check(b"smime=fail" in around.content(around.wait_for("<changed@test>")[0]), "a changed message passes")
    around.gateway("policy", "set", "--recipient", "alice@example.com", "--decrypt-at-gateway", "yes")
    around.reader("encrypt", name, "--sign", "-o", around.name("secret.eml"))
    secret = open(around.name("secret.eml"), "rb").read().replace(b"\r\n", b"\n").replace(b"\n", b"\r\n").replace(b"<good@", b"<secret@")
    send(around.port["in_milter"], "bob@example.com", ["alice@example.com", "carol@example.com"], secret)
    around.wait_for("<secret@test>", "carol@example.com")
    opened = around.wait_for("<secret@test>", "alice@example.com")
    check(len(opened) == 1 and b"Written by bob" in around.content(opened[0]), "not decrypted")
    check(b"Written by bob" not in around.content(around.wait_for("<secret@test>", "carol@example.com")[0]), "decrypted for another recipient")


def refusals(around):
    step("a refusal with its sentence, and the next message of the connection")
    with smtplib.SMTP("127.0.0.1", around.port["out_milter"], local_hostname="c.test", timeout=120) as client:
        client.ehlo()
        for round_ in range(3):
            client.mail("alice@example.com")
            client.rcpt("bob@example.com")
            client.rcpt("x@must.test")
            code, text = client.data(message(f"refused{round_}", "bob@example.com", "Secret."))
            check(code in (550, 554) and b"no usable certificate for x@must.test" in text, f"{code} {text}")
            client.mail("alice@example.com")
            client.rcpt("bob@example.com")
            check(client.data(message(f"next{round_}", "bob@example.com", "Secret."))[0] == 250, "the next message")
            around.wait_for(f"<next{round_}@test>")
            client.mail("alice@example.com")
            client.rcpt("bob@example.com")
            client.rset()
    check(not around.having("<refused"), "a refused message came")


def large(around):
    step("10 MB in place")
    line = b"x" * 76 + b"\r\n"
    content = message("large", "bob@example.com", "BODY").replace(b"BODY\r\n", line * 130_000)
    send(around.port["out_milter"], "alice@example.com", ["bob@example.com", "x@plain.test"], content)
    decrypt(around, around.wait_for("<large@test>", "bob@example.com")[0], line.strip())
    check(around.content(around.wait_for("<large@test>", "x@plain.test")[0]).endswith(line * 130_000), "other bytes")


LUA = """
conn = mt.connect("SOCKET", 40, 0.05)
if conn == nil then error "connect" end
if mt.conninfo(conn, "localhost", "127.0.0.1") ~= nil then error "conninfo" end
mt.macro(conn, SMFIC_MAIL, "i", "TESTID1")
if mt.mailfrom(conn, "<alice@example.com>") ~= nil then error "mailfrom" end
if mt.rcptto(conn, "<RCPT>") ~= nil then error "rcptto" end
mt.header(conn, "From", "alice@example.com")
mt.header(conn, "To", "RCPT")
mt.header(conn, "Subject", "hello")
mt.header(conn, "Message-ID", "<lua@test>")
if mt.eoh(conn) ~= nil then error "eoh" end
if mt.bodystring(conn, "A text.\\r\\n") ~= nil then error "body" end
if mt.eom(conn) ~= nil then error "eom" end
CHECK
mt.disconnect(conn)
"""


def scripted(around):
    # Its buffer for answers has only 1,024 bytes, so no body is changed here.
    step("miltertest: incoming, refused, and aborted")
    wanted = {
        "x@eve.test": 'if mt.eom_check(conn, MT_BODYCHANGE) then error "another body" end\n'
        'if not mt.eom_check(conn, MT_HDRINSERT, "Authentication-Results") then error "no verdict" end\n'
        'if mt.getreply(conn) ~= SMFIR_ACCEPT and mt.getreply(conn) ~= SMFIR_CONTINUE then error "reply" end',
        "x@must.test": 'if mt.getreply(conn) ~= SMFIR_REPLYCODE then error "no refusal" end',
        "y@must.test": "mt.abort(conn)\nif mt.mailfrom(conn, '<alice@example.com>') ~= nil then error 'after abort' end",
    }
    for address, lines in wanted.items():
        path = around.name("run", "in.milter" if "verdict" in lines else "out.milter")
        text = LUA.replace("SOCKET", "unix:" + path).replace("RCPT", address).replace("CHECK", lines)
        if "abort" in lines:
            text = text.replace('if mt.eom(conn) ~= nil then error "eom" end\n', "")
        with open(around.name("test.lua"), "w") as file:
            file.write(text)
        around.run(["miltertest", "-s", file.name])


def unable(around):
    step("a mail server that lets its milter add fields, but not remove any: the log says so once, and names no next hop")
    client = socket.socket(socket.AF_UNIX)
    client.settimeout(60)
    client.connect(around.name("run", "in.milter"))
    client.sendall(packet(b"O", struct.pack(">III", 6, 1, 0x1FFFFF)) + packet(b"D", b"Cj\0mx.test\0") + packet(b"C", b"client\0U"))
    client.sendall(packet(b"M", b"<a@eve.test>\0") + packet(b"R", b"<unable@eve.test>\0"))
    for name, value in (b"From", b"a@eve.test"), (b"Message-ID", b"<unable@test>"), (b"Authentication-Results", b"gw.test; smime=pass"):
        client.sendall(packet(b"L", name + b"\0 " + value + b"\0"))
    client.sendall(packet(b"N", b"") + packet(b"B", b"Hello.\r\n") + packet(b"E", b""))
    lines = []

    def is_logged():
        lines[:] = [line for line in around.service.log().splitlines() if "message_id=<unable@test>" in line]
        return lines

    wait_until(is_logged, "no line in the log")
    client.close()
    check(lines[0].count("the mail server does not allow its milter the necessary changes") == 1, f"not once: {lines[0]}")
    check("next hop" not in lines[0] and "status=deferred" in lines[0], f"the next hop is blamed: {lines[0]}")


def abused(around):
    step("what only broken mail servers say to a milter")
    path = around.name("run", "out.milter")
    good = packet(b"O", struct.pack(">III", 6, 0x1FF, 0x1FFFFF))
    garbage = [
        good, b"\0" * 100, b"\xff" * 100, struct.pack(">I", 0), struct.pack(">I", 0x7FFFFFFF) + b"O", b"GET / HTTP/1.0\r\n\r\n", packet(b"O", b""),
        packet(b"O", b"\0\0\0\6"), packet(b"B", b"body first"), packet(b"E", b""), good + packet(b"?", b""), good + good, good + packet(b"M", b""),
        good + packet(b"M", b"<a@b>"), good + packet(b"M", b"no end"), good + packet(b"R", b"<a@b>\0"), good + packet(b"L", b"name\0"),
        good + packet(b"D", b"M"), good + packet(b"D", b"Mi\0"), good + packet(b"C", b"x\0" + b"9"), good + struct.pack(">I", 1 << 27) + b"B" * 4096,
        good + packet(b"M", b"<a@b>\0") * 1000, good + packet(b"A", b"") * 10000, good + packet(b"B", b"x" * 65535) * 100, good + packet(b"K", b"") * 1000,
    ]  # fmt: skip
    for bytes_ in garbage:
        for cut in (None, 1, 7):
            client = socket.socket(socket.AF_UNIX)
            client.settimeout(20)
            client.connect(path)
            try:
                for start in range(0, len(bytes_), cut or len(bytes_)) if len(bytes_) < 1000 else [None]:
                    client.sendall(bytes_ if start is None else bytes_[start : start + (cut or len(bytes_))])
                client.shutdown(socket.SHUT_WR)
                while client.recv(65536):
                    pass
            except TimeoutError:
                check(False, f"it neither answers nor closes: {bytes_[:40]!r}")
            except OSError:
                pass
            client.close()
    before = around.service.use()
    clients = []
    for _ in range(200):
        client = socket.socket(socket.AF_UNIX)
        client.connect(path)
        client.sendall(good + packet(b"M", b"<a@b>\0")[:7])
        clients.append(client)
    send(around.port["out_milter"], "alice@example.com", ["bob@example.com"], message("beside", "bob@example.com", "Hello."))
    around.wait_for("<beside@test>")
    for client in clients:
        client.close()
    wait_until(lambda: around.service.use()["service_fds"] <= before["service_fds"] + 5, "descriptors stay open")
    check(around.service.metric("smime_messages_in_flight") == 0, "a message stays in flight")


def packet(command, data):
    return struct.pack(">I", len(data) + 1) + command + data
