"""Many messages of all kinds, and the memory and descriptors of the service and its workers afterwards."""

import os
import threading
import time

from kills import contents
from surroundings import Failure, Service, check, step
from wire import MilterWire, Wire


def run(around):
    """SMIME_TEST_SOAK sets the number of messages; memory is compared with that after a quarter of them, at most 10,000."""
    count = int(os.environ.get("SMIME_TEST_SOAK", "2000"))
    around.start_sink()
    around.service = Service(around, hops="sink").start()
    made = contents(around)
    warm = min(count // 4, 10_000)
    bring(around, warm, made)
    before = settled(around)
    step(f"after {warm} messages: {told(before)}")
    start, done = time.time(), warm
    while done < count:
        part = min(10_000, count - done)
        bring(around, part, made)
        done += part
        after = settled(around)
        step(f"after {done}: {told(after)}; {(done - warm) / (time.time() - start):.0f} a second")
    check(around.service.metric("smime_messages_total") == count, "another number of messages")
    check(around.service.metric("smime_worker_deaths_total") == 0, "workers died")
    check(abs(after["service_fds"] - before["service_fds"]) <= 16, "the service's descriptors grow")
    check(after["worker_fds"] <= before["worker_fds"] + 4, "the workers' descriptors grow")
    # In a short run the caches are not yet full.
    allowed = 5 if warm >= 5000 else 16
    check(after["service_mb"] <= before["service_mb"] + allowed, "the service's memory grows")
    # Buffers of single workers vary by some MB, but a leak grows in all of them.
    check(after["least_worker_mb"] <= before["least_worker_mb"] + allowed, "the workers' memory grows")
    check(after["worker_mb"] <= before["worker_mb"] + 16, "a worker's memory grows")
    check(around.service.stop() == 0, "SIGTERM does not end it with 0")


def told(use):
    return f"service {use['service_mb']:.1f} MB, {use['service_fds']} descriptors; {use['workers']} workers of {use['least_worker_mb']:.1f} to {use['worker_mb']:.1f} MB, {use['worker_fds']} descriptors"


def settled(around):
    """The usage after extra workers and idle connections have ended, for which the service needs a minute."""
    time.sleep(2)
    return around.service.use()


def bring(around, count, made):
    failures = []
    kinds = [
        ("serve_out", "EHLO", "alice@example.com", ["x@eve.test"]), ("out.lmtp", "LHLO", "alice@example.com", ["bob@example.com"]),
        ("serve_in", "EHLO", "bob@example.com", ["carol@example.com"]), ("out.lmtp", "LHLO", "alice@example.com", ["bob@example.com", "eve@example.net"]),
        ("out.milter", "", "alice@example.com", ["bob@example.com", "eve@example.net"]), ("in.milter", "", "bob@example.com", ["carol@example.com"]),
    ]  # fmt: skip

    def work(first):
        place, hello, sender, recipients = kinds[first]
        try:
            wire = Wire(around, place, f"{hello} c.test", timeout=600) if hello else MilterWire(around, place, timeout=600)
            for number in range(first, count, len(kinds)):
                content = made["in" if "in" in place else "out"](f"soak{number}", recipients)
                if hello:
                    wire.say(f"XFORWARD IDENT=Q{number}", "250")
                    wire.begin(*recipients, sender=sender)
                    wire.send(content + b".\r\n")
                    for _ in recipients if hello == "LHLO" else [None]:
                        wire.expect("250")
                else:
                    verdict, changes = wire.bring(f"Q{number}", sender, recipients, content)
                    check(verdict == b"c" and changes, f"{verdict} {changes}")
                # Otherwise the sink's folder would grow as well.
                if number // len(kinds) % 100 == 0:
                    sweep(around)
            wire.socket.close()
        except (Failure, OSError) as failure:
            failures.append(failure)

    threads = [threading.Thread(target=work, args=(first,), daemon=True) for first in range(len(kinds))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    check(not failures, f"{failures}")


def sweep(around):
    limit = time.time() - 5
    for entry in os.scandir(around.name("received")):
        try:
            if entry.name != "log" and entry.stat().st_mtime < limit:
                os.unlink(entry.path)
        except FileNotFoundError:
            pass
