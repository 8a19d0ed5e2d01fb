"""Gateways start, wait for their database and their key, and notice changes by others."""

import os
import shutil
import signal
import smtplib
import time

from fleet import SECRET, step
from surroundings import check, message, wait_until


def start(fleet):
    first, *others = fleet.gateways
    for gateway in fleet.gateways:
        gateway.take_key()
    step("a gateway waits for its database, at the start and later")
    fleet.database.stop()
    first.start(waits=False)
    check("cannot be reached" in first.wait_ready(503), f"{first.ready()}")
    waits(first)
    filters(fleet, first, 75)
    fleet.database.start(0)
    first.wait_ready()
    filters(fleet, first, 0)
    pid = first.process.pid
    fleet.database.signal(signal.SIGSTOP)
    check("does not answer" in first.wait_ready(503), f"{first.ready()}")
    waits(first)
    fleet.database.signal(signal.SIGCONT)
    first.wait_ready()
    fleet.database.stop()
    check("the store" in first.wait_ready(503), f"{first.ready()}")
    waits(first)
    fleet.database.start(0)
    first.wait_ready()
    first.send("out", "S1", "alice@example.com", ["bob@example.com"], message("start1", "bob@example.com", SECRET))
    check(first.process.pid == pid and len(fleet.having("<start1@test>")) == 1, "it did not go on by itself")
    check("the store can be used again" in first.log(), "the log does not say that the store is there again")
    passphrases(fleet, others[0])
    keys(fleet, others[0])
    for gateway in others[1:]:
        gateway.start()
    words = open(f"/proc/{first.process.pid}/cmdline").read() + "".join(open(f"/proc/{pid}/cmdline").read() for pid in workers(first))
    check("postgresql:" not in words, "the store's name is in the arguments")


def workers(gateway):
    return [int(word) for word in open(f"/proc/{gateway.process.pid}/task/{gateway.process.pid}/children").read().split()]


def waits(gateway):
    """Checks that mail is deferred meanwhile."""
    for role, sender in (("out", "alice@example.com"), ("in", "eve@example.net")):
        try:
            gateway.send(role, "W1", sender, ["bob@example.com"], message("wait", "bob@example.com", SECRET, sender))
            check(False, "it was taken without a store")
        except smtplib.SMTPResponseException as error:
            check(error.smtp_code == 451, f"{error}")
        except smtplib.SMTPRecipientsRefused as error:
            check(all(code == 451 for code, _ in error.recipients.values()), f"{error}")


def filters(fleet, gateway, status):
    environment = {"SMIME_HOME": gateway.home, "SMIME_STORE": fleet.database.url()}
    words = ["filter", "outgoing", "--stdout", "--no-system-anchors", "--sender", "alice@example.com", "--", "bob@example.com"]
    result = fleet.run(words, environment, expect=(status,), input=message("filter", "bob@example.com", SECRET))
    check(SECRET.encode() not in result.stdout, "in clear")
    check((b"enveloped-data" in result.stdout.lower()) == (status == 0), f"{result.stdout[:300]}")


def keys(fleet, gateway):
    step("a gateway whose key cannot be read or is another one says so, and goes on when it has the right one")
    key = os.path.join(gateway.home, "key", "store.key")
    os.rename(key, key + ".away")
    gateway.start(waits=False)
    check("no private key can be used" in gateway.wait_ready(503), f"{gateway.ready()}")
    check("the key file is missing" in gateway.log(), gateway.log())
    shutil.copy(fleet.name("people", "bob", "key", "store.key"), key)
    wait_until(lambda: "not the key of this store" in gateway.ready()[1], f"another key is not noticed: {gateway.ready()}")
    try:
        gateway.send("out", "K1", "alice@example.com", ["bob@example.com"], message("key", "bob@example.com", SECRET))
        check(False, "it was taken without the key")
    except smtplib.SMTPResponseException as error:
        check(error.smtp_code == 451, f"{error}")
    before = gateway.log().count("private keys can be used again")
    os.replace(key + ".away", key)
    gateway.wait_ready()
    check(gateway.log().count("private keys can be used again") == before + 1, gateway.log()[-1000:])


