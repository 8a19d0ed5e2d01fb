"""Kills everything at random moments, and checks that no mail is lost, doubled or in clear; and messages that crash workers."""

import os
import random
import re
import signal
import smtplib
import subprocess
import threading
import time
from collections import Counter, defaultdict

from surroundings import Failure, Postfix, Service, check, children, message, send, step, wait_until

# The kinds of messages: the port, the recipients, and those who must get it encrypted.
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
# Every 16th message is sent a second time after it was accepted, byte for byte; the kinds take turns.
TWICE = 16
# The maximum time between the next hop's reply and its record by the service, on a busy machine.
RECORDING = 5


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
    # The form for most recipients replaces the message; the others are copies.
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
    """Repeatedly kills a process, and restarts those that do not restart by themselves."""

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
            with Kill(self, what):
                around.service.kill()
            around.service.start()
        elif what == "hop":
            with Kill(self, what):
                around.sink.kill()
                around.sink.wait()
            around.start_sink()
        elif what == "master":
            if master := around.postfix.master():
                with Kill(self, what):
                    # Its children end when they notice that.
                    for pid in [master, *children(master)]:
                        end(pid)
                self.start_postfix()
        else:
            master = around.postfix.master()
            pids = around.service.workers() if what == "worker" else children(master) if master else []
            if pids:
                with Kill(self, what):
                    end(random.choice(pids))

    def start_postfix(self):
        said = []

        def starts():
            run = subprocess.run(["postfix", "start"], capture_output=True, text=True)
            said[:] = [run.stderr]
            return run.returncode == 0

        try:
            wait_until(starts, "Postfix does not start again")
        except Failure as failure:
            raise Failure(f"{failure}: {said}") from None



class Kill:
    """A kill, when it began and ended, and how many messages were in flight."""

    def __init__(self, killer, what):
        self.killer, self.what = killer, what

    def __enter__(self):
        # A service that hangs reports no number, and has at most as many messages as places.
        self.in_flight = self.killer.around.service.metric("smime_messages_in_flight") if self.what == "service" else 0
        self.begin = time.time()

    def __exit__(self, *_):
        self.end = time.time()
        self.killer.kills.append(self)


