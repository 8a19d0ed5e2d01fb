"""Starts the service as systemd does: by packaging/systemd/smime.service, until it says that it is ready. `unit.py LOG`"""

import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import time

UNIT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../packaging/systemd/smime.service")
PID, NOTIFY = "/run/smime.pid", "/run/smime.notify"


def stop():
    try:
        pid = int(open(PID).read())
        os.kill(pid, signal.SIGTERM)
        while os.path.exists(f"/proc/{pid}") and open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0] != "Z":
            time.sleep(0.05)
    except OSError:
        pass


def start(log):
    unit = open(UNIT).read()

    def value(key):
        return re.search(rf"^{key}=(.*)$", unit, re.M)[1]

    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8"}
    user, group, folder = value("User"), value("Group"), f"/run/{value('RuntimeDirectory')}"
    for word in [value("Environment"), *shlex.split(open(value("EnvironmentFile")).read(), comments=True)]:
        key, text = word.split("=", 1)
        environment[key] = text
    words = []
    for word in value("ExecStart").split():
        words += environment.get(word[1:], "").split() if word.startswith("$") else [word]
    subprocess.run(["install", "-d", "-o", user, "-g", group, "-m", value("RuntimeDirectoryMode"), folder], check=True)
    if os.path.exists(NOTIFY):
        os.unlink(NOTIFY)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify, open(log, "ab") as output:
        notify.bind(NOTIFY)
        os.chmod(NOTIFY, 0o777)
        notify.settimeout(0.2)
        environment["NOTIFY_SOCKET"] = NOTIFY
        service = subprocess.Popen(
            words, env=environment, cwd="/", stdin=subprocess.DEVNULL, stdout=output, stderr=output, user=user, group=group,
            extra_groups=[], umask=int(value("UMask"), 8), start_new_session=True,
        )  # fmt: skip
        open(PID, "w").write(str(service.pid))
        end = time.time() + 120
        while time.time() < end and service.poll() is None:
            try:
                if b"READY=1" in notify.recv(4096):
                    return
            except TimeoutError:
                pass
    sys.exit(f"the service does not start: {service.poll()}")


if __name__ == "__main__":
    stop()
    start(sys.argv[1])
