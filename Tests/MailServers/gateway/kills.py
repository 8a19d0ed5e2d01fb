"""Everything is killed at random moments, and no mail is lost, doubled, or in clear; and messages at which workers die."""

import os
import random
import re
import signal
import smtplib
import subprocess
import threading
import time
from collections import Counter, defaultdict

from surroundings import Postfix, Service, check, children, message, send, step, wait_until

# How a message is sent: the port, the recipients, and who must get it encrypted.
KINDS = [
    ("out_lmtp", ["bob@example.com"], ["bob@example.com"]),
    ("out_smtp", ["bob@example.com", "eve@example.net"], ["bob@example.com"]),
    ("out_lmtp", ["bob@example.com", "eve@example.net", "p384@example.com", "x@plain.test"], ["bob@example.com", "p384@example.com"]),
    ("out_milter", ["bob@example.com"], ["bob@example.com"]),
    ("out_milter", ["bob@example.com", "eve@example.net"], ["bob@example.com"]),
    ("in_smtp", ["carol@example.com"], []),
    ("in_lmtp", ["alice@example.com", "carol@example.com"], ["carol@example.com"]),
    ("in_milter", ["carol@example.com"], []),
]
SECRET = "This is for nobody else."


def run(around):
    count = int(os.environ.get("SMIME_TEST_KILLED", "150"))
    around.start_sink()
    around.postfix = Postfix(around)
    around.service = Service(around, hops="sink").start()
    around.gateway("policy", "set", "--recipient", "bob@example.com", "--encrypt", "require")
    around.gateway("policy", "set", "--recipient", "alice@example.com", "--decrypt-at-gateway", "yes")
    in_part(around)
    killing(around, count)
    around.service.stop()
    around.sink.kill()
    around.sink.wait()
    around.start_sink()
    marked(around)


def in_part(around):
    step("by milter: a copy that the next hop refuses; the others go out once, however often it is tried again")
    # The form for most recipients stays in place; the others are copies.
    to = ["bob@example.com", "later-content@plain.test", "eve@example.net", "eve2@example.net"]
    for _ in range(3):
        try:
            send(around.port["out_milter"], "alice@example.com", to, message("in-part", "bob@example.com", "x"))
            check(False, "it was taken")
        except smtplib.SMTPDataError as error:
            check(error.smtp_code == 451, f"{error}")
    taken = Counter(address for entry in around.having("<in-part@test>") for address in entry["recipients"])
    check(taken == {"bob@example.com": 1}, f"{taken}")


class Killer(threading.Thread):
    """Kills a process at a time, and starts again what does not start by itself."""

    def __init__(self, around):
        super().__init__(daemon=True)
        self.around = around
        self.ended = threading.Event()
        self.kills = []
        self.failure = None

    def run(self):
        while not self.ended.wait(random.uniform(0.05, 0.9)):
            try:
                self.kill(random.choices(["worker", "postfix", "service", "hop", "master"], [5, 5, 3, 3, 1])[0])
            except Exception as failure:
                self.failure = failure
                return

    def kill(self, what):
        around = self.around
        if what == "service":
            self.note(what)
            around.service.kill()
            around.service.start()
        elif what == "hop":
            self.note(what)
            around.sink.kill()
            around.sink.wait()
            around.start_sink()
        elif what == "master":
            if master := around.postfix.master():
                self.note(what)
                # Its children end when they notice.
                for pid in [master, *children(master)]:
                    end(pid)
                wait_until(lambda: subprocess.run(["postfix", "start"], stderr=subprocess.DEVNULL).returncode == 0, "Postfix does not start again")
        else:
            master = around.postfix.master()
            pids = around.service.workers() if what == "worker" else children(master) if master else []
            if pids:
                self.note(what)
                end(random.choice(pids))

    def note(self, what):
        self.kills.append((time.time(), what))


