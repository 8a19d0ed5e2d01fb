"""The three set-ups of docs/postfix.md, and the listings of docs/exchange.md for Postfix."""

import os

from host import SINK, LoginServer, step
from listings import Page, changed, entries
from surroundings import check, wait_until

ALL, USERS, EXCHANGE, PEOPLE = "For all set-ups", "1. Users log in", "2. In front of Exchange or Microsoft 365", "3. Keys with people"
CERTIFICATE, KEY = "/etc/ssl/mail.example.org.pem", "/etc/ssl/private/mail.example.org.key"
# What the page presupposes: Debian's Postfix with TLS, logins and mailboxes. All mail leaves for the sink.
MAIN = f"""compatibility_level = 3.6
myhostname = mail.example.org
mydestination = localhost
mynetworks = 127.0.0.0/8
inet_protocols = ipv4
alias_maps =
alias_database =
smtpd_relay_restrictions = permit_mynetworks permit_sasl_authenticated defer_unauth_destination
smtpd_tls_cert_file = {CERTIFICATE}
smtpd_tls_key_file = {KEY}
smtpd_tls_security_level = may
smtpd_sasl_type = dovecot
smtpd_sasl_path = inet:127.0.0.1:12345
relayhost = [127.0.0.1]:{SINK}
maillog_file = /var/log/mail.log
minimal_backoff_time = 1s
maximal_backoff_time = 2s
queue_run_delay = 1s
"""
MAILBOXES = f"virtual_mailbox_domains = example.org\nvirtual_transport = smtp:[127.0.0.1]:{SINK}\n"


def users(host):
    page = begin(host, MAILBOXES)
    LoginServer(12345)
    host.write("/etc/smime/serve.conf", page.one("serve.conf", USERS))
    write_master(page.one("master.cf", USERS))
    commands, check_ = page.all("sh", USERS)
    host.shell(commands)
    host.wait_port(587)
    step("users: the page's check")
    host.check_commands(check_, "^ok$")
    host.outgoing("users", lambda to, content: host.send("alice@example.org", to, content, 587, login="alice@example.org"))
    host.incoming("users", lambda content: host.send("bob@example.com", "alice@example.org", content, 25), decrypts=True)
    long_line(host)
    step("users: no user sends as another, no user without a login, and port 25 relays for none")
    content = host.mail("refused", "bob@example.com", "Refused.")
    for sender, port, login in (
        ("alice@example.org", 587, "carol@example.org"), ("eve@example.org", 587, "alice@example.org"), ("alice@example.org", 587, None),
        ("alice@example.org", 25, None),
    ):  # fmt: skip
        check(host.is_refused(sender, "bob@example.com", content, port, login=login, starttls=True), f"{login} sends as {sender} by port {port}")
    check(not host.received("<refused@test>", "bob@example.com"), "a refused mail came")
    programs(host, check_)


def long_line(host):
    """Postfix's lmtp client would break the line before the gateway verifies the signature."""
    step("users: a signature over a line of 3000 bytes is valid")
    plain, signed, keys = host.name("long.eml"), host.name("long.signed"), host.name("keys")
    with open(plain, "wb") as file:
        file.write(b"Content-Type: text/html\r\n\r\n" + b"x" * 3000 + b"\r\n")
    host.run("openssl", "cms", "-sign", "-in", plain, "-signer", f"{keys}/bob.pem", "-inkey", f"{keys}/bob.key", "-out", signed)
    header = b"Message-ID: <long@test>\nFrom: bob@example.com\nTo: alice@example.org\nSubject: long\n"
    content = (header + open(signed, "rb").read()).replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
    host.send("bob@example.com", "alice@example.org", content, 25)
    host.check_verdict(host.wait_for("<long@test>", "alice@example.org"), "pass")


def programs(host, check_):
    """The port for programs of the host (docs/postfix-reference.md)."""
    with open("/etc/postfix/master.cf", "a") as file:
        file.write(Page("postfix-reference.md").one("master.cf-programs"))
    host.write("/etc/postfix/programs", "alice@example.org OK\n")
    host.shell("postmap /etc/postfix/programs\nsystemctl restart postfix\n")
    host.wait_port(10587)
    step("users: the port for programs signs for the listed sender, and takes mail from no other")
    host.check_commands(check_, "^ok$")
    host.send("alice@example.org", "eve@example.net", host.mail("program", "eve@example.net", "By a program."), 10587)
    host.check_signed(host.wait_for("<program@test>", "eve@example.net"), "By a program.")
    refusal = host.is_refused("eve@example.org", "eve@example.net", host.mail("refused2", "eve@example.net", "Refused."), 10587)
    check(refusal and "55" in refusal, f"eve sends: {refusal}")


