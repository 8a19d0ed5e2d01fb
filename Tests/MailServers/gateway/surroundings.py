"""The environment of the tests of `smime serve`: a folder, a store, the service, a separate Postfix, and the last mail server."""

import glob
import json
import os
import pwd
import random
import re
import shutil
import signal
import smtplib
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))


class Failure(Exception):
    pass


def step(text):
    print(f"serve test: {text}", flush=True)


def check(condition, text):
    if not condition:
        raise Failure(text)


def wait_until(condition, text, seconds=120):
    """Waits for a condition; the limit is generous because machines are busy."""
    end = time.time() + seconds
    while time.time() < end:
        if result := condition():
            return result
        time.sleep(0.05)
    raise Failure(f"{seconds} s are over: {text}")


def is_free(port):
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
            return True
        except OSError:
            return False


def children(pid):
    """The living child processes of `pid`."""
    found = []
    for path in glob.glob(f"/proc/{pid}/task/*/children"):
        try:
            found += [int(word) for word in open(path).read().split()]
        except OSError:
            pass
    return found


def status(pid, key, base=10):
    with open(f"/proc/{pid}/status") as file:
        return int(re.search(rf"^{key}:\s*([0-9a-f]+)", file.read(), re.M)[1], base)


class Surroundings:
    """A folder with everything; `end` removes it."""

    def __init__(self, smime, certs):
        self.work = tempfile.mkdtemp(prefix="smime-serve.", dir="/var/tmp")
        os.chmod(self.work, 0o755)
        self.certs = os.path.join(self.work, "certs")
        self.smime = os.path.join(self.work, "smime")
        shutil.copy(smime, self.smime)
        shutil.copytree(certs, self.certs)
        subprocess.run(["chmod", "-R", "a+rX", self.certs, self.smime], check=True)
        self.path("password").write("test\n")
        os.chmod(self.name("password"), 0o644)
        base = next(base for base in (random.randrange(10000, 29000) for _ in range(200)) if all(is_free(base + n) for n in range(14)))
        names = ["out_lmtp", "out_smtp", "in_smtp", "out_milter", "in_milter", "in_lmtp", "again", "sink", "serve_out", "serve_in", "metrics", "big", "spare", "spare2"]
        self.port = {name: base + n for n, name in enumerate(names)}
        self.sink = None
        self.service = None
        self.postfix = None
        self.make_stores()

    def name(self, *parts):
        return os.path.join(self.work, *parts)

    def path(self, *parts, mode="w"):
        return open(self.name(*parts), mode)

    def make_stores(self):
        for folder, owner in (("store", "nobody"), ("run", "nobody"), ("reader", "root"), ("received", "root")):
            os.mkdir(self.name(folder))
            os.chown(self.name(folder), pwd.getpwnam(owner).pw_uid, -1)
        os.chmod(self.name("store"), 0o700)
        # Only Postfix has to reach the sockets.
        shutil.chown(self.name("run"), "nobody", "postfix")
        os.chmod(self.name("run"), 0o2750)
        password = ["--password-file", self.name("password")]
        self.gateway("import", f"{self.certs}/alice/alice.p12", *password)
        self.gateway("import", f"{self.certs}/ca/root.pem", "--trust")
        self.gateway("import", f"{self.certs}/bob/cert.pem", f"{self.certs}/p384/cert.pem")
        self.gateway("config", "set", "filter.authserv-id", "gw.test")
        self.gateway("policy", "set", "--recipient", "must.test", "--encrypt", "require", "--override", "stricter")
        self.gateway("policy", "set", "--recipient", "plain.test", "--sign", "never", "--encrypt", "never")
        self.reader("import", f"{self.certs}/bob/bob.p12", *password)
        self.reader("import", f"{self.certs}/ca/root.pem", "--trust")
        self.reader("import", f"{self.certs}/alice/cert.pem")

    def gateway(self, *words):
        """Runs the command on the service's store."""
        home = ["--home", self.name("store")]
        place = 2 if words[0] in ("config", "policy", "recipient", "trust") else 1
        words = [*words[:place], *home, *words[place:]]
        return self.run(["runuser", "-u", "nobody", "--", self.smime, *words])

    def reader(self, *words, **options):
        """Runs the command on the reader's store."""
        return self.run([self.smime, *words], env={**os.environ, "SMIME_HOME": self.name("reader")}, **options)

    def run(self, words, expect=(0,), **options):
        result = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
        check(result.returncode in expect, f"{' '.join(words[-6:])}: {result.returncode}: {(result.stdout + result.stderr).decode(errors='replace')[-500:]}")
        return result

    def start_sink(self):
        self.sink = subprocess.Popen([sys.executable, os.path.join(HERE, "sink.py"), str(self.port["sink"]), self.name("received")])
        wait_until(lambda: not is_free(self.port["sink"]), "the sink does not start")

    def is_taken(self, port):
        """Whether a process listens there."""
        return not is_free(self.port[port])

    def received(self):
        """The messages that the sink accepted, oldest first."""
        messages, replied = [], {}
        if os.path.exists(self.name("received", "log")):
            for line in open(self.name("received", "log")):
                entry = json.loads(line)
                if "replied" in entry:
                    replied[entry["replied"]] = entry["at"]
                elif "taken" in entry:
                    messages.append(entry)
        for message in messages:
            message["replied"] = replied.get(message["taken"])
        return messages

    def content(self, message):
        return open(self.name("received", message["taken"]), "rb").read()

    def having(self, text, to=None):
        """The arrived messages that contain `text`."""
        text = text.encode()
        return [
            message
            for message in self.received()
            if (to is None or to in message["recipients"]) and text in self.content(message)
        ]

    def wait_for(self, text, to=None, count=1, seconds=180):
        return wait_until(lambda: (found := self.having(text, to)) and len(found) >= count and found, f"{text} to {to} does not arrive", seconds)

    def end(self, failed):
        if failed:
            for name in ("mail.log", "serve.log"):
                if os.path.exists(self.name(name)):
                    lines = open(self.name(name), errors="replace").read().splitlines()
                    print(f"--- {name}", *[line[:400] for line in lines[-25:]], sep="\n", file=sys.stderr)
        for part in (self.service, self.postfix):
            if part:
                part.stop()
        if self.sink:
            self.sink.kill()
        for folder in ("/etc/postfix", "/var/spool/postfix", "/var/lib/postfix"):
            subprocess.run(["umount", "-l", folder], stderr=subprocess.DEVNULL)
        shutil.rmtree(self.work, ignore_errors=True)


