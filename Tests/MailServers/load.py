#!/usr/bin/env python3
"""Sends mails to `smime serve` over SMTP and measures their cost, for scripts/bench-serve.

load.py SERVICE PORTS… : SERVICE is the process; each further argument is NAME:PORT:FILE:SENDER:RECIPIENT:COUNT. For each a line
NAME CPU WALL P50 P99: microseconds of CPU of service and workers for a mail, of wall-clock time for a mail with four connections, and
the milliseconds from the end of a mail to the reply at half of that rate.
"""
import os, socket, sys, threading, time

TICK = os.sysconf("SC_CLK_TCK")


def processes(service):
    children = [service]
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                if int(open(f"/proc/{entry}/stat").read().rsplit(")", 1)[1].split()[1]) == service:
                    children.append(int(entry))
            except OSError:
                pass
    return children


def used(service):
    """The CPU time of the service and its workers, including ended ones, in seconds."""
    total = 0
    for process in processes(service):
        fields = open(f"/proc/{process}/stat").read().rsplit(")", 1)[1].split()
        total += sum(int(field) for field in (fields[11:15] if process == service else fields[11:13]))
    return total / TICK


class Client:
    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.file = self.socket.makefile("rb")
        self.expect(b"220")
        self.socket.sendall(b"EHLO bench.example\r\n")
        self.expect(b"250")

    def expect(self, code):
        while True:
            line = self.file.readline()
            if not line.startswith(code):
                raise SystemExit(f"load: {line!r}")
            if line[3:4] == b" ":
                return line

    def send(self, sender, recipient, mail):
        self.socket.sendall(f"MAIL FROM:<{sender}>\r\nRCPT TO:<{recipient}>\r\nDATA\r\n".encode())
        for code in (b"250", b"250", b"354"):
            self.expect(code)
        self.socket.sendall(mail + b".\r\n")
        started = time.monotonic()
        self.expect(b"250")
        return time.monotonic() - started


def run(port, mail, sender, recipient, count, clients, rate=None):
    """Sends `count` mails; returns how long each waited, in seconds."""
    waits, lock, begin = [], threading.Lock(), time.monotonic()
    places = iter(range(count))

    def work():
        client = Client(port)
        while True:
            with lock:
                place = next(places, None)
            if place is None:
                return client.socket.close()
            if rate:
                time.sleep(max(0, begin + place / rate - time.monotonic()))
            wait = client.send(sender, recipient, mail)
            with lock:
                waits.append(wait)

    threads = [threading.Thread(target=work) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if len(waits) != count:
        raise SystemExit("load: a client failed")
    return sorted(waits)


def main():
    service = int(sys.argv[1])
    for argument in sys.argv[2:]:
        name, port, path, sender, recipient, count = argument.split(":")
        mail, port, count = open(path, "rb").read(), int(port), int(count)
        run(port, mail, sender, recipient, max(count // 10, 20), 4)
        (cpu, wall) = (used(service), time.monotonic())
        run(port, mail, sender, recipient, count, 4)
        (cpu, wall) = (used(service) - cpu, time.monotonic() - wall)
        waits = run(port, mail, sender, recipient, max(count // 5, 100), 4, rate=count / wall / 2)
        middle, late = waits[len(waits) // 2], waits[len(waits) * 99 // 100]
        print(name, round(1e6 * cpu / count), round(1e6 * wall / count), f"{1e3 * middle:.1f} {1e3 * late:.1f}", flush=True)


if __name__ == "__main__":
    main()