def exchange(host):
    for address in ("192.0.2.25", "192.0.2.26", "198.51.100.10", "203.0.113.5"):
        host.run("ip", "address", "add", f"{address}/32", "dev", "lo")
    # Exchange takes mail for its domain.
    host.sink("198.51.100.10", 25)
    # Exchange is another host, which Postfix would not believe of one of its own addresses.
    page = begin(host, "inet_interfaces = 127.0.0.1, 192.0.2.25, 192.0.2.26\n")
    host.write("/etc/smime/serve.conf", page.one("serve.conf", USERS))
    first = entries(page.one("master.cf", USERS))
    ports = page.one("master.cf-exchange", EXCHANGE)
    write_master("".join(text for name, text in first.items() if name not in ("submission inet", "smtp inet")) + ports)
    commands, check_ = page.all("sh", EXCHANGE)
    host.shell(commands)
    wait_until(lambda: host.answers("192.0.2.26", 25), "Postfix does not answer")
    step("exchange: the page's check")
    host.check_commands(check_, "^Mail queue is empty$")
    send = lambda to, content: host.send("alice@example.org", to, content, 25, "192.0.2.26", "198.51.100.10")  # noqa: E731
    host.outgoing("exchange", send)
    host.incoming("exchange", lambda content: host.send("bob@example.com", "alice@example.org", content, 25, "192.0.2.25", "203.0.113.5"), decrypts=True)
    step("exchange: other hosts and other senders are refused")
    content = host.mail("refused", "bob@example.com", "Refused.")
    for sender, address, source in (
        ("alice@example.org", "192.0.2.26", "203.0.113.5"), ("alice@example.net", "192.0.2.26", "198.51.100.10"),
        ("alice@example.org", "192.0.2.25", "203.0.113.5"), ("alice@example.org", "192.0.2.25", "198.51.100.10"),
    ):  # fmt: skip
        check(host.is_refused(sender, "bob@example.com", content, 25, address, source), f"{source} sends as {sender} by {address}")
    tenant(host, "".join(text for name, text in entries(ports).items() if not name.startswith("192.0.2.26")), first)


def tenant(host, ports, first):
    """Microsoft 365: only mail with the organization's number passes."""
    page = Page("exchange.md")
    section = "An address is not enough"
    others = "".join(text for name, text in first.items() if name not in ("submission inet", "smtp inet"))
    write_master(others + ports + page.one("master.cf-tenant", section))
    host.write("/etc/postfix/tenant", page.one("tenant", section))
    host.write("/etc/postfix/microsoft-networks", "198.51.100.0/24 yes\n")
    host.shell("systemctl restart postfix")
    wait_until(lambda: host.answers("192.0.2.26", 25), "Postfix does not answer")
    step("exchange: of Microsoft's customers only the one with the number in the listing passes")

    def send(name, number, **options):
        fields = [f"X-MS-Exchange-CrossTenant-Id: {number}"] if number else []
        host.send("alice@example.org", "bob@example.com", host.mail(name, "bob@example.com", "Tenant.", fields=fields), 25, "192.0.2.26",
                  "198.51.100.10", starttls=True)  # fmt: skip

    send("tenant", "01234567-89ab-cdef-0123-456789abcdef")
    host.check_encrypted(host.wait_for("<tenant@test>", "bob@example.com"), "Tenant.")
    for name, number in (("other-tenant", "11111111-89ab-cdef-0123-456789abcdef"), ("no-tenant", None)):
        send(name, number)
        check("this is not mail of our organization" in host.wait_for(f"<{name}@test>", "alice@example.org").decode(), "another bounce")
        check(not host.received(f"<{name}@test>", "bob@example.com"), f"{name} passes")


def people(host):
    page = begin(host, MAILBOXES)
    host.write("/etc/smime/serve.conf", page.one("serve.conf-milter", PEOPLE))
    host.shell(page.one("postconf-milter", PEOPLE))
    host.shell("systemctl start smime\nsystemctl restart postfix\n")
    host.wait_port(25)
    step("people: the page's check")
    host.check_commands(page.one("sh", PEOPLE), "^ok$", allowed="mta-relay")
    host.incoming("people", lambda content: host.send("bob@example.com", "alice@example.org", content, 25), decrypts=False)
    step("people: mail waits while the gateway is unavailable")
    host.shell("kill -9 $(cat /run/smime.pid)")
    wait_until(lambda: not os.path.exists(f"/proc/{open('/run/smime.pid').read()}"), "it does not end", 10)
    refusal = host.is_refused("bob@example.com", "alice@example.org", host.mail("later", "alice@example.org", "Later.", "bob@example.com"), 25)
    check(refusal and "451" in str(refusal), f"no 451: {refusal}")


def begin(host, more):
    """Debian's Postfix, then the page's first section."""
    host.make_tls(CERTIFICATE, KEY)
    host.write("/etc/postfix/main.cf", MAIN + more)
    host.run("cp", "/usr/share/postfix/master.cf.dist", "/etc/postfix/master.cf")
    page = Page("postfix.md")
    for commands in page.all("sh", ALL):
        host.shell(commands)
    return page


def write_master(text):
    """Writes the page's entries in place of `smtp inet` and `submission inet`, as the page says."""
    kept = entries(open("/usr/share/postfix/master.cf.dist").read())
    for name in ("smtp inet", "submission inet"):
        kept.pop(name, None)
    with open("/etc/postfix/master.cf", "w") as file:
        file.write("".join(line for line in kept.values() if not line.startswith("#")) + text)