def passphrases(fleet, gateway):
    step("the same with a wrong passphrase, which new workers read anew")
    home, given = fleet.name("people", "bob"), fleet.name("given")
    fleet.person("bob", "store", "protect", "passphrase", "--password-file", fleet.name("password"))
    with open(given, "w") as file:
        file.write("wrong\n")
    gateway.start("--password-file", given, home=home, waits=False)
    for _ in range(3):
        check("wrong passphrase" in gateway.wait_ready(503), f"{gateway.ready()}")
        time.sleep(2)
    shutil.copy(fleet.name("password"), given)
    gateway.process.send_signal(signal.SIGHUP)
    gateway.wait_ready()
    gateway.kill()
    fleet.person("bob", "store", "protect", "key-file", "--password-file", fleet.name("password"))


def one_store(fleet):
    step("what one host changes all others see with their next message; all hosts share the journal")
    fleet.admin("policy", "set", "--recipient", "now.test", "--sign", "never", "--encrypt", "never")
    for number, gateway in enumerate(fleet.gateways):
        content = message(f"now{number}", "x@now.test", SECRET)
        gateway.send("out", f"N{number}", "alice@example.com", ["x@now.test"], content)
        (entry,) = fleet.having(f"<now{number}@test>")
        check(b"multipart/signed" not in fleet.content(entry), "the new rule does not count")
    content = message("part", "bob@example.com", SECRET)
    for gateway in fleet.gateways * 2:
        try:
            gateway.send("out", "P1", "alice@example.com", ["bob@example.com", "later-content@plain.test", "eve@example.net"], content)
            check(False, "it was taken")
        except smtplib.SMTPDataError as error:
            check(error.smtp_code == 451, f"{error}")
    taken = sorted(address for entry in fleet.having("<part@test>") for address in entry["recipients"])
    check(taken == ["bob@example.com", "eve@example.net"], f"sent more than once: {taken}")
    step("a gateway can change no rule, setting or trust")
    environment = {"SMIME_HOME": fleet.gateways[0].home, "SMIME_STORE": fleet.database.url()}
    for words in (
        ["policy", "set", "--global", "--sign", "never"], ["config", "set", "filter.tags", "on"],
        ["recipient", "trust", "bob@example.com", "--fingerprint", "sha256:55bc33f5b778dce1871fabb5d257edbf3f058100f84f5ca4705ae095b77213ce"],
        ["import", f"{fleet.certs}/carol/carol.p12", "--password-file", fleet.name("password")], ["account", "remove", "alice@example.com", "--yes"],
    ):  # fmt: skip
        result = fleet.run(words, environment, expect=range(1, 128))
        check(b"permission denied" in result.stderr or b"row-level" in result.stderr, f"{words}: {result.stderr}")
    rekeys(fleet)
    rejects_later_form(fleet)


def rekeys(fleet):
    step("the store's key is changed while gateways work: they say so, mail waits, and the new key file is enough")
    fleet.admin("store", "rekey")
    for gateway in fleet.gateways:
        wait_until(lambda: gateway.ready()[0] == 503 and "not the key of this store" in gateway.ready()[1], f"{gateway.ready()}")
    for gateway in fleet.gateways:
        gateway.take_key()
    fleet.wait_all_ready()
    for number, gateway in enumerate(fleet.gateways):
        gateway.send("out", f"R{number}", "alice@example.com", ["bob@example.com"], message(f"rekeyed{number}", "bob@example.com", SECRET))
        check(len(fleet.having(f"<rekeyed{number}@test>")) == 1, "it does not go on")


def rejects_later_form(fleet):
    step("a store of a later form is refused, unless it serves this program")
    form = fleet.database.sql("SELECT number FROM smime.store_version", database="mail")
    fleet.database.sql("UPDATE smime.store_version SET number = number + 1", database="mail")
    fleet.admin("account", "list")
    fleet.database.sql("UPDATE smime.store_version SET serves = number", database="mail")
    result = fleet.admin("account", "list", expect=(78,))
    check(b"written by a newer smime" in result.stderr, f"{result.stderr}")
    filters_environment = {"SMIME_HOME": fleet.gateways[0].home, "SMIME_STORE": fleet.database.url()}
    words = ["filter", "outgoing", "--stdout", "--sender", "alice@example.com", "--", "bob@example.com"]
    fleet.run(words, filters_environment, expect=(75,), input=message("newer", "bob@example.com", SECRET))
    for gateway in fleet.gateways:
        wait_until(lambda: "written by a newer smime" in gateway.ready()[1], f"{gateway.ready()}")
    waits(fleet.gateways[0])
    fleet.database.sql(f"UPDATE smime.store_version SET (number, serves) = ({form}, {form})", database="mail")
    fleet.wait_all_ready()
