"""docs/exim.md, in Debian's configuration of Exim."""

import glob
import os
import shutil
import smtplib

from host import SINK, MissingPackage, step
from listings import Page, changed
from page_postfix import ALL
from surroundings import check

# What the page presupposes: logins (each user's password is `secret`), and deliveries to mailboxes and other hosts, which all go to the sink.
DEBIAN = """dc_eximconfig_configtype='internet'
dc_other_hostnames='example.org'
dc_local_interfaces='{interfaces}'
dc_readhost=''
dc_relay_domains=''
dc_minimaldns='false'
dc_relay_nets=''
dc_smarthost=''
CFILEMODE='644'
dc_use_split_config='{split}'
dc_hide_mailname=''
dc_mailname_in_oh='true'
dc_localdelivery='mail_spool'
"""
LOGIN = """plain_test:
  driver = plaintext
  public_name = PLAIN
  server_condition = ${if eq{$auth3}{secret}}
  server_set_id = $auth2
  server_prompts = :
"""
ROUTER = f"test_all:\n  driver = manualroute\n  local_parts = !unknown\n  route_list = * 127.0.0.1::{SINK}\n  self = send\n  transport = test_smtp\n"
TRANSPORT = "test_smtp:\n  driver = smtp\n  allow_localhost\n"
# The values for local_interfaces and dc_local_interfaces on the page.
INTERFACES = "0.0.0.0.25 ; 0.0.0.0.587 ; 127.0.0.1.10026"
START = """#!/bin/sh
! test -e /run/exim4/exim.pid || { kill "$(cat /run/exim4/exim.pid)"; sleep 1; }
exec /usr/sbin/exim4 -bd -q5s >/dev/null 2>&1
"""


def exim(host):
    install(host)
    host.run("ip", "address", "add", "203.0.113.5/32", "dev", "lo")
    first = [text for text in Page("postfix.md").all("sh", ALL) if "postconf" not in text]
    for number, commands in enumerate(first):
        host.shell(changed(commands, {"adduser postfix smime": "adduser Debian-exim smime"}) if number == 0 else commands)
    page = Page("exim.md")
    check(INTERFACES in page.text, f"the page does not name {INTERFACES}")
    host.write("/etc/smime/serve.conf", page.one("serve.conf"))
    host.write("/etc/exim4/smime-senders", page.one("exim.senders"))
    host.write("/etc/exim4/smime.acl", page.one("exim.acl"))
    step("exim: the page's parts load in Debian's configuration, whole and in files")
    whole(host, page)
    host.write("/etc/exim4/update-exim4.conf.conf", DEBIAN.format(interfaces=INTERFACES, split="true"))
    host.write("/etc/exim4/conf.d/main/000_smime", page.one("exim.main"))
    host.write("/etc/exim4/conf.d/router/050_smime", page.one("exim.routers"))
    host.write("/etc/exim4/conf.d/transport/50_smime", page.one("exim.transports"))
    host.write("/etc/exim4/conf.d/auth/10_test", LOGIN)
    host.write("/etc/exim4/conf.d/router/060_test", ROUTER)
    host.write("/etc/exim4/conf.d/transport/60_test", TRANSPORT)
    step("exim: the page's commands and its check")
    host.check_commands(page.one("sh"), "^ok$")
    for port in (25, 587, 10026):
        host.wait_port(port)
    host.outgoing("exim", lambda to, content: host.send("alice@example.org", to, content, 587, login="alice", starttls=False))
    host.incoming("exim", lambda content: host.send("bob@example.com", "alice@example.org", content, 25, source="203.0.113.5"), decrypts=True)
    step("exim: no user sends as another, and a stranger sends to no other host")
    content = host.mail("refused", "bob@example.com", "Refused.")
    for login, port in (("carol", 587), (None, 587), (None, 25)):
        refusal = host.is_refused("alice@example.org", "bob@example.com", content, port, source="203.0.113.5", login=login, starttls=False)
        check(refusal and "55" in refusal, f"{login} sends as alice by port {port}: {refusal}")
    check(not host.received("<refused@test>", "bob@example.com"), "a refused mail came")
    step("exim: mail of local programs bypasses the gateway")
    host.write(host.name("local.eml"), host.mail("local", "bob@example.com", "From cron.").decode())
    host.run("sh", "-c", f"/usr/sbin/exim4 -i bob@example.com <{host.name('local.eml')}")
    local = host.wait_for("<local@test>", "bob@example.com")
    check(b"From cron." in local and b"pkcs7" not in local, f"local mail was changed: {local[:800]!r}")
    step("exim: non-ASCII addresses are refused at once")
    for sender, to in (("zo\u00eb@example.com", "alice@example.org"), ("bob@example.com", "zo\u00eb@example.org")):
        with smtplib.SMTP("127.0.0.1", 25, local_hostname="client.example.net", timeout=60, source_address=("203.0.113.5", 0)) as client:
            client.ehlo()
            for command in (f"MAIL FROM:<{sender}>", f"RCPT TO:<{to}>", "DATA"):
                client.send(f"{command}\r\n".encode())
                code, said = client.getreply()
            check(code in (503, 550), f"{sender}, {to}: {code} {said}")
    step("exim: an unknown recipient is refused at once")
    refusal = host.is_refused("bob@example.com", "unknown@example.org", content, 25, source="203.0.113.5")
    check(refusal and "55" in refusal, f"unknown@example.org: {refusal}")


