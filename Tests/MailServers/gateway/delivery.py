"""Both roles over LMTP and SMTP behind a real Postfix: the results for recipients and senders, and the log."""

import base64
import email
import os
import re
import smtplib
import socket

from surroundings import Postfix, Service, check, message, send, step, wait_until

MIXED = ["bob@example.com", "eve@example.net", "p384@example.com"]


def run(around):
    around.start_sink()
    around.postfix = Postfix(around)
    around.service = Service(around).start()
    sizes(around)
    for port in ("out_lmtp", "out_smtp"):
        mixed(around, port)
    exact(around)
    parameters(around)
    bounces(around)
    for port in ("in_smtp", "in_lmtp"):
        incoming(around, port)
    changes(around)
    large(around)
    direct(around)
    store_away(around)
    check(around.service.stop() == 0, "SIGTERM does not end it with 0")


def sizes(around):
    step("what the listeners offer")
    for port, hello in (("serve_out", b"EHLO me\r\n"), ("serve_in", b"EHLO me\r\n")):
        with socket.create_connection(("127.0.0.1", around.port[port]), 30) as client:
            client.sendall(hello)
            text = wait_until(lambda: client.recv(65536), "no reply")
            while b"\r\n250 " not in text:
                text += client.recv(65536)
            for offer in (b"PIPELINING", b"SIZE 104857600", b"8BITMIME", b"SMTPUTF8", b"DSN", b"ENHANCEDSTATUSCODES", b"CHUNKING", b"XFORWARD"):
                check(offer in text, f"{port} does not offer {offer}")
    for name in ("out.lmtp", "in.lmtp", "out.milter", "in.milter"):
        mode = os.stat(around.name("run", name)).st_mode & 0o777
        check(mode == 0o660, f"{name} has mode {mode:o}")


def verify(around, found, text):
    """Checks with openssl that the signature over these bytes is valid, and that they contain `text`."""
    path = around.name("got")
    open(path, "wb").write(around.content(found))
    result = around.run(
        ["openssl", "cms", "-verify", "-in", path, "-CAfile", f"{around.certs}/ca/root.pem", "-purpose", "any", "-no_check_time"], expect=(0, 4)
    )
    check(result.returncode == 0, f"openssl: {result.stderr.decode()}")
    check(text in result.stdout, f"what is signed is something else: {result.stdout[-300:]!r}")
    return result.stdout


def decrypt(around, found, text):
    path = around.name("got")
    open(path, "wb").write(around.content(found))
    check(text not in around.content(found), "it is in clear")
    result = around.reader("decrypt", path, "-o", around.name("read"))
    check(text in open(around.name("read"), "rb").read(), "what is read is something else")
    check(b"Valid: signed by alice@example.com" in result.stderr, f"no valid signature: {result.stderr}")


def mixed(around, port):
    step(f"{port}: several forms for several recipients, one of them blind")
    text = b"Meet me at eight, " + port.encode()
    send(around.port[port], "alice@example.com", MIXED, message(f"mixed-{port}", "bob@example.com, eve@example.net", text.decode()))
    around.wait_for(f"<mixed-{port}@test>", count=3)
    forms = {address: around.wait_for(f"<mixed-{port}@test>", address)[0] for address in MIXED}
    check(len({form["taken"] for form in forms.values()}) == 3, "the blind copy is not apart")
    decrypt(around, forms["bob@example.com"], text)
    verify(around, forms["eve@example.net"], text)
    with open(around.name("blind"), "wb") as file:
        file.write(around.content(forms["p384@example.com"]))
    around.run(
        ["openssl", "cms", "-decrypt", "-in", file.name, "-recip", f"{around.certs}/bob/cert.pem", "-inkey", f"{around.certs}/bob/key.pem"],
        expect=(2, 3, 4),
    )
    # The log shows which mail was sent to whom, why, with which certificate, and when.
    queue = re.search(rf"cleanup\[\d+\]: (\w+): message-id=<mixed-{port}@test>", around.postfix.log())
    check(queue, "no queue id in Postfix's log")
    line = next((line for line in around.service.log().splitlines() if f"queue_id={queue[1]}" in line), None)
    check(line, f"no line with queue_id={queue[1]}: {around.service.log()[-600:]}")
    for word in ("direction=outgoing", "sender=alice@example.com", "bob@example.com", "eve@example.net", "status=accepted", "next_queue_id=", 'next_hop_reply="250 2.0.0 Ok: '):
        check(word in line, f"no {word} in {line}")