class Service:
    """`smime serve`, run as a separate user."""

    def __init__(self, around, *words, environment=None, hops="again"):
        self.around = around
        port, run = around.port, around.name("run")
        hop = f"smtp:127.0.0.1:{port[hops]}"
        self.words = [
            around.smime, "serve", "--home", around.name("store"), "--no-system-anchors", "--revocation", "off", "--authserv-id", "gw.test",
            "--listen", f"outgoing=lmtp:unix:{run}/out.lmtp", "--listen", f"outgoing=smtp:127.0.0.1:{port['serve_out']}",
            "--listen", f"incoming=smtp:127.0.0.1:{port['serve_in']}", "--listen", f"incoming=lmtp:unix:{run}/in.lmtp",
            "--listen", f"outgoing=milter:unix:{run}/out.milter", "--listen", f"incoming=milter:unix:{run}/in.milter",
            "--next-hop", f"outgoing={hop}", "--next-hop", f"incoming={hop}", "--metrics", f"127.0.0.1:{port['metrics']}", *words,
        ]  # fmt: skip
        self.environment = {**os.environ, **(environment or {})}
        self.process = None

    def start(self):
        log = self.around.path("serve.log", mode="ab")
        self.begin = log.tell()
        command = ["setpriv", "--reuid", "nobody", "--regid", "postfix", "--clear-groups", *self.words]
        self.process = subprocess.Popen(command, stdout=log, stderr=log, env=self.environment, cwd="/")
        log.close()
        self.wait_ready()
        return self

    def is_ready(self):
        check(self.process.poll() is None, f"the service ended with {self.process.poll()}: {self.log()[-1000:]}")
        return self.get("readyz")[0] == 200

    def wait_ready(self):
        wait_until(self.is_ready, "the service is not ready")

    def get(self, path):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.around.port['metrics']}/{path}", timeout=10) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, ""
        except OSError:
            return 0, ""

    def metric(self, name):
        """The sum of a metric over its labels."""
        text = self.get("metrics")[1]
        return sum(float(value) for value in re.findall(rf"^{name}(?:{{.*}})? (\S+)$", text, re.M))

    @property
    def pid(self):
        return self.process.pid

    def workers(self):
        return children(self.pid)

    def use(self):
        """Resident memory in MB and descriptors: of the service, and of the workers together."""
        rows = []
        for pid in [self.pid, *self.workers()]:
            try:
                rows.append((status(pid, "VmRSS") / 1024, len(os.listdir(f"/proc/{pid}/fd"))))
            except (OSError, TypeError):
                continue
        return {
            "service_mb": rows[0][0],
            "service_fds": rows[0][1],
            "workers": len(rows) - 1,
            "worker_mb": max((row[0] for row in rows[1:]), default=0),
            "least_worker_mb": min((row[0] for row in rows[1:]), default=0),
            "workers_mb": sum(row[0] for row in rows[1:]),
            "worker_fds": max((row[1] for row in rows[1:]), default=0),
        }

    def log(self):
        with open(self.around.name("serve.log"), errors="replace") as file:
            file.seek(self.begin)
            return file.read()

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        """Ends it as an administrator would; returns its status."""
        if self.process is None or self.process.poll() is not None:
            return self.process and self.process.returncode
        self.process.terminate()
        try:
            return self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise Failure("the service does not end") from None