def install(host):
    """Debian's packages, unpacked, and what their scripts do."""
    debs = glob.glob(os.path.join(os.environ.get("EXIM_DEBS", ""), "exim4-*.deb")) if os.environ.get("EXIM_DEBS") else []
    if len(debs) < 3:
        raise MissingPackage("no packages of Exim (EXIM_DEBS)")
    for deb in debs:
        host.run("dpkg", "-x", deb, host.name("unpacked"))
    if "not found" in host.run("ldd", host.name("unpacked/usr/sbin/exim4")):
        raise MissingPackage("Exim misses libraries")
    host.add_programs(host.name("unpacked/usr/sbin"))
    os.chmod("/usr/sbin/exim4", 0o4755)
    shutil.rmtree("/etc/exim4", ignore_errors=True)
    shutil.copytree(host.name("unpacked/etc/exim4"), "/etc/exim4")
    host.run("adduser", "--system", "--group", "--quiet", "--allow-bad-names", "--no-create-home", "--home", "/var/spool/exim4", "Debian-exim")
    for folder in ("spool/exim4", "spool/exim4/input", "spool/exim4/db", "spool/exim4/msglog", "log/exim4", "lib/exim4", "run/exim4"):
        host.run("install", "-d", "-o", "Debian-exim", "-g", "Debian-exim", "-m", "0750", f"/var/{folder}")
    host.write("/etc/mailname", "mail.example.org\n")
    host.write("/etc/email-addresses", "")
    host.program("start-exim4", START)


def whole(host, page):
    """The same parts in a configuration that is one file."""
    folder = host.name("whole")
    shutil.copytree("/etc/exim4", folder)
    host.write(f"{folder}/update-exim4.conf.conf", DEBIAN.format(interfaces=INTERFACES, split="false"))
    # The script checks that the first file exists, and reads the second one.
    for path in ("/etc/exim4/exim4.conf.localmacros", f"{folder}/exim4.conf.localmacros"):
        host.write(path, page.one("exim.main"))
    template = open(f"{folder}/exim4.conf.template").read()
    for section in ("routers", "transports"):
        template = changed(template, {f"\nbegin {section}\n": f"\nbegin {section}\n" + page.one(f"exim.{section}")})
    host.write(f"{folder}/exim4.conf.template", template)
    host.run("/usr/sbin/update-exim4.conf", "--confdir", folder, "-o", host.name("generated"))
    host.run("/usr/sbin/exim4", "-C", host.name("generated"), "-bV")
    said = host.run("/usr/sbin/exim4", "-C", host.name("generated"), "-bP", "router_list")
    check(said.split()[0] == "smime_forged", f"the page's routers are not the first ones: {said[:200]}")
    os.unlink("/etc/exim4/exim4.conf.localmacros")
