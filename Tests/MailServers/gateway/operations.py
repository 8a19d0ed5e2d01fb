"""The service with systemd, with Prometheus, and with a full disk."""

import os
import re
import resource
import signal
import socket
import subprocess
import time

from surroundings import Service, check, message, send, status, step, wait_until
from wire import Wire


def run(around):
    around.start_sink()
    notified(around)
    passed(around)
    measured(around)
    no_room(around)
    few_files(around)
    many_files(around)
    renewed(around)
    reloaded_early(around)


def notified(around):
    step("systemd hears when it is ready, alive, reloading and stopping")
    path = around.name("run", "notify")
    manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    manager.bind(path)
    os.chmod(path, 0o777)
    manager.settimeout(60)

    def hear(word):
        while True:
            said = manager.recv(4096).decode()
            if word in said:
                return said

    around.service = Service(around, hops="sink", environment={"NOTIFY_SOCKET": path, "WATCHDOG_USEC": "1000000"}).start()
    check("STATUS=" in hear("READY=1"), "no status")
    for _ in range(3):
        hear("WATCHDOG=1")
    around.service.process.send_signal(signal.SIGHUP)
    check("MONOTONIC_USEC=" in hear("RELOADING=1"), "no time of the reload")
    hear("READY=1")
    around.service.process.terminate()
    hear("STOPPING=1")
    check(around.service.process.wait(60) == 0, "another status than 0")


def passed(around):
    step("sockets that systemd opened, also for the metrics; no worker has them")
    path = around.name("run", "activated")
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    os.chmod(path, 0o666)
    listener.listen(100)
    metrics = socket.create_server(("127.0.0.1", around.port["metrics"]))
    around.service = Service(around, "--listen", "outgoing=lmtp:fd:mail", hops="sink")
    around.service.words[around.service.words.index("--metrics") + 1] = "fd:metrics"
    # The shell's process becomes the service's, so that LISTEN_PID is right.
    # The descriptors are first moved out of the way of 3 and 4.
    os.dup2(listener.fileno(), 103)
    os.dup2(metrics.fileno(), 104)
    script = 'exec 3<&103 4<&104 103<&- 104<&-; LISTEN_PID=$$ LISTEN_FDS=2 LISTEN_FDNAMES=mail:metrics exec "$@"'
    inner = ["bash", "-c", script, "bash", *around.service.words]
    log = around.path("serve.log", mode="ab")
    around.service.begin = log.tell()
    around.service.process = subprocess.Popen(
        ["setpriv", "--reuid", "nobody", "--regid", "postfix", "--clear-groups", *inner], pass_fds=[103, 104], stdout=log, stderr=log
    )
    os.close(103)
    os.close(104)
    around.service.wait_ready()
    with Wire(around, "activated", "LHLO c.test") as wire:
        wire.begin("bob@example.com")
        wire.send(message("activated", "bob@example.com", "x") + b".\r\n")
        wire.expect("250")
    inode = f"socket:[{os.fstat(listener.fileno()).st_ino}]"
    for pid in around.service.workers():
        held = {int(name): os.readlink(f"/proc/{pid}/fd/{name}") for name in os.listdir(f"/proc/{pid}/fd")}
        check(inode not in held.values(), f"a worker has the listener {inode}: {held}")
    around.service.stop()
    check(os.path.exists(path), "it took systemd's socket away")
    listener.close()
    metrics.close()


def measured(around):
    step("metrics that Prometheus can read, and who is well")
    around.service = Service(around, hops="sink").start()
    send(around.port["serve_out"], "alice@example.com", ["bob@example.com"], message("counted", "bob@example.com", "x"))
    status, text = around.service.get("metrics")
    check(status == 200, f"{status}")
    kinds = dict(re.findall(r"^# TYPE (\S+) (\S+)$", text, re.M))
    for line in text.splitlines():
        found = re.fullmatch(r'([a-z_]+)(\{[a-z]+="[^"]*"(?:,[a-z]+="[^"]*")*\})? [0-9.e+-]+', line)
        if not line.startswith("#"):
            check(found, f"not a metric: {line}")
            check(found[1] in kinds or re.sub(r"_(bucket|sum|count)$", "", found[1]) in kinds, f"no type for {line}")
    check('smime_messages_total{role="outgoing",result="accepted"} 1' in text, f"not counted: {text}")
    counts = [float(value) for value in re.findall(r'^smime_message_seconds_bucket\{role="outgoing",le="[^"]*"\} (\S+)$', text, re.M)]
    check(counts == sorted(counts) and counts[-1] == 1, f"no histogram: {counts}")
    operations = re.findall(r'^smime_crypto_seconds_total\{operation="([a-z]+)"\} \d+(?:\.\d{1,3})?$', text, re.M)
    check(operations == ["sign", "verify", "encrypt", "decrypt", "digest"], f"no seconds of libcrypto: {operations}")
    for path, status in (("healthz", 200), ("readyz", 200), ("", 404), ("metrics/x", 404)):
        check(around.service.get(path)[0] == status, f"/{path} is not {status}")
    # A scraper that sends nothing, and one that sends too much.
    quiet = socket.create_connection(("127.0.0.1", around.port["metrics"]), 60)
    loud = socket.create_connection(("127.0.0.1", around.port["metrics"]), 60)
    try:
        loud.sendall(b"GET /" + b"x" * 10_000_000)
    except OSError:
        pass
    for client in (quiet, loud):
        try:
            while client.recv(65536):
                pass
        except ConnectionError:
            pass
        client.close()
    check(around.service.get("healthz")[0] == 200, "it is not well")
    around.service.stop()