def exact(around):
    step("bytes as they came: 8-bit, dots, empty lines, spaces at line ends, long lines")
    body = b".\r\n..\r\n...a\r\n\r\nFrom here on\r\ngr\xfc\xdfe  \r\n\ttab\t\r\n" + b"x" * 900 + b"\r\n" + b".y" * 4000 + b"\r\n\r\n\r\n"
    fields = ["MIME-Version: 1.0", "Content-Type: text/plain; charset=latin1", "Content-Transfer-Encoding: 8bit"]
    for port in ("out_lmtp", "out_smtp"):
        content = message(f"plain-{port}", "x@plain.test", "BODY", fields=fields).replace(b"BODY\r\n", body)
        send(around.port[port], "alice@example.com", ["x@plain.test"], content, mail=["BODY=8BITMIME"])
        found = around.wait_for(f"<plain-{port}@test>")[0]
        check(around.content(found).endswith(b"\r\n\r\n" + body), f"not the same bytes: {around.content(found)[-300:]!r}")
        check("8BITMIME" in found["mail"], f"no BODY=8BITMIME: {found['mail']}")
        content = content.replace(b"<plain-", b"<signed-")
        send(around.port[port], "alice@example.com", ["x@eve.test"], content, mail=["BODY=8BITMIME"])
        signed = email.message_from_bytes(verify(around, around.wait_for(f"<signed-{port}@test>")[0], b"here on"))
        check(signed.get_payload(decode=True) == body, f"not the same bytes signed: {signed.get_payload(decode=True)[:300]!r}")


def parameters(around):
    step("DSN, SMTPUTF8, 8BITMIME, and the null sender")
    for port in ("out_lmtp", "out_smtp", "in_smtp", "in_lmtp"):
        content = message(f"dsn-{port}", "x@plain.test", "Hello.")
        mail, rcpt = ["RET=HDRS", "ENVID=QQ314159"], ["NOTIFY=SUCCESS,FAILURE", "ORCPT=rfc822;other@plain.test"]
        send(around.port[port], "alice@example.com", ["x@plain.test"], content, mail, rcpt)
        found = around.wait_for(f"<dsn-{port}@test>")[0]
        check("RET=HDRS" in found["mail"] and "ENVID=QQ314159" in found["mail"], f"{port}: {found['mail']}")
        given = found["rcpt"]["x@plain.test"]
        check("NOTIFY=SUCCESS,FAILURE" in given and "ORCPT=rfc822;other@plain.test" in given, f"{port}: {given}")
        content = message(f"utf8-{port}", "grün@plain.test", "Grüße", fields=["Content-Type: text/plain; charset=utf-8"])
        send(around.port[port], "alice@example.com", ["x@plain.test"], content, ["SMTPUTF8", "BODY=8BITMIME"])
        found = around.wait_for(f"<utf8-{port}@test>")[0]
        check("SMTPUTF8" in found["mail"], f"{port}: no SMTPUTF8: {found['mail']}")
        check("Grüße".encode() in around.content(found), f"{port}: other bytes")
        send(around.port[port], "", ["x@plain.test"], message(f"null-{port}", "x@plain.test", "Hello.", "MAILER-DAEMON@gw.test"))
        check(around.wait_for(f"<null-{port}@test>")[0]["sender"] == "", f"{port}: another sender")