class Postfix:
    """A separate Postfix in this mount namespace, with the service behind its ports."""

    MAIN = {
        "inet_interfaces": "127.0.0.1", "inet_protocols": "ipv4", "mydestination": "", "myhostname": "gw.test", "mydomain": "test",
        "mynetworks": "127.0.0.0/8", "minimal_backoff_time": "1s", "maximal_backoff_time": "2s", "queue_run_delay": "1s", "alias_maps": "",
        "alias_database": "", "local_recipient_maps": "", "smtp_tls_security_level": "none", "smtpd_tls_security_level": "none",
        "mailbox_size_limit": "0", "compatibility_level": "3.6", "smtpd_relay_restrictions": "permit_mynetworks,reject",
        "message_size_limit": "60000000", "smtputf8_enable": "yes", "smtp_send_xforward_command": "yes", "lmtp_send_xforward_command": "yes",
        "smtpd_authorized_xforward_hosts": "127.0.0.0/8", "lmtp_destination_recipient_limit": "1000", "milter_default_action": "tempfail",
        "maximal_queue_lifetime": "1d", "smtpd_client_connection_count_limit": "0", "smtpd_client_connection_rate_limit": "0",
        "default_destination_concurrency_failed_cohort_limit": "0", "smtpd_soft_error_limit": "1000", "smtpd_hard_error_limit": "2000",
        "internal_mail_filter_classes": "", "in_flow_delay": "0", "notify_classes": "", "smtpd_recipient_limit": "20000", "lmtp_line_length_limit": "0",
        "smtp_line_length_limit": "0",
    }  # fmt: skip

    def __init__(self, around, ports=None, services=""):
        """`ports` maps each port to options of its smtpd; `services` are further lines for master.cf."""
        self.around = around
        for folder in ("/etc/postfix", "/var/spool/postfix", "/var/lib/postfix"):
            copy = around.name(folder.strip("/").replace("/", "-"))
            subprocess.run(["cp", "-a", folder, copy], check=True)
            subprocess.run(["mount", "--bind", copy, folder], check=True)
        port, run = around.port, around.name("run")
        # None of the system's own settings.
        open("/etc/postfix/main.cf", "w").close()
        lines = open("/etc/postfix/master.cf").read()
        lines = re.sub(r"^(smtp|submission|smtps|pickup)\s+(inet|unix.*pickup).*\n(?:[ \t].*\n)*", "", lines, flags=re.M)
        ports = ports or {
            "out_lmtp": f"content_filter=lmtp:unix:{run}/out.lmtp",
            "in_lmtp": f"content_filter=lmtp:unix:{run}/in.lmtp",
            "out_smtp": f"content_filter=smtp:[127.0.0.1]:{port['serve_out']}",
            "in_smtp": f"content_filter=smtp:[127.0.0.1]:{port['serve_in']}",
            "out_milter": f"smtpd_milters=unix:{run}/out.milter",
            "in_milter": f"smtpd_milters=unix:{run}/in.milter",
            "again": "receive_override_options=no_milters,no_unknown_recipient_checks",
        }
        for name, option in ports.items():
            lines += f"127.0.0.1:{port[name]} inet n - n - 200 smtpd\n  -o {option}\n"
        open("/etc/postfix/master.cf", "w").write(lines + services)
        settings = {**self.MAIN, "relayhost": f"[127.0.0.1]:{port['sink']}", "maillog_file": around.name("mail.log")}
        # postsuper warns of a file that a killed process left, and ends if it cannot write this, without root's rights.
        open(around.name("mail.log"), "a").close()
        os.chmod(around.name("mail.log"), 0o666)
        self.call("postconf", "-e", *[f"{key}={value}" for key, value in settings.items()])
        self.call("postconf", "-F", "*/*/chroot=n")
        self.start()

    def call(self, *words, expect=(0,)):
        return self.around.run(list(words), expect=expect)

    def start(self):
        self.call("postfix", "start")

    def stop(self):
        subprocess.run(["postfix", "stop"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def master(self):
        try:
            return int(open("/var/spool/postfix/pid/master.pid").read())
        except (OSError, ValueError):
            return None

    def queue(self):
        """The number of waiting messages; None if that cannot be read now."""
        result = subprocess.run(["postqueue", "-j"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        return len(result.stdout.splitlines()) if result.returncode == 0 else None

    def wait_empty(self, seconds=300):
        def is_empty():
            if self.queue() == 0:
                return True
            subprocess.run(["postqueue", "-f"], stderr=subprocess.DEVNULL)
            time.sleep(0.3)
            return False

        wait_until(is_empty, "the queue does not become empty", seconds)

    def log(self):
        try:
            return open(self.around.name("mail.log"), errors="replace").read()
        except OSError:
            return ""


def send(port, sender, recipients, content, mail=(), rcpt=()):
    """Sends a message; raises the errors of smtplib for a refusal. `content` has CRLF line ends."""
    with smtplib.SMTP("127.0.0.1", port, local_hostname="client.test", timeout=300) as client:
        client.ehlo()
        code, text = client.mail(sender, list(mail))
        if code != 250:
            raise smtplib.SMTPSenderRefused(code, text, sender)
        for recipient in recipients:
            code, text = client.rcpt(recipient, list(rcpt))
            if code != 250:
                raise smtplib.SMTPRecipientsRefused({recipient: (code, text)})
        code, text = client.data(content)
        if code != 250:
            raise smtplib.SMTPDataError(code, text)
        return text.decode(errors="replace")


def message(identifier, to, text, sender="alice@example.com", fields=()):
    lines = [f"Message-ID: <{identifier}@test>", "Date: Mon, 01 Jun 2026 10:00:00 +0000", f"From: {sender}", f"To: {to}", f"Subject: {identifier}", *fields, "", text, ""]
    return "\r\n".join(lines).encode("utf-8", "surrogateescape")