def end(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


class Sender(threading.Thread):
    """Sends messages like a client that tries again until it gets 250. Each attempt is a different message, because the client cannot know the result."""

    def __init__(self, around, numbers, contents):
        super().__init__(daemon=True)
        self.around, self.numbers, self.contents = around, numbers, contents
        self.refused = []
        # For each message that was sent twice: the attempt that was accepted first, and how many times it was sent again.
        self.again = {}

    def run(self):
        for number in self.numbers:
            attempt = self.bring(number, lambda attempt: attempt)
            if attempt is not None and number % TWICE == number // TWICE % len(KINDS):
                self.again[number, attempt] = 1000
                times = self.bring(number, lambda _: attempt)
                self.again[number, attempt] = times + 1 if times is not None else 1000

    def bring(self, number, name):
        """Sends the message until it is accepted; returns the number of failures before that, None if it is refused."""
        port, recipients, _ = KINDS[number % len(KINDS)]
        sender = "bob@example.com" if port.startswith("in") else "alice@example.com"
        for attempt in range(1000):
            content = self.contents[port.split("_")[0]](f"kill{number}.{name(attempt)}", recipients)
            try:
                send(self.around.port[port], sender, recipients, content)
                return attempt
            except smtplib.SMTPResponseException as error:
                if error.smtp_code >= 500:
                    self.refused.append((number, error))
                    return None
            except smtplib.SMTPRecipientsRefused as error:
                if any(code >= 500 for code, _ in error.recipients.values()):
                    self.refused.append((number, error))
                    return None
            except (OSError, smtplib.SMTPException):
                pass
            time.sleep(0.2)
        return None


def contents(around):
    """Returns content by name: outgoing from alice; incoming from bob, encrypted to alice."""
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
    again = {key: times for thread in threads for key, times in thread.again.items()}
    count_what_came(around, count, killer.kills, again)


def count_what_came(around, count, kills, again):
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
    # A message that was sent again is a different one. Its copies may be missing if the service died between its verdict on the first one,
    # given as a milter, and the end of the journal's record of it.
    missing = [key for key in came if again.get((key[0], key[2])) and len(came[key]) < 2]
    excused = [key for key in missing if "milter" in KINDS[key[0] % len(KINDS)][0] and died(kills, "service", came[key][0])]
    surplus = {key: len(entries) - 1 - again.get((key[0], key[2]), 0) for key, entries in came.items()}
    doubled = {key: entries for key, entries in came.items() if surplus[key] > 0}
    # Each copy but the last must have a reason: see why().
    reasons, by_kill, unexplained = Counter(), defaultdict(set), []
    for key, entries in doubled.items():
        whys = [why(key, first, kills) for first in entries[:-1]]
        # Some copies of a message that was sent twice need no reason.
        for reason, what in sorted(whys, key=lambda pair: not pair[1])[: surplus[key]]:
            if not what:
                reasons["none"] += 1
                unexplained.append(history(around, key, entries, kills))
                continue
            reasons[reason] += 1
            by_kill["hop" if reason == "hop" else what].add(what if reason == "hop" else (key[0], key[2]))
    unanswered = sum(1 for entry in around.received() if not entry["replied"])
    kinds = Counter(KINDS[key[0] % len(KINDS)][0] + "/" + str(len(KINDS[key[0] % len(KINDS)][1])) for key in doubled)
    step(f"kills: {dict(Counter(kill.what for kill in kills))}; {len(there)} deliveries, {len(lost)} lost, {len(clear)} in clear, {len(bounced)} bounces")
    step(f"doubled by what was killed: {dict(reasons)} {dict(kinds)}; the next hop died behind {unanswered} messages before its reply")
    step(f"sent twice: {len(again)}; of these {len(missing)} deliveries came once, {len(excused)} of them because of a kill")
    check(not bounced, f"something came back: {bounced[0][:1500] if bounced else ''!r}")
    check(not lost, f"lost: {lost[:10]}")
    check(not clear, f"in clear: {clear[:10]}")
    check(len(missing) == len(excused), f"sent twice and came once: {missing[:10]}")
    check("none" not in reasons, "\n".join([f"doubled without a kill that explains it: {reasons}", *unexplained]))
    check(len(by_kill.pop("hop", ())) <= unanswered, "more was doubled than was in flight when the next hop was killed")
    for kill, messages in by_kill.items():
        # Some have arrived since the number was read.
        check(len(messages) <= kill.in_flight + 8, f"{len(messages)} messages were doubled of {kill.in_flight} in flight when the service was killed")


def history(around, key, entries, kills):
    """The arrivals of a message and the kills around them, in seconds after its first arrival, and what the logs say of the message."""
    first = entries[0]["at"]
    came = [(round(entry["at"] - first, 2), entry["replied"] and round(entry["replied"] - first, 2)) for entry in entries]
    near = [(round(kill.end - first, 2), kill.what) for kill in kills if -10 < kill.end - first < 60]
    logs = [open(around.name(name), errors="replace").read().splitlines() for name in ("mail.log", "serve.log")]
    named = [line for log in logs for line in log if f"<kill{key[0]}.{key[2]}@test>" in line]
    identifiers = {identifier for line in named for identifier in re.findall(r"\b[0-9A-F]{10,}\b", line)}
    lines = [line for log in logs for line in log if any(identifier in line for identifier in identifiers)]
    return "\n".join([f"{key} {KINDS[key[0] % len(KINDS)]} came at {came}; killed: {near}", *lines])


def why(key, entry, kills):
    """Why the message came again after this copy, and the kill. The next hop accepted the copy and died before it said so (RFC 1047); or the
    service died before it recorded the next hop's reply and passed it to Postfix; or, for a milter, a process of Postfix died before the message
    was queued. Postfix then sends the next command as after success, so the service cannot know of it."""
    if not entry["replied"]:
        return "hop", entry["taken"]
    if kill := died(kills, "service", entry):
        return "service", kill
    if "milter" in KINDS[key[0] % len(KINDS)][0]:
        return "mail server", died(kills, "postfix", entry) or died(kills, "master", entry)
    return "none", None


def died(kills, what, entry):
    """The kill at which the next hop already had `entry`, but it was not yet recorded."""
    recorded = (entry["replied"] or entry["at"]) + RECORDING
    return next((kill for kill in kills if kill.what == what and kill.begin <= recorded and kill.end >= entry["at"] - 0.1), None)


def marked(around):
    for way in ("ILL", "STACK", "ABRT"):
        step(f"messages that crash workers ({way}), among others")
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
        # Sent directly, like a mail server with a queue id: first 451, then 554.
        replies = [attempt(around, way) for _ in range(3)]
        check([code for code, _ in replies] == [451, 554, 554], f"{replies}")
        check(re.match(rb"5\.\d+\.\d+ \w", replies[1][1]), f"no sentence: {replies[1]}")
        send(around.port["out_lmtp"], "alice@example.com", ["bob@example.com"], message(f"deadly-{way}-out", "bob@example.com", "The deadly mark."))
        # Postfix defers a message for five minutes if it was still being delivered.
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
