"""The fleet: gateways, their clients, and the results of the messages."""

import json
import os
import random
import shutil
import smtplib
import subprocess
import sys
import tempfile
import threading
import urllib.error
import urllib.request

from database import Database
from surroundings import HERE, check, is_free, wait_until

SECRET = "This is for nobody else."
# The kinds of messages: the role, the recipients, and those who must get it encrypted; None if it must be refused.
KINDS = [
    ("out", ["bob@example.com"], ["bob@example.com"]),
    ("out", ["bob@example.com", "eve@example.net"], ["bob@example.com"]),
    ("out", ["bob@example.com", "eve@example.net", "p384@example.com", "x@plain.test"], ["bob@example.com", "p384@example.com"]),
    ("out", ["x@plain.test"], []),
    ("out", ["stranger@must.test"], None),
    ("in", ["carol@example.com"], []),
    ("in", ["alice@example.com", "carol@example.com"], []),
    ("learned", ["alice@example.com"], []),
]
GATEWAYS = 4
# The signers of incoming mail, whose certificates are unknown at first.
SIGNERS = ["carol", "dana", "p521", "pss"]


def step(text):
    print(f"fleet test: {text}", flush=True)


class Gateway:
    """`smime serve` with its own home, as on a separate host."""

    def __init__(self, fleet, number):
        self.fleet, self.number, self.process = fleet, number, None
        self.home = fleet.name(f"gateway{number}")
        self.port = {name: fleet.port(f"{name}{number}") for name in ("out", "in", "metrics")}
        self.lock = threading.Lock()

    def take_key(self):
        """Gets the key file from the administrator."""
        os.makedirs(os.path.join(self.home, "key"), mode=0o700, exist_ok=True)
        os.chmod(self.home, 0o700)
        shutil.copy(self.fleet.name("admin", "key", "store.key"), os.path.join(self.home, "key", "new"))
        os.replace(os.path.join(self.home, "key", "new"), os.path.join(self.home, "key", "store.key"))

    def start(self, *more, waits=True, home=None):
        """Starts it with the shared store, or with the one in `home`."""
        hop = f"smtp:127.0.0.1:{self.fleet.port('sink')}"
        words = [
            self.fleet.smime, "serve", "--home", home or self.home, *more, "--no-system-anchors", "--revocation", "off", "--authserv-id", "gw.test",
            "--listen", f"outgoing=smtp:127.0.0.1:{self.port['out']}", "--listen", f"incoming=smtp:127.0.0.1:{self.port['in']}",
            "--next-hop", f"outgoing={hop}", "--next-hop", f"incoming={hop}", "--metrics", f"127.0.0.1:{self.port['metrics']}",
        ]  # fmt: skip
        with open(self.fleet.name(f"log{self.number}"), "ab") as log:
            environment = {**os.environ, "SMIME_STORE_TIMEOUT": "20", **({} if home else {"SMIME_STORE": self.fleet.database.url()})}
            self.process = subprocess.Popen(words, stdout=log, stderr=log, env=environment, cwd="/")
        if waits:
            self.wait_ready()
        return self

    def ready(self):
        """The status and text of /readyz; status 0 while nothing listens."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port['metrics']}/readyz", timeout=10) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()
        except OSError:
            return 0, ""

    def wait_ready(self, status=200):
        def is_so():
            check(self.process.poll() is None, f"gateway {self.number} ended with {self.process.poll()}: {self.log()[-1500:]}")
            return self.ready()[0] == status

        wait_until(is_so, f"gateway {self.number} does not say {status}")
        return self.ready()[1]

    def kill(self):
        self.process.kill()
        self.process.wait()

    def log(self):
        with open(self.fleet.name(f"log{self.number}"), errors="replace") as file:
            return file.read()

    def send(self, role, identifier, sender, recipients, content):
        """Sends like a mail server with a queue id; raises the errors of smtplib."""
        with smtplib.SMTP("127.0.0.1", self.port["out" if role == "out" else "in"], local_hostname="mail.test", timeout=120) as client:
            client.ehlo()
            check(client.docmd("XFORWARD", f"IDENT={identifier}")[0] == 250, "XFORWARD")
            client.sendmail(sender, recipients, content)


class Fleet:
    """A folder with everything; `end` removes it."""

    def __init__(self, smime, certs):
        self.work = tempfile.mkdtemp(prefix="smime-fleet.", dir="/var/tmp")
        self.certs = certs
        self.smime = self.name("smime")
        shutil.copy(smime, self.smime)
        with open(self.name("password"), "w") as file:
            file.write("test\n")
        names = ["sink", "db0", "db1"] + [f"{kind}{number}" for number in range(GATEWAYS) for kind in ("out", "in", "metrics")]
        base = next(base for base in (random.randrange(10000, 29000) for _ in range(200)) if all(is_free(base + n) for n in range(len(names))))
        self.ports = {name: base + number for number, name in enumerate(names)}
        os.mkdir(self.name("received"))
        self.sink = None
        self.gateways = []
        self.database = Database([self.port("db0"), self.port("db1")])
        self.make_store()
        self.gateways = [Gateway(self, number) for number in range(GATEWAYS)]

    def name(self, *parts):
        return os.path.join(self.work, *parts)

    def port(self, name):
        return self.ports[name]

    def make_store(self):
        password = ["--password-file", self.name("password")]
        self.admin("store", "init", "--gateway-role", "smime_gateway")
        self.admin("import", f"{self.certs}/alice/alice.p12", *password)
        self.admin("import", f"{self.certs}/ca/root.pem", "--trust")
        self.admin("import", f"{self.certs}/bob/cert.pem", f"{self.certs}/p384/cert.pem")
        self.admin("policy", "set", "--recipient", "bob@example.com", "--encrypt", "require")
        self.admin("policy", "set", "--recipient", "must.test", "--encrypt", "require", "--override", "stricter")
        self.admin("policy", "set", "--recipient", "plain.test", "--sign", "never", "--encrypt", "never")
        self.admin("policy", "set", "--recipient", "alice@example.com", "--decrypt-at-gateway", "yes")
        for name in ["bob", *SIGNERS]:
            self.person(name, "import", f"{self.certs}/{name}/{name}.p12", *password)
            self.person(name, "import", f"{self.certs}/ca/root.pem", "--trust")
            self.person(name, "import", f"{self.certs}/alice/cert.pem")

    def admin(self, *words, **options):
        """Runs the command on the shared store, as its owner."""
        return self.run(words, {"SMIME_HOME": self.name("admin"), "SMIME_STORE": self.database.url("smime_owner")}, **options)

    def person(self, name, *words, **options):
        """Runs the command on the store of an external correspondent."""
        return self.run(words, {"SMIME_HOME": self.name("people", name)}, **options)

    def run(self, words, environment, expect=(0,), **options):
        for name in ("people", "admin"):
            os.makedirs(self.name(name), mode=0o700, exist_ok=True)
        environment = {"PATH": "/usr/bin:/bin", "HOME": self.work, **environment}
        result = subprocess.run([self.smime, *words], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
        check(result.returncode in expect, f"{' '.join(words[:4])}: {result.returncode}: {(result.stdout + result.stderr).decode(errors='replace')[-800:]}")
        return result

    def start_sink(self):
        self.sink = subprocess.Popen([sys.executable, os.path.join(HERE, "sink.py"), str(self.port("sink")), self.name("received")])
        wait_until(lambda: not is_free(self.port("sink")), "the sink does not start")

    def received(self):
        entries = [json.loads(line) for line in open(self.name("received", "log"))] if os.path.exists(self.name("received", "log")) else []
        return [entry for entry in entries if "taken" in entry]

    def content(self, entry):
        return open(self.name("received", entry["taken"]), "rb").read()

    def having(self, text):
        return [entry for entry in self.received() if text.encode() in self.content(entry)]

    def wait_all_ready(self):
        for gateway in self.gateways:
            gateway.wait_ready()

    def end(self, failed):
        if failed:
            for gateway in self.gateways:
                if os.path.exists(self.name(f"log{gateway.number}")):
                    print(f"--- gateway {gateway.number}", *[line[:300] for line in gateway.log().splitlines()[-12:]], sep="\n", file=sys.stderr)
        for process in [gateway.process for gateway in self.gateways] + [self.sink]:
            if process and process.poll() is None:
                process.kill()
                process.wait()
        self.database.end()
        shutil.rmtree(self.work, ignore_errors=True)


def run(fleet):
    from fleetfire import fire
    from fleetstart import one_store, start
    from fleettls import eight, tls

    count = int(os.environ.get("SMIME_TEST_FLEET", "200"))
    fleet.start_sink()
    start(fleet)
    one_store(fleet)
    tls(fleet)
    eight(fleet)
    fleet.database.add_standby()
    fire(fleet, count)
