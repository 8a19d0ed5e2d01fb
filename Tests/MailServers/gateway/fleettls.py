"""The database over TLS, and several processes that learn the same certificate at the same time."""

import os
import shutil
import subprocess

from fleet import SECRET, step
from surroundings import check, message


def tls(fleet):
    step("the database over TLS: only with the right name and authority, and without a configuration of libcrypto from outside")
    database, folder = fleet.database, fleet.name("tls")
    os.mkdir(folder)
    os.chmod(fleet.work, 0o755)
    for name in ("ca", "other"):
        openssl(folder, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", f"{name}.key", "-out", f"{name}.pem", "-days", "30", "-subj", f"/CN={name}")
    openssl(folder, "req", "-newkey", "rsa:2048", "-nodes", "-keyout", "server.key", "-out", "server.csr", "-subj", "/CN=db", "-addext", "subjectAltName=DNS:localhost")
    openssl(folder, "x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-copy_extensions", "copy", "-days", "30", "-out", "server.crt")
    for name in ("server.key", "server.crt"):
        place = os.path.join(database.data(0), name)
        shutil.copy(os.path.join(folder, name), place)
        os.chmod(place, 0o600)
        if os.geteuid() == 0:
            shutil.chown(place, "postgres", "postgres")
    database.configure(0, "ssl = on", "log_connections = on")
    database.control(0, "reload")

    def url(host, authority):
        return f"postgresql://smime_gateway@{host}:{fleet.port('db0')}/mail?sslmode=verify-full&sslrootcert={folder}/{authority}.pem"

    def lists(host, authority, environment=None, expect=(0,)):
        given = {"SMIME_HOME": fleet.gateways[0].home, "SMIME_STORE": url(host, authority), **(environment or {})}
        return fleet.run(["recipient", "list"], given, expect=expect)

    right = lists("localhost", "ca")
    check(b"bob@example.com" in right.stdout, f"{right.stdout}")
    with open(os.path.join(database.folder, "log0"), errors="replace") as log:
        check("SSL enabled" in log.read(), "the connection has no TLS")
    for host, authority in (("127.0.0.1", "ca"), ("localhost", "other")):
        wrong = lists(host, authority, expect=(75,))
        check(b"certificate" in wrong.stderr, f"{host}, {authority}: {wrong.stderr}")
    with open(os.path.join(folder, "evil.cnf"), "w") as file:
        file.write("openssl_conf = a\n[a]\nalg_section = b\n[b]\ndefault_properties = fips=yes\n")
    hostile = {"OPENSSL_CONF": os.path.join(folder, "evil.cnf")}
    # With this configuration libcrypto has no algorithms, so that psql cannot connect.
    psql = [os.path.join(database.bin, "psql"), "-XqAt", "-c", "SELECT 1", url("localhost", "ca")]
    check(subprocess.run(psql, env={**os.environ, **hostile}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode != 0, "psql takes no notice of OPENSSL_CONF")
    check(lists("localhost", "ca", hostile).stdout == right.stdout, "OPENSSL_CONF changes the result")
    database.configure(0, "ssl = off")
    database.control(0, "reload")


def openssl(folder, *words):
    result = subprocess.run(["openssl", *words], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    check(result.returncode == 0, f"openssl {words[0]}: {result.stdout.decode()}")


def eight(fleet):
    step("eight processes with the gateway's role learn the same certificate at the same time")
    name = "long-chain"
    fleet.person(name, "import", f"{fleet.certs}/{name}/{name}.p12", "--password-file", fleet.name("password"))
    sender = f"{name}@example.com"
    signed = fleet.person(name, "sign", "--from", sender, input=message("eight", "alice@example.com", SECRET, sender)).stdout
    words = ["filter", "incoming", "--stdout", "--no-system-anchors", "--revocation", "off", "--authserv-id", "gw.test", "--sender", sender, "--", "alice@example.com"]
    environment = {"PATH": "/usr/bin:/bin", "HOME": fleet.work, "SMIME_HOME": fleet.gateways[0].home, "SMIME_STORE": fleet.database.url()}
    started = [
        subprocess.Popen([fleet.smime, *words], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(8)
    ]
    for process in started:
        process.stdin.write(signed)
        process.stdin.flush()
    # All have begun and wait for the end of the message.
    for process in started:
        process.stdin.close()
        process.stdin = None
    for process in started:
        out, said = process.communicate(timeout=120)
        check(process.returncode == 0 and b"smime=pass" in out, f"{process.returncode}: {said}")
        check(b"not learned" not in said, f"{said}")
    rows = fleet.database.sql(f"SELECT count(*) FROM smime.recipient WHERE address_key = '{sender}'", database="mail")
    check(rows == "1", f"{rows} rows for {sender}")
