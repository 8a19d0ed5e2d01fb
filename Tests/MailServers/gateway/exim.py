"""The service behind Exim, which uses BDAT and treats DSN, 8-bit and long lines in its own way."""

import email
import os
import re
import shutil
import subprocess

from delivery import decrypt, verify
from surroundings import Service, check, message, send, step, wait_until

CONFIGURATION = """
primary_hostname = gw.test
spool_directory = WORK/spool
log_file_path = WORK/log/%slog
local_interfaces = 127.0.0.1
daemon_smtp_ports = OUT : IN : AGAIN
tls_advertise_hosts =
dsn_advertise_hosts = *
smtputf8_advertise_hosts = *
chunking_advertise_hosts = *
message_size_limit = 60M
keep_environment =
never_users =
exim_path = EXIM
log_selector = +smtp_confirmation +received_recipients
acl_smtp_rcpt = accept
acl_smtp_data = accept
begin routers
outgoing:
  driver = manualroute
  condition = ${if eq{$received_port}{OUT}}
  route_list = * 127.0.0.1
  self = send
  transport = outgoing
incoming:
  driver = manualroute
  condition = ${if eq{$received_port}{IN}}
  route_list = * 127.0.0.1
  self = send
  transport = incoming
send:
  driver = manualroute
  route_list = * 127.0.0.1
  self = send
  transport = remote
begin transports
outgoing:
  driver = smtp
  port = SERVE_OUT
  allow_localhost
  multi_domain
  max_rcpt = 0
  hosts_try_chunking = *
incoming:
  driver = lmtp
  socket = RUN/in.lmtp
  batch_max = 1000
  user = Debian-exim
  group = postfix
remote:
  driver = smtp
  port = SINK
  allow_localhost
begin retry
* * F,1h,1s
"""


def run(around):
    folder = os.environ.get("EXIM_DEBS", "")
    debs = [os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".deb")] if os.path.isdir(folder) else []
    if not any("exim4-daemon-light" in deb for deb in debs):
        return step("no packages of Exim (EXIM_DEBS): left out")
    for deb in debs:
        around.run(["dpkg", "-x", deb, around.name("unpacked")])
    around.start_sink()
    around.service = Service(around).start()
    exim = start(around)
    try:
        wait_until(lambda: all(around.is_taken(port) for port in ("out_smtp", "in_smtp", "again")), "Exim does not start")
        deliver(around)
    finally:
        exim.kill()
        for line in open(around.name("log", "mainlog")).read().splitlines()[-15:] if os.environ.get("SMIME_TEST_TELL") else []:
            print(line)


def start(around):
    shutil.copytree("/etc", around.name("etc"), symlinks=True)
    subprocess.run(["mount", "--bind", around.name("etc"), "/etc"], check=True)
    for path, line in (("/etc/passwd", "Debian-exim:x:64990:64990::/nonexistent:/usr/sbin/nologin\n"), ("/etc/group", "Debian-exim:x:64990:\n")):
        if "Debian-exim:" not in open(path).read():
            open(path, "a").write(line)
    os.makedirs("/etc/exim4", exist_ok=True)
    exim = around.name("unpacked/usr/sbin/exim4")
    words = {"WORK": around.work, "RUN": around.name("run"), "SERVE_OUT": around.port["serve_out"], "SINK": around.port["sink"], "EXIM": exim,
             "OUT": around.port["out_smtp"], "IN": around.port["in_smtp"], "AGAIN": around.port["again"]}  # fmt: skip
    with open("/etc/exim4/exim4.conf", "w") as file:
        file.write(re.sub(r"\b(?:WORK|RUN|SERVE_OUT|SINK|EXIM|OUT|IN|AGAIN)\b", lambda found: str(words[found[0]]), CONFIGURATION))
    os.chmod("/etc/exim4/exim4.conf", 0o644)
    for name in ("spool", "log"):
        os.mkdir(around.name(name))
        shutil.chown(around.name(name), "Debian-exim", "Debian-exim")
    return subprocess.Popen([exim, "-bdf", "-q5s"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def deliver(around):
    step("Exim: signed and encrypted, by BDAT")
    text = b"Meet me at ten."
    send(around.port["out_smtp"], "alice@example.com", ["bob@example.com", "eve@example.net"], message("exim", "bob@example.com", text.decode()))
    decrypt(around, around.wait_for("<exim@test>", "bob@example.com")[0], text)
    verify(around, around.wait_for("<exim@test>", "eve@example.net")[0], text)
    main = open(around.name("log", "mainlog")).read()
    check(re.search(r"=> bob@example\.com .* K .*C=\"250", main), f"Exim does not use BDAT: {main}")
    step("Exim: a message of several chunks, a bounce, and a verdict by LMTP")
    lines = b"".join(b"." * (number % 4) + b"%d " % number + b"x" * (number % 70) + b"\r\n" for number in range(60_000))
    content = message("exim-large", "x@plain.test", "BODY").replace(b"BODY\r\n", lines)
    send(around.port["out_smtp"], "alice@example.com", ["x@plain.test", "eve@example.net"], content)
    check(around.content(around.wait_for("<exim-large@test>", "x@plain.test")[0]).endswith(lines), "another body")
    signed = email.message_from_bytes(verify(around, around.wait_for("<exim-large@test>", "eve@example.net")[0], b""))
    check(signed.get_payload(decode=True) == lines, "another body is signed")
    send(around.port["out_smtp"], "alice@example.com", ["x@must.test"], message("exim-refused", "x@must.test", "Secret."))
    around.wait_for("no usable certificate for x@must.test", "alice@example.com")
    forged = message("exim-in", "carol@example.com", "Hello.", "bob@example.com", ["Authentication-Results: gw.test; smime=pass forged"])
    send(around.port["in_smtp"], "bob@example.com", ["carol@example.com", "dana@example.com"], forged)
    found = around.content(around.wait_for("<exim-in@test>")[0])
    check(b"Authentication-Results: gw.test; smime=none" in found and b"forged" not in found, f"{found[:600]!r}")
    check(b"count=" in found, "no mark of the filter")
