"""A host for a page of docs/: its own mounts and network, keys in /srv/keys, and a mail server that receives all results."""

import base64
import json
import os
import re
import shutil
import signal
import smtplib
import socket
import ssl
import subprocess
import sys
import threading

from surroundings import check, wait_until

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGING = os.path.join(HERE, "../../../packaging")
SINK = 2525
# Stand-ins for systemd and apt.
SYSTEMCTL = f"""#!/bin/sh
case "$1 $2" in
"start smime" | "restart smime") exec {sys.executable} -B {HERE}/unit.py /var/log/smime.log ;;
"restart postfix") postfix stop; {{ ! test -x /usr/lib/postfix/configure-instance.sh || /usr/lib/postfix/configure-instance.sh -; }} && exec postfix start ;;
*) ! test -x "/usr/bin/start-$2" || exec "/usr/bin/start-$2" ;;
esac
echo "systemctl $* is unknown here" >&2
exit 1
"""
APT = f"""#!/bin/sh
test "$1" = install && exec sh {PACKAGING}/debian/postinst configure
"""


def step(text):
    print(f"pages test: {text}", flush=True)


class MissingPackage(Exception):
    pass


class Host:
    def __init__(self, smime):
        self.work = os.environ["SMIME_PAGES_FOLDER"]
        self.run("ip", "link", "set", "lo", "up")
        self.mount(smime)
        self.make_keys()
        self.prelude = ""
        self.sink("127.0.0.1", SINK)

    def name(self, *parts):
        return os.path.join(self.work, *parts)

    def run(self, *words, expect=(0,), **options):
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        result = subprocess.run(words, **pipes, text=True, errors="replace", **options)
        check(result.returncode in expect, f"{' '.join(words[:6])}: {result.returncode}: {result.stdout[-1500:]}")
        return result.stdout

    def mount(self, smime):
        """Mounts separate folders over those in which the pages and the mail servers write, and over /usr/bin, with smime."""
        for folder in ("/etc", "/run", "/srv", "/var/lib", "/var/spool", "/var/log"):
            own = self.name(folder.strip("/").replace("/", "-"))
            if folder == "/etc":
                self.run("cp", "-a", folder, own)
            else:
                os.mkdir(own, 0o755)
            for part in ("postfix",) if folder in ("/var/lib", "/var/spool") else ():
                self.run("cp", "-a", f"{folder}/{part}", f"{own}/{part}")
            self.run("mount", "--bind", own, folder)
        os.mkdir(self.name("usr"))
        self.run("mount", "--bind", "/usr", self.name("usr"))
        for folder in ("bin", "sbin"):
            self.run("cp", "-as", self.name("usr", folder), self.name(folder))
        for program, text in (("systemctl", SYSTEMCTL), ("apt", APT)):
            self.program(program, text, self.name("bin"))
        shutil.copy(smime, self.name("bin", "smime"))
        os.chmod(self.name("bin", "smime"), 0o755)
        for folder in ("bin", "sbin"):
            self.run("mount", "--bind", self.name(folder), f"/usr/{folder}")

    def add_programs(self, folder):
        """Puts the programs of an unpacked package into /usr/sbin."""
        for name in os.listdir(folder):
            if os.path.lexists(f"/usr/sbin/{name}"):
                os.unlink(f"/usr/sbin/{name}")
            shutil.copy(os.path.join(folder, name), f"/usr/sbin/{name}", follow_symlinks=False)

    def program(self, name, text, folder="/usr/bin"):
        path = os.path.join(folder, name)
        if os.path.lexists(path):
            os.unlink(path)
        with open(path, "w") as file:
            file.write(text)
        os.chmod(path, 0o755)

    def write(self, path, text, mode=0o644):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)
        os.chmod(path, mode)

    def make_keys(self):
        """An authority, Alice with an account, and Bob to whom she writes. The pages import from /srv/keys; Bob's store is in `bob`."""
        os.makedirs("/srv/keys")
        folder, authority = self.name("keys"), ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial"]
        os.mkdir(folder)

        def openssl(*words):
            self.run("openssl", *words, cwd=folder)

        openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "ca.key", "-out", "ca.pem", "-days", "30", "-subj", "/CN=company CA")
        self.write(f"{folder}/password", "test\n")
        for person, domain in (("alice", "example.org"), ("bob", "example.com")):
            self.write(f"{folder}/extensions", "basicConstraints=critical,CA:FALSE\nkeyUsage=critical,digitalSignature,keyEncipherment\n"
                       f"extendedKeyUsage=emailProtection\nsubjectAltName=email:{person}@{domain}\n")  # fmt: skip
            openssl("req", "-newkey", "rsa:2048", "-nodes", "-keyout", f"{person}.key", "-out", f"{person}.csr", "-subj", f"/CN={person}")
            openssl("x509", "-req", "-in", f"{person}.csr", "-days", "30", *authority, "-extfile", "extensions", "-out", f"{person}.pem")
            openssl("pkcs12", "-export", "-passout", "pass:test", "-inkey", f"{person}.key", "-in", f"{person}.pem", "-out", f"{person}.p12")
        for file, name in (("alice.p12", "alice.p12"), ("password", "alice.password"), ("bob.pem", "bob.pem"), ("ca.pem", "company-ca.pem")):
            shutil.copy(f"{folder}/{file}", f"/srv/keys/{name}")
            os.chmod(f"/srv/keys/{name}", 0o644)
        self.bob("import", f"{folder}/bob.p12", "--password-file", f"{folder}/password")
        self.bob("import", f"{folder}/ca.pem", "--trust")
        self.bob("import", f"{folder}/alice.pem")

    def bob(self, *words):
        return self.run("/usr/bin/smime", *words, env={**os.environ, "SMIME_HOME": self.name("bob")})

    def make_tls(self, certificate, key):
        os.makedirs(os.path.dirname(certificate), exist_ok=True)
        os.makedirs(os.path.dirname(key), exist_ok=True)
        self.run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate, "-days", "30", "-subj", "/CN=mail.example.org")

    # --- the page's commands ---

    def shell(self, commands, stops=True):
        """Runs commands of a page as root would type them, until one of them fails; an alias lasts."""
        script = self.name("commands")
        self.write(script, "shopt -s expand_aliases\n" + self.prelude + "set -e\n" * stops + commands)
        said = self.run("bash", script, cwd="/srv", expect=(0,) if stops else (0, 1))
        self.prelude += "".join(line + "\n" for line in commands.splitlines() if line.startswith("alias "))
        return said

    def check_commands(self, commands, wanted, allowed="nothing"):
        """Runs the commands with which a page checks the set-up. `doctor` must print neither an error nor a warning about the mail server,
        but for the one that the page names."""
        # `doctor` ends with 1 if it has a warning, such as one about libcrypto's age.
        said = self.shell(commands, stops=False)
        bad = [line for line in said.splitlines() if re.match(r"^(error\b|warning +mta)", line) and line.split()[1] != allowed]
        check(not bad, f"the page's check says: {bad}")
        check(re.search(wanted, said, re.M), f"the page's check does not print {wanted}: {said[-1500:]}")

    # --- mail ---

    def sink(self, address, port):
        """Starts a mail server that accepts everything. All of them write into `received`."""
        os.makedirs(self.name("received"), exist_ok=True)
        process = subprocess.Popen([sys.executable, f"{HERE}/sink.py", str(port), self.name("received"), address])
        wait_until(lambda: self.answers(address, port) or process.poll() is not None, "the sink does not start")
        check(process.poll() is None, "the sink has ended")

    def answers(self, address, port):
        try:
            socket.create_connection((address, port), 5).close()
            return True
        except OSError:
            return False

    def wait_port(self, port, address="127.0.0.1"):
        wait_until(lambda: self.answers(address, port), f"port {port} of {address} does not answer", 30)

    def received(self, text, to):
        """What arrived for `to` and contains `text`: pairs of the sink's entry and the content."""
        found = []
        path = self.name("received", "log")
        for line in open(path) if os.path.exists(path) else ():
            entry = json.loads(line)
            if "taken" in entry and to in entry["recipients"]:
                content = open(self.name("received", entry["taken"]), "rb").read()
                if text.encode() in content:
                    found.append((entry, content))
        return found

    def wait_for(self, text, to):
        found = wait_until(lambda: self.received(text, to), f"'{text}' for {to} does not arrive", 60)
        check(len(found) == 1, f"'{text}' came {len(found)} times")
        return found[0][1]

    def send(self, sender, to, content, port=25, host="127.0.0.1", source=None, login=None, starttls=None):
        """Sends a mail; a login wants TLS, as on the pages. Raises the errors of smtplib."""
        with smtplib.SMTP(host, port, local_hostname="client.example.net", timeout=60, source_address=source and (source, 0)) as client:
            client.ehlo()
            if login if starttls is None else starttls:
                client.starttls(context=ssl._create_unverified_context())
                client.ehlo()
            if login:
                client.login(login, "secret")
            client.sendmail(sender, [to], content)

    def is_refused(self, *words, **options):
        try:
            self.send(*words, **options)
            return False
        except (smtplib.SMTPResponseException, smtplib.SMTPRecipientsRefused) as error:
            return str(error)

    def mail(self, subject, to, text, sender="alice@example.org", fields=()):
        lines = [f"Message-ID: <{subject}@test>", "Date: Mon, 01 Jun 2026 10:00:00 +0000", f"From: {sender}", f"To: {to}", f"Subject: {subject}"]
        return "\r\n".join([*lines, *fields, "", text, ""]).encode()

    def from_bob(self, subject, verb, text):
        """A mail from Bob to Alice, signed or encrypted."""
        path = self.name("mail.eml")
        with open(path, "wb") as file:
            file.write(self.mail(subject, "alice@example.org", text, "bob@example.com"))
        if os.path.exists(self.name("mail.out")):
            os.unlink(self.name("mail.out"))
        self.bob(*verb.split(), path, "-o", self.name("mail.out"))
        content = open(self.name("mail.out"), "rb").read()
        return content.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")

    # --- checks of the results ---

    def check_signed(self, content, text):
        check(b"\nX-SMIME-Filtered: mail.example.org; count=1" in content, f"no X-SMIME-Filtered: {content[:800]!r}")
        self.check_valid(content, text)

    def check_valid(self, content, text):
        with open(self.name("got.eml"), "wb") as file:
            file.write(content)
        said = self.bob("decrypt" if b"enveloped-data" in content.lower() else "verify", self.name("got.eml"))
        check("Valid: signed by alice@example.org" in said, f"no valid signature: {said[-800:]}")
        check(text in said or text.encode() in content, f"another text: {said[-800:]}")

    def check_encrypted(self, content, text):
        check(text.encode() not in content and b"nveloped" in content, f"not encrypted: {content[:800]!r}")
        self.check_signed(content, text)

    def check_verdict(self, content, verdict):
        check(f"\nAuthentication-Results: mail.example.org; smime={verdict}".encode() in b"\n" + content.replace(b"\r", b""), f"{content[:900]!r}")

    def outgoing(self, name, send):
        """Mail from Alice by `send(to, content)`: signed for herself and for strangers, encrypted for Bob, returned where a rule cannot be kept."""
        step(f"{name}: outgoing mail is signed, encrypted where a certificate is known, and returned where it must be and is not")
        send("alice@example.org", self.mail("to-myself", "alice@example.org", "To myself."))
        self.check_signed(self.wait_for("<to-myself@test>", "alice@example.org"), "To myself.")
        send("bob@example.com", self.mail("to-bob", "bob@example.com", "Meet me at eight."))
        self.check_encrypted(self.wait_for("<to-bob@test>", "bob@example.com"), "Meet me at eight.")
        send("x@bank.example", self.mail("to-bank", "x@bank.example", "A secret."))
        self.wait_for("no usable certificate for x@bank.example", "alice@example.org")
        check(not self.received("to-bank", "x@bank.example"), "it went in clear")
        check("direction=outgoing" in open("/var/log/smime.log").read(), "no line in the service's log")

    def incoming(self, name, send, decrypts):
        """Mail from outside by `send(content)`: with the gateway's verdict and no other."""
        step(f"{name}: incoming mail gets a verdict" + (", and is decrypted" if decrypts else ""))
        forged = b"Authentication-Results: mail.example.org; smime=pass forged\r\n"
        send(forged + self.mail("plain", "alice@example.org", "Hello.", "bob@example.com"))
        content = self.wait_for("<plain@test>", "alice@example.org")
        self.check_verdict(content, "none")
        check(b"forged" not in content, "a forged verdict")
        send(self.from_bob("signed", "sign", "Signed by Bob."))
        self.check_verdict(self.wait_for("<signed@test>", "alice@example.org"), "pass")
        send(self.from_bob("encrypted", "encrypt --sign", "Only for Alice."))
        content = self.wait_for("<encrypted@test>", "alice@example.org")
        check((b"Only for Alice." in content) == decrypts, f"decrypted: {not decrypts}: {content[:900]!r}")
        if decrypts:
            self.check_verdict(content, "pass")

    # --- the end ---

    def tell(self):
        """Prints the logs after a failure."""
        for path in ("/var/log/mail.log", "/var/log/smime.log", "/var/log/exim4/mainlog", "/var/log/smtpd.log", "/var/log/exim4/paniclog"):
            if os.path.exists(path):
                print(f"--- {path}", *[line[:400] for line in open(path, errors="replace").read().splitlines()[-25:]], sep="\n", file=sys.stderr)

    def end(self):
        """Ends all processes of this network namespace but this one."""
        own = os.stat("/proc/self/ns/net").st_ino
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                if int(name) != os.getpid() and os.stat(f"/proc/{name}/ns/net").st_ino == own:
                    os.kill(int(name), signal.SIGKILL)
            except OSError:
                pass


class LoginServer:
    """The service by which Postfix asks Dovecot for a login: every user has the password `secret`."""

    def __init__(self, port):
        server = socket.create_server(("127.0.0.1", port))
        threading.Thread(target=self.serve, args=(server,), daemon=True).start()

    def serve(self, server):
        while True:
            client, _ = server.accept()
            threading.Thread(target=self.talk, args=(client,), daemon=True).start()

    def talk(self, client):
        with client, client.makefile("rw", newline="\n") as stream:
            stream.write("VERSION\t1\t1\nMECH\tPLAIN\tplaintext\nSPID\t1\nCUID\t1\nCOOKIE\t0123456789abcdef0123456789abcdef\nDONE\n")
            stream.flush()
            for line in stream:
                words = line.rstrip("\n").split("\t")
                if words[0] == "AUTH":
                    given = next((word[5:] for word in words if word.startswith("resp=")), "")
                    _, user, password = base64.b64decode(given).decode().split("\0")
                    stream.write(f"OK\t{words[1]}\tuser={user}\n" if password == "secret" else f"FAIL\t{words[1]}\tuser={user}\n")
                    stream.flush()
