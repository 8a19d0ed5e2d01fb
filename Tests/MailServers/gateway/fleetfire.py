"""Messages of all kinds through all gateways, while gateways, workers and the database are killed repeatedly."""

import os
import random
import re
import signal
import smtplib
import threading
import time
from collections import Counter, defaultdict

from fleet import KINDS, SECRET, SIGNERS, step
from surroundings import check, children, message

CLIENTS = 8


class Traffic:
    """The messages of the clients and the replies to them."""

    def __init__(self, fleet, count):
        self.fleet, self.count = fleet, count
        self.content = contents(fleet)
        self.lock = threading.Lock()
        self.next, self.done = 0, 0
        self.wrong, self.replies = [], Counter()
        # For each message: the gateway, when the message was sent to it, and when the client knew the result.
        self.attempts = defaultdict(list)

    def take(self):
        with self.lock:
            self.next += 1
            return self.next - 1 if self.next <= self.count else None


class Client(threading.Thread):
    """A mail server's queue: tries each message with any gateway, with one queue id, until it gets a final reply."""

    def __init__(self, traffic):
        super().__init__(daemon=True)
        self.traffic = traffic

    def run(self):
        while (number := self.traffic.take()) is not None:
            self.deliver(number)
            with self.traffic.lock:
                self.traffic.done += 1

    def deliver(self, number):
        role, recipients, encrypted = KINDS[number % len(KINDS)]
        sender = "alice@example.com" if role == "out" else "bob@example.com"
        content = self.traffic.content(number)
        for _ in range(2000):
            gateway, began = random.choice(self.traffic.fleet.gateways), time.time()
            code = self.attempt(gateway, role, number, sender, recipients, content)
            with self.traffic.lock:
                self.traffic.replies[code] += 1
                self.traffic.attempts[number].append((gateway, began, time.time()))
            if code == 250 or 500 <= code < 600:
                if (code == 250) != (encrypted is not None):
                    self.traffic.wrong.append((number, code))
                return
            time.sleep(0.2)
        self.traffic.wrong.append((number, "never"))

    def attempt(self, gateway, role, number, sender, recipients, content):
        """The reply; 0 if the connection was lost."""
        try:
            gateway.send(role, f"Q{number}", sender, recipients, content)
            return 250
        except smtplib.SMTPRecipientsRefused as error:
            return max(code for code, _ in error.recipients.values())
        except smtplib.SMTPResponseException as error:
            return error.smtp_code if error.smtp_code > 0 else 0
        except (OSError, smtplib.SMTPException):
            return 0


class Killer(threading.Thread):
    """Repeatedly kills a gateway or a worker, and restarts the gateway."""

    def __init__(self, fleet):
        super().__init__(daemon=True)
        self.fleet, self.kills, self.failure = fleet, [], None
        self.ended = threading.Event()
        # Held while nothing may be killed.
        self.pause = threading.Lock()

    def run(self):
        while not self.ended.wait(random.uniform(0.3, 1.5)):
            with self.pause:
                gateway = random.choice(self.fleet.gateways)
                try:
                    if random.random() < 0.4:
                        self.kills.append((time.time(), "gateway", gateway))
                        gateway.kill()
                        gateway.start(waits=False)
                    elif pids := children(gateway.process.pid):
                        self.kills.append((time.time(), "worker", gateway))
                        os.kill(random.choice(pids), signal.SIGKILL)
                except ProcessLookupError:
                    pass
                except Exception as failure:
                    self.failure = failure
                    return