def bounces(around):
    step("a bounce that says who has no certificate, and all recipients or none")
    for port in ("out_lmtp", "out_smtp"):
        to = ["bob@example.com", "x@must.test", "y@must.test"]
        send(around.port[port], "alice@example.com", to, message(f"none-{port}", ", ".join(to), f"A secret {port}."))
        for address in ("x@must.test", "y@must.test"):
            around.wait_for(f"no usable certificate for {address}")
        found = around.wait_for(f"<none-{port}@test>")
        for one in found:
            check(one["sender"] == "", f"{port}: {one['recipients']} have it")
        check(b"5." in around.content(found[0]) and b"Diagnostic-Code" in around.content(found[0]), "no status code")
    step("a form that the mail server refuses behind the gateway is refused for all, and none has it")
    with smtplib.SMTP("127.0.0.1", around.port["serve_out"], local_hostname="c.test") as client:
        client.ehlo()
        client.mail("alice@example.com")
        client.rcpt("bob@example.com")
        client.rcpt("x@must.test")
        code, text = client.data(message("refused", "bob@example.com", "Secret."))
        check(code in (550, 554) and re.match(rb"5\.\d+\.\d+ ", text), f"{code} {text}")


def store_away(around):
    step("a store that is away, and comes again")
    store, away = around.name("store", "data"), around.name("store", "away")
    os.rename(store, away)
    send(around.port["out_lmtp"], "alice@example.com", ["bob@example.com"], message("waiting", "bob@example.com", "Patience."))
    wait_until(lambda: re.search(r"said: 451 4\.\d\.\d", around.postfix.log()), "no 451", 30)
    check(not around.having("<waiting@test>"), "it went without the store")
    os.rename(away, store)
    # Postfix waits 300 s if it finds the message while the delivery agent still holds it ("skipped, still being delivered").
    found = around.wait_for("<waiting@test>", seconds=420)
    decrypt(around, found[0], b"Patience.")
    check(len(found) == 1, "it came twice")
    wait_until(lambda: around.service.get("readyz")[0] == 200, "it does not get ready again")


def incoming(around, port):
    step(f"{port}: the gateway's verdicts, and no others; decrypted where a rule says so")
    name = around.name("signed.eml")
    open(name, "wb").write(message(f"good-{port}", "alice@example.com", "Written by bob.", "bob@example.com"))
    around.reader("sign", name, "-o", around.name("signed2.eml"))
    signed = open(around.name("signed2.eml"), "rb").read().replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
    forged = b"Authentication-Results: GW.Test (really);\r\n smime=pass forged\r\nX-SMIME-Verdict: good\r\n"
    send(around.port[port], "bob@example.com", ["carol@example.com"], forged + signed)
    found = around.content(around.wait_for(f"<good-{port}@test>")[0])
    check(b"Authentication-Results: gw.test; smime=pass" in found, f"no verdict: {found[:600]!r}")
    check(b"forged" not in found and b"X-SMIME-Verdict" not in found, "a forged verdict")
    check(found.endswith(signed.split(b"\r\n\r\n", 1)[1]), "the body has changed")
    send(around.port[port], "bob@example.com", ["carol@example.com"], signed.replace(b"by bob", b"by eve").replace(b"<good-", b"<changed-"))
    check(b"smime=fail" in around.content(around.wait_for(f"<changed-{port}@test>")[0]), "a changed message passes")
    around.gateway("policy", "set", "--recipient", "alice@example.com", "--decrypt-at-gateway", "yes")
    around.reader("encrypt", name, "--sign", "-o", around.name("secret.eml"))
    secret = open(around.name("secret.eml"), "rb").read().replace(b"\r\n", b"\n").replace(b"\n", b"\r\n").replace(b"<good-", b"<secret-")
    # A recipient whose mail is decrypted, and one whose mail is not.
    send(around.port[port], "bob@example.com", ["alice@example.com", "carol@example.com"], secret)
    open_form = around.content(around.wait_for(f"<secret-{port}@test>", "alice@example.com")[0])
    check(b"Written by bob" in open_form and b"X-SMIME-Decrypted: gw.test" in open_form, f"not decrypted: {open_form[:800]!r}")
    closed = around.content(around.wait_for(f"<secret-{port}@test>", "carol@example.com")[0])
    check(b"Written by bob" not in closed, "decrypted for another recipient")