def no_room(around):
    step("no room for large messages: 452, and small ones go on")
    folder = around.name("run", "tmp")
    os.mkdir(folder)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m,mode=1777", "tmpfs", folder], check=True)
    around.service = Service(around, hops="sink", environment={"TMPDIR": folder}).start()
    for round_ in range(3):
        with Wire(around) as wire:
            wire.begin("x@eve.test")
            wire.send(message(f"no-room{round_}", "x@eve.test", "x" * 76) + (b"y" * 76 + b"\r\n") * 60_000 + b".\r\n")
            wire.expect("452", "451")
            wire.begin("x@eve.test")
            wire.send(message(f"room{round_}", "x@eve.test", "x") + b".\r\n")
            wire.expect("250")
    check(not around.having("<no-room"), "it went")
    check(around.service.metric("smime_messages_in_flight") == 0, "a message stays in flight")
    around.service.stop()
    subprocess.run(["umount", "-l", folder], check=True)


def few_files(around):
    step("no more connections than there may be files")
    around.service = Service(around, "--max-messages", "4", hops="sink")
    around.service.words = ["prlimit", "--nofile=300:300", *around.service.words]
    around.service.start()
    wires, heard = [], []
    for _ in range(400):
        wire = Wire(around, hello=None)
        wires.append(wire)
        heard.append(wire.reply()[:3])
        if heard[-1] != "220":
            break
    check(heard[-1] == "421" and len(heard) > 8, f"{len(heard)} connections: {heard[-3:]}")
    # A running message already has all it needs: the next hop, a worker.
    wires[0].say("EHLO c.test", "250")
    wires[0].begin("bob@example.com")
    wires[0].send(message("in-time", "bob@example.com", "x") + b".\r\n")
    wires[0].expect("250")
    for wire in wires:
        wire.socket.close()
    around.service.stop()


def many_files(around):
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if hard != resource.RLIM_INFINITY and hard < 50_000:
        return step(f"only {hard} files may be open here: a higher limit is skipped")
    step("a high limit of open files is not lowered")
    around.service = Service(around, hops="sink")
    around.service.words = ["prlimit", "--nofile=50000:50000", *around.service.words]
    around.service.start()
    limits = resource.prlimit(around.service.pid, resource.RLIMIT_NOFILE)
    check(limits == (50_000, 50_000), f"{limits}")
    around.service.stop()


def renewed(around):
    step("SIGHUP again and again while messages come: each of them is taken at once")
    around.service = Service(around, hops="sink").start()
    before = around.service.use()
    with Wire(around) as wire:
        for number in range(100):
            if number % 5 == 0:
                around.service.process.send_signal(signal.SIGHUP)
            wire.begin("bob@example.com")
            wire.send(message(f"renewed{number}", "bob@example.com", "x") + b".\r\n")
            wire.expect("250")
            time.sleep(0.02)
    wait_until(lambda: around.service.use()["workers"] <= before["workers"] + 1, "workers pile up")
    wait_until(lambda: around.service.use()["service_fds"] <= before["service_fds"] + 5, "descriptors pile up")
    around.service.stop()


def reloaded_early(around):
    step("SIGHUP while the service starts does not end it")
    service = Service(around, hops="sink")
    for _ in range(10):
        log = around.path("serve.log", mode="ab")
        service.begin = log.tell()
        service.process = subprocess.Popen(["setpriv", "--reuid", "nobody", "--regid", "postfix", "--clear-groups", *service.words], stdout=log, stderr=log)
        log.close()
        # The program ignores SIGPIPE right after SIGHUP, before anything else. A pause here would miss the moment.
        start = time.time()
        while not status(service.pid, "SigIgn", 16) & 1 << signal.SIGPIPE - 1:
            check(time.time() < start + 60, "it does not begin")
        service.process.send_signal(signal.SIGHUP)
        while service.get("readyz")[0] != 200:
            # The workers are replaced for each signal that the service receives.
            if time.time() < start + 0.3:
                service.process.send_signal(signal.SIGHUP)
            check(service.process.poll() is None, f"it ended with {service.process.poll()}")
            time.sleep(0.01)
        check(service.stop() == 0, "SIGTERM does not end it with 0")