def contents(fleet):
    """Returns the content of a message by its number."""

    def protected(name, identifier, *words):
        plain = message(identifier, "alice@example.com", SECRET, f"{name}@example.com")
        return fleet.person(name, *words, input=plain).stdout.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")

    secret = protected("bob", "NAME", "encrypt", "--sign")

    def content(number):
        role, recipients, _ = KINDS[number % len(KINDS)]
        if role == "out":
            return message(f"fire{number}", ", ".join(recipients), SECRET)
        if role == "learned":
            return protected(SIGNERS[number // len(KINDS) % len(SIGNERS)], f"fire{number}", "sign")
        return secret.replace(b"<NAME@", f"<fire{number}@".encode())

    return content


def fire(fleet, count):
    step(f"{count} messages through four gateways, while these, their workers and the database are being killed")
    traffic, killer, began = Traffic(fleet, count), Killer(fleet), time.time()
    clients = [Client(traffic) for _ in range(CLIENTS)]
    killer.start()
    for client in clients:
        client.start()
    events = [
        (0.2, "restart", fleet.database.restart), (0.4, "promotion", fleet.database.promote), (0.6, "restart", fleet.database.restart),
        (0.8, "away", lambda: be_away(fleet)),
    ]  # fmt: skip
    outages = []
    while any(client.is_alive() for client in clients):
        time.sleep(0.05)
        check(killer.failure is None, f"what was killed does not start: {killer.failure!r}")
        if events and traffic.done >= events[0][0] * count:
            outages.append(outage(fleet, killer, *events.pop(0)[1:]))
    killer.ended.set()
    killer.join()
    fleet.wait_all_ready()
    took = time.time() - began
    step(f"{took:.0f} s; kills: {dict(Counter(what for _, what, _ in killer.kills))}; {', '.join(outages)}; replies: {dict(traffic.replies)}")
    check(not events, "the database was not killed")
    check(not traffic.wrong, f"wrong replies: {traffic.wrong[:5]}")
    judge(fleet, count, [(at, gateway) for at, what, gateway in killer.kills if what == "gateway"], traffic.attempts)
    check_learned(fleet, traffic)


def outage(fleet, killer, what, action):
    """Does this to the database, and waits until every gateway continues by itself."""
    with killer.pause:
        fleet.wait_all_ready()
        pids = [gateway.process.pid for gateway in fleet.gateways]
        began = time.time()
        action()
        fleet.wait_all_ready()
        check(pids == [gateway.process.pid for gateway in fleet.gateways], "a gateway ended")
        return f"{what} {time.time() - began:.1f} s"


def be_away(fleet):
    fleet.database.stop()
    for gateway in fleet.gateways:
        gateway.wait_ready(503)
    fleet.database.start(fleet.database.primary)


# The tolerance between recording a kill and the death, and between the clocks of clients and gateways.
SLACK = 2


def is_excused(first, attempts, kills):
    """Whether the gateway that delivered `first` was killed before the client had its answer."""
    return any(
        killed is gateway and began - SLACK < at < ended + SLACK
        for gateway, began, ended in attempts
        if began - SLACK < first["at"] < ended + SLACK
        for at, killed in kills
    )


def judge(fleet, count, kills, attempts):
    """Checks that no message was lost or sent in clear, and that only messages in flight at a kill were doubled (RFC 1047)."""
    came, clear = defaultdict(list), []
    for entry in fleet.received():
        content = fleet.content(entry)
        found = re.search(rb"^Message-I[Dd]: <fire(\d+)@test>", content, re.M)
        if not found:
            continue
        number = int(found[1])
        for address in entry["recipients"]:
            came[number, address].append(entry)
            if address in (KINDS[number % len(KINDS)][2] or []):
                if SECRET.encode() in content or b"enveloped-data" not in content.split(b"\r\n\r\n", 1)[0].lower():
                    clear.append((number, address))
    wanted = {(number, address) for number in range(count) if KINDS[number % len(KINDS)][2] is not None for address in KINDS[number % len(KINDS)][1]}
    lost, strange = wanted - came.keys(), came.keys() - wanted
    reasons = Counter()
    for key, entries in came.items():
        for first in entries[:-1]:
            reasons["gateway killed" if is_excused(first, attempts[key[0]], kills) else "none"] += 1
    step(f"{len(came)} deliveries of {len(wanted)}: {len(lost)} lost, {len(clear)} in clear, doubled: {dict(reasons) or 0}")
    check(not lost, f"lost: {sorted(lost)[:10]}")
    check(not clear, f"in clear: {clear[:10]}")
    check(not strange, f"should not have been sent: {sorted(strange)[:10]}")
    check(reasons["none"] == 0, "doubled without a kill")
    # A gateway handles at most as many messages at once as there are clients, each with some recipients.
    check(reasons["gateway killed"] <= 4 * CLIENTS * len(kills), "more was doubled than was under way")


# What PostgreSQL says if a role lacks a right, and if a policy forbids a row.
REFUSALS = ["permission denied", "violates row-level security policy"]


def check_learned(fleet, traffic):
    """Checks that the signers' certificates are in the store, and that no gateway was refused a write. Counts the gateways with mail of each signer."""
    readers = defaultdict(set)
    for number, attempts in traffic.attempts.items():
        if KINDS[number % len(KINDS)][0] == "learned":
            readers[SIGNERS[number // len(KINDS) % len(SIGNERS)]].add(attempts[-1][0])
    step(f"learned: {', '.join(f'{name} (mail through {len(readers[name])} gateways)' for name in SIGNERS)}")
    for name in SIGNERS:
        rows = fleet.database.sql(f"SELECT count(DISTINCT source) FROM smime.recipient WHERE source = 'harvest' AND address_key = '{name}@example.com'", database="mail")
        check(rows == "1", f"{name}: not learned")
    fleet.admin("store", "check")
    check(fleet.admin("doctor", expect=(0, 1)).returncode < 2, "doctor")
    logs = [gateway.log().splitlines() for gateway in fleet.gateways]
    refused = [line for log in logs for line in log if any(refusal in line for refusal in REFUSALS)]
    check(not refused, f"a gateway wanted what it may not: {refused[:3]}")