def changes(around):
    step("a change on another terminal counts for the next message; SIGHUP")
    text = b"Who may read it?"
    send(around.port["out_lmtp"], "alice@example.com", ["bob@example.com"], message("before", "bob@example.com", text.decode()))
    decrypt(around, around.wait_for("<before@test>")[0], text)
    around.gateway("recipient", "distrust", "bob@example.com")
    send(around.port["out_lmtp"], "alice@example.com", ["bob@example.com"], message("distrusted", "bob@example.com", text.decode()))
    verify(around, around.wait_for("<distrusted@test>")[0], text)
    fingerprint = around.run(["openssl", "x509", "-in", f"{around.certs}/bob/cert.pem", "-noout", "-fingerprint", "-sha256"]).stdout
    fingerprint = fingerprint.decode().strip().split("=")[1].replace(":", "").lower()
    around.gateway("recipient", "trust", "bob@example.com", "--fingerprint", fingerprint)
    send(around.port["out_lmtp"], "alice@example.com", ["bob@example.com"], message("trusted", "bob@example.com", text.decode()))
    decrypt(around, around.wait_for("<trusted@test>")[0], text)
    around.gateway("policy", "set", "--recipient", "bob@example.com", "--encrypt", "never")
    send(around.port["out_lmtp"], "alice@example.com", ["bob@example.com"], message("ruled", "bob@example.com", text.decode()))
    verify(around, around.wait_for("<ruled@test>")[0], text)
    around.gateway("policy", "set", "--recipient", "bob@example.com", "--encrypt", "available")
    old = set(around.service.workers())
    around.service.process.send_signal(1)
    wait_until(lambda: (now := set(around.service.workers())) and not now & old, "SIGHUP renews no worker")
    send(around.port["out_lmtp"], "alice@example.com", ["bob@example.com"], message("again", "bob@example.com", text.decode()))
    decrypt(around, around.wait_for("<again@test>")[0], text)


def large(around):
    step("20 MB, signed and encrypted, and back")
    block = base64.encodebytes(os.urandom(15_000_000)).replace(b"\n", b"\r\n")
    fields = ["MIME-Version: 1.0", "Content-Type: application/octet-stream", "Content-Transfer-Encoding: base64"]
    content = message("large", "bob@example.com", "BODY", fields=fields).replace(b"BODY\r\n", block)
    for port in ("out_lmtp", "out_smtp"):
        send(around.port[port], "alice@example.com", ["bob@example.com", "eve@example.net"], content.replace(b"<large@", f"<large-{port}@".encode()))
        encrypted = around.wait_for(f"<large-{port}@test>", "bob@example.com", seconds=300)[0]
        decrypt(around, encrypted, block[-1000:])
        check(block in open(around.name("read"), "rb").read().replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"), "other bytes")
        verify(around, around.wait_for(f"<large-{port}@test>", "eve@example.net")[0], block)


def direct(around):
    step("a client of LMTP gets a reply for each recipient, all of one class")
    with smtplib.LMTP(around.name("run", "out.lmtp"), local_hostname="c.test") as client:
        client.ehlo("c.test")
        for recipients, wanted in ((MIXED, b"250"), (["bob@example.com", "x@must.test"], b"55")):
            check(client.mail("alice@example.com")[0] == 250, "MAIL")
            for recipient in recipients:
                check(client.rcpt(recipient)[0] == 250, "RCPT")
            client.putcmd("data")
            check(client.getreply()[0] == 354, "DATA")
            client.send(message("direct", ", ".join(recipients), "Hello.") + b".\r\n")
            replies = [client.getreply() for _ in recipients]
            for code, text in replies:
                check(str(code).encode().startswith(wanted), f"{code} {text}")
        check(client.docmd("MAIL", f"FROM:<alice@example.com> SIZE={200 << 20}")[0] == 552, "a size too large is taken")
        check(client.docmd("NOOP")[0] == 250, "it ends the connection")