def end(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


class Sender(threading.Thread):
    """Sends messages as a client that tries again until it hears 250. Each attempt is another message, for the client cannot know."""

    def __init__(self, around, numbers, contents):
        super().__init__(daemon=True)
        self.around, self.numbers, self.contents = around, numbers, contents
        self.refused = []

    def run(self):
        for number in self.numbers:
            port, recipients, _ = KINDS[number % len(KINDS)]
            sender = "bob@example.com" if port.startswith("in") else "alice@example.com"
            for attempt in range(1000):
                content = self.contents[port.split("_")[0]](f"kill{number}.{attempt}", recipients)
                try:
                    send(self.around.port[port], sender, recipients, content)
                    break
                except smtplib.SMTPResponseException as error:
                    if error.smtp_code >= 500:
                        self.refused.append((number, error))
                        break
                except smtplib.SMTPRecipientsRefused as error:
                    if any(code >= 500 for code, _ in error.recipients.values()):
                        self.refused.append((number, error))
                        break
                except (OSError, smtplib.SMTPException):
                    pass
                time.sleep(0.2)


def contents(around):
    """Gives content by a name: outgoing from alice; incoming, encrypted to alice by bob."""
    name = around.name("kill.eml")
    with open(name, "wb") as file:
        file.write(message("NAME", "alice@example.com", SECRET, "bob@example.com"))
    around.reader("encrypt", name, "--sign", "-o", around.name("kill2.eml"))
    secret = open(around.name("kill2.eml"), "rb").read().replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
    return {
        "out": lambda name, recipients: message(name, ", ".join(recipients), SECRET),
        "in": lambda name, _: secret.replace(b"<NAME@", f"<{name}@".encode()),
    }


def killing(around, count):
    step(f"{count} messages, while service, workers, Postfix and the next hop are being killed")
    made = contents(around)
    threads = [Sender(around, range(first, count, 8), made) for first in range(8)]
    killer = Killer(around)
    killer.start()
    for thread in threads:
        thread.start()
    for thread in threads:
        while thread.is_alive():
            thread.join(5)
            check(killer.failure is None, f"what was killed does not start: {killer.failure!r}")
    killer.ended.set()
    killer.join()
    check(killer.failure is None, f"what was killed does not start: {killer.failure!r}")
    refused = [pair for thread in threads for pair in thread.refused]
    check(not refused, f"refused: {refused[:3]}")
    around.postfix.wait_empty(600)
    count_what_came(around, count, killer.kills)


def count_what_came(around, count, kills):
    came, clear, bounced = defaultdict(list), [], []
    for entry in around.received():
        content = around.content(entry)
        found = re.search(rb"^Message-I[Dd]: <kill(\d+)\.(\d+)@test>", content, re.M)
        if b"multipart/report" in content.split(b"\r\n\r\n", 1)[0]:
            bounced.append(content)
        if not found or content in bounced[-1:]:
            continue
        number, attempt = int(found[1]), int(found[2])
        for address in entry["recipients"]:
            came[number, address, attempt].append(entry)
            if address in KINDS[number % len(KINDS)][2]:
                head = content.split(b"\r\n\r\n", 1)[0].lower()
                if SECRET.encode() in content or b"enveloped-data" not in head:
                    clear.append((number, address))
    there = {(number, address) for number, address, _ in came}
    lost = [(number, address) for number in range(count) for address in KINDS[number % len(KINDS)][1] if (number, address) not in there]
    doubled = {key: entries for key, entries in came.items() if len(entries) > 1}
    # What each copy but the last was followed by, before the next copy came. A copy that the hop took without a reply was in flight when
    # the hop was killed: the window of RFC 1047. So is one whose service or client was killed between the two replies.
    reasons = Counter()
    for key, entries in doubled.items():
        for first, second in zip(entries, entries[1:]):
            between = {what for at, what in kills if first["at"] - 1 < at < second["at"]}
            if not first["replied"]:
                reasons["hop"] += 1
            elif "service" in between:
                reasons["service"] += 1
            elif between & {"postfix", "master"}:
                reasons["postfix"] += 1
            elif "hop" in between:
                reasons["hop, replied"] += 1
            else:
                reasons["none"] += 1
    unanswered = sum(1 for entry in around.received() if not entry["replied"])
    kinds = Counter(KINDS[key[0] % len(KINDS)][0] + "/" + str(len(KINDS[key[0] % len(KINDS)][1])) for key in doubled)
    step(f"kills: {dict(Counter(what for _, what in kills))}; {len(there)} deliveries, {len(lost)} lost, {len(clear)} in clear, {len(bounced)} bounces")
    step(f"doubled by what was killed: {dict(reasons)} {dict(kinds)}; the next hop died behind {unanswered} messages before its reply")
    check(not bounced, f"something came back: {bounced[0][:1500] if bounced else ''!r}")
    check(not lost, f"lost: {lost[:10]}")
    check(not clear, f"in clear: {clear[:10]}")
    check(reasons["none"] == 0, f"doubled without a kill: {[key for key in doubled][:10]}")
    # A delivery counts for each recipient.
    check(reasons["hop"] <= 4 * unanswered, "more was doubled than was in flight when the next hop was killed")
    # One message a connection, and two connections for each of 8 clients.
    for what in ("service", "postfix"):
        times = sum(1 for _, kind in kills if kind in ((what,) if what == "service" else (what, "master")))
        check(reasons[what] <= 4 * 20 * max(times, 0), f"more was doubled than was in flight when {what} was killed")


def marked(around):
    for way in ("ILL", "STACK", "ABRT"):
        step(f"messages at which workers die ({way}), among others")
        around.service = Service(around, hops="sink", environment={"SMIME_TEST_TRAP": way, "SMIME_TEST_TRAP_MARK": "deadly mark"})
        around.service.start()
        deaths = around.service.metric("smime_worker_deaths_total")
        for port in ("in_lmtp", "in_smtp", "in_milter"):
            text = "The deadly mark."
            forged = ["Authentication-Results: gw.test; smime=pass forged", "Authentication-Results: GW.TEST;", " smime=pass forged", "X-SMIME-Verdict: good"]
            content = message(f"deadly-{way}-{port}", "carol@example.com", text, "bob@example.com", forged)
            send(around.port[port], "bob@example.com", ["carol@example.com", "dana@example.com"], content)
            found = around.wait_for(f"<deadly-{way}-{port}@test>")
            check(sum(len(one["recipients"]) for one in found) == 2, f"{found}")
            text = around.content(found[0])
            check(re.search(rb"^Authentication-Results: gw\.test;\s+smime=permerror", text, re.M), f"{port}: no permerror: {text[:600]!r}")
            check(b"forged" not in text and b"X-SMIME-Verdict" not in text, f"{port}: a forged verdict: {text[:600]!r}")
            check(text.endswith(b"\r\n\r\nThe deadly mark.\r\n"), "another body")
        # Directly, as a mail server with a queue id: once 451, then 554.
        replies = [attempt(around, way) for _ in range(3)]
        check([code for code, _ in replies] == [451, 554, 554], f"{replies}")
        check(re.match(rb"5\.\d+\.\d+ \w", replies[1][1]), f"no sentence: {replies[1]}")
        send(around.port["out_lmtp"], "alice@example.com", ["bob@example.com"], message(f"deadly-{way}-out", "bob@example.com", "The deadly mark."))
        # Postfix lets a message rest for five minutes that it found while it still delivered it.
        around.wait_for(f"deadly-{way}-out", "alice@example.com", seconds=500)
        for one in around.having(f"<deadly-{way}-out@test>"):
            check(one["sender"] == "", "it went")
        check(around.service.metric("smime_worker_deaths_total") >= deaths + 5, "deaths are not counted")
        check(around.service.get("healthz")[0] == 200 and around.service.get("readyz")[0] == 200, "it is not well")
        send(around.port["out_lmtp"], "alice@example.com", ["bob@example.com"], message(f"after-{way}", "bob@example.com", "Hello."))
        around.wait_for(f"<after-{way}@test>")
        around.service.stop()


def attempt(around, way):
    with smtplib.SMTP("127.0.0.1", around.port["serve_out"], local_hostname="c.test", timeout=300) as client:
        client.ehlo()
        check(client.docmd("XFORWARD", f"IDENT=Q{way}1")[0] == 250, "XFORWARD")
        client.mail("alice@example.com")
        client.rcpt("bob@example.com")
        return client.data(message(f"direct-{way}", "bob@example.com", "The deadly mark."))
