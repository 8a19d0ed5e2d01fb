"""A separate PostgreSQL with a synchronous standby, in a folder, reached on the loopback interface."""

import glob
import os
import shutil
import subprocess
import tempfile

from surroundings import Failure, check, children, wait_until


def programs():
    """The folder of PostgreSQL's programs; None if it is not installed."""
    found = [path for path in glob.glob("/usr/lib/postgresql/*/bin") if os.access(os.path.join(path, "initdb"), os.X_OK)]
    return max(found, key=lambda path: int(path.split("/")[-2]), default=None)


class Database:
    """Two servers: the first one is the primary until `promote`. The data need not survive a power failure."""

    SETTINGS = ["fsync = off", "full_page_writes = off", "wal_level = replica", "max_connections = 200", "wal_receiver_status_interval = 1s"]

    def __init__(self, ports):
        self.bin = programs()
        self.ports = ports
        self.primary = 0
        self.folder = tempfile.mkdtemp(prefix="smime-pg.", dir="/var/tmp")
        if os.geteuid() == 0:
            shutil.chown(self.folder, "postgres", "postgres")
        self.call("initdb", "-D", self.data(0), "-A", "trust", "-U", "postgres", "-N", "-E", "UTF8", "--locale=C.UTF-8")
        self.configure(0, *self.SETTINGS)
        self.start(0)
        self.sql("CREATE ROLE smime_owner LOGIN", "CREATE ROLE smime_gateway LOGIN", "CREATE DATABASE mail OWNER smime_owner")

    def data(self, number):
        return os.path.join(self.folder, f"data{number}")

    def configure(self, number, *settings):
        own = [f"port = {self.ports[number]}", "listen_addresses = '127.0.0.1'", f"unix_socket_directories = '{self.folder}'"]
        with open(os.path.join(self.data(number), "postgresql.conf"), "a") as file:
            file.write("\n".join([*own, *settings, ""]))

    def call(self, program, *words, expect=0):
        """Runs one of PostgreSQL's programs as another user, because they refuse root."""
        user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] if os.geteuid() == 0 else []
        result = subprocess.run([*user, os.path.join(self.bin, program), *words], cwd="/", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        check(expect is None or result.returncode == expect, f"{program}: {result.stdout.decode(errors='replace')[-500:]}")
        return result.stdout.decode(errors="replace")

    def control(self, number, *words, expect=0):
        # The server must not keep the output pipe open.
        user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] if os.geteuid() == 0 else []
        log = os.path.join(self.folder, f"log{number}")
        command = [*user, os.path.join(self.bin, "pg_ctl"), "-D", self.data(number), "-l", log, "-w", "-t", "120", *words]
        result = subprocess.run(command, cwd="/", stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if expect is not None and result.returncode != expect:
            raise Failure(f"pg_ctl {' '.join(words)}: {open(log).read()[-800:] if os.path.exists(log) else ''}")

    def start(self, number):
        self.control(number, "start")

    def sql(self, *statements, database="postgres", user="postgres"):
        """Runs SQL on the primary; returns the values of the last statement."""
        words = [word for statement in statements for word in ("-c", statement)]
        return self.call("psql", "-XqAt", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p", str(self.ports[self.primary]), "-U", user, "-d", database, *words).strip()

    def url(self, user="smime_gateway"):
        """The URL of both servers; the writable one is used."""
        return f"postgresql://{user}@127.0.0.1:{self.ports[0]},127.0.0.1:{self.ports[1]}/mail?target_session_attrs=read-write"

    def add_standby(self):
        """Makes the second server a synchronous standby: it has everything that the primary confirms."""
        self.call("pg_basebackup", "-D", self.data(1), "-R", "-c", "fast", "-d", f"host=127.0.0.1 port={self.ports[0]} user=postgres application_name=standby")
        self.configure(1)
        self.start(1)
        self.configure(0, "synchronous_standby_names = 'standby'", "synchronous_commit = on")
        self.control(0, "reload")
        wait_until(lambda: self.sql("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") == "1", "the standby does not follow")

    def restart(self):
        self.control(self.primary, "-m", "immediate", "restart")

    def stop(self):
        self.control(self.primary, "-m", "immediate", "stop")

    def signal(self, number):
        """Sends a signal to the primary and all its processes."""
        with open(os.path.join(self.data(self.primary), "postmaster.pid")) as file:
            master = int(file.readline())
        for pid in [master, *children(master)]:
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                # A connection's process has just ended.
                check(pid != master, "the primary has ended")

    def promote(self):
        """Kills the primary, and promotes the standby."""
        self.control(0, "-m", "immediate", "stop")
        self.control(1, "promote")
        self.primary = 1

    def end(self):
        for number in (0, 1):
            if os.path.exists(self.data(number)):
                self.control(number, "-m", "immediate", "stop", expect=None)
        shutil.rmtree(self.folder, ignore_errors=True)
