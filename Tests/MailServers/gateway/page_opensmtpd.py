"""docs/opensmtpd.md. Debian's OpenSMTPD 6.8 cannot use TLS with its libcrypto, so its users cannot log in: `senders <submitters>` is only parsed."""

import glob
import os
import shutil
import subprocess

from host import SINK, MissingPackage, step
from listings import Page, changed
from page_postfix import ALL, CERTIFICATE, KEY
from surroundings import check

# What the test changes in the listing: no TLS and no login, and all mail goes to the sink.
CHANGES = {
    f'pki mail.example.org cert "{CERTIFICATE}"\n': "",
    f'pki mail.example.org key "{KEY}"\n': "",
    " tls-require pki mail.example.org auth senders <submitters> tag submission": " tag submission",
    " tls pki mail.example.org tag incoming": " tag incoming",
    "match tag submission auth from any": "match tag submission from any",
    'action "deliver" maildir': f'action "deliver" relay host smtp://127.0.0.1:{SINK}',
    'action "send" relay\n': f'action "send" relay host smtp://127.0.0.1:{SINK}\n',
}
START = "#!/bin/sh\nsetsid /usr/sbin/smtpd -d >/var/log/smtpd.log 2>&1 </dev/null &\n"


def opensmtpd(host):
    install(host)
    for commands in Page("postfix.md").all("sh", ALL):
        if "postconf" not in commands:
            host.shell(changed(commands, {"adduser postfix smime\n": ""}) if "adduser" in commands else commands)
    page = Page("opensmtpd.md")
    host.write("/etc/smime/serve.conf", page.one("serve.conf"))
    host.make_tls(CERTIFICATE, KEY)
    os.chmod(KEY, 0o600)
    host.write("/etc/smtpd-senders", "alice alice@example.org\n")
    step("opensmtpd: the listing as printed is valid")
    host.write("/etc/smtpd.conf", page.one("smtpd.conf"), 0o600)
    check("configuration OK" in host.run("/usr/sbin/smtpd", "-n"), "smtpd -n")
    host.write("/etc/smtpd.conf", changed(page.one("smtpd.conf"), CHANGES), 0o600)
    step("opensmtpd: the page's commands and its check")
    host.check_commands(page.one("sh"), "^ok$")
    for port in (25, 587, 10026):
        host.wait_port(port)
    host.outgoing("opensmtpd", lambda to, content: host.send("alice@example.org", to, content, 587))
    host.incoming("opensmtpd", lambda content: host.send("bob@example.com", "alice@example.org", content, 25), decrypts=True)
    step("opensmtpd: port 25 sends nothing to other hosts")
    content = host.mail("refused", "bob@example.com", "Refused.")
    refusal = host.is_refused("alice@example.org", "bob@example.com", content, 25)
    check(refusal and "55" in refusal, f"port 25 relays: {refusal}")
    filter_packets(host, page)


def filter_packets(host, page):
    if not shutil.which("nft"):
        return step("opensmtpd: nft is not installed: the listing for nftables is not tried")
    step("opensmtpd: nftables keeps other users away from the gateway, and not OpenSMTPD")
    host.write(host.name("nftables"), page.one("nftables"))
    host.run("nft", "-f", host.name("nftables"))
    for user, wanted in (("nobody", False), ("opensmtpd", True)):
        words = ["runuser", "-u", user, "--", "curl", "-s", "-m", "10", "telnet://127.0.0.1:10025"]
        reached = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        check((b"220 " in reached.stdout) == wanted, f"{user}: {reached}")
    host.send("alice@example.org", "bob@example.com", host.mail("filtered", "bob@example.com", "Behind the filter."), 587)
    host.check_encrypted(host.wait_for("<filtered@test>", "bob@example.com"), "Behind the filter.")


def install(host):
    """Debian's packages, unpacked, and what their scripts do."""
    debs = glob.glob(os.path.join(os.environ.get("OPENSMTPD_DEBS", ""), "*.deb")) if os.environ.get("OPENSMTPD_DEBS") else []
    if len(debs) < 2:
        raise MissingPackage("no packages of OpenSMTPD (OPENSMTPD_DEBS)")
    for deb in debs:
        host.run("dpkg", "-x", deb, host.name("unpacked"))
    smtpd = host.name("unpacked/usr/sbin/smtpd")
    # Its library may be unpacked as well.
    if "not found" in host.run("ldd", smtpd):
        with open("/etc/ld.so.conf", "a") as file:
            file.writelines(folder + "\n" for folder in glob.glob(host.name("unpacked/usr/lib/*-linux-*")))
        host.run("ldconfig", "-X")
    if "not found" in host.run("ldd", smtpd):
        raise MissingPackage("OpenSMTPD misses libraries")
    host.add_programs(host.name("unpacked/usr/sbin"))
    for user in ("opensmtpd", "opensmtpq"):
        host.run("adduser", "--system", "--group", "--quiet", "--no-create-home", "--home", "/var/lib/opensmtpd/empty", user)
    for folder in ("/var/lib/opensmtpd", "/var/lib/opensmtpd/empty", "/var/spool/smtpd"):
        host.run("install", "-d", "-m", "0711", folder)
    shutil.chown("/usr/sbin/smtpctl", None, "opensmtpq")
    os.chmod("/usr/sbin/smtpctl", 0o2755)
    host.program("start-opensmtpd", START)
