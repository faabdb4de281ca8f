"""A plugin of pytest that runs Kazoo's own tests on servers that are already running.

    ZKSIM_SERVERS=host:port,...  ZKSIM_CONTROL=http://host:port  python -m pytest -p kazoo_cluster ...

With ZKSIM_CONTROL the servers are those of "simrun serve", and tests stop and start them by its control channel.
Without it the servers are real. ZKSIM_PIDS lists their processes, which tests stop with SIGKILL. ZKSIM_RESTART is a
command that starts the server whose number is its argument, and prints the id of the process.
"""

import os
import signal
import subprocess
import sys
import time
import types
import urllib.request

for name in ("OpenSSL", "jks"):  # for certificates, which no test here needs
    try:
        __import__(name)
    except ImportError:
        sys.modules[name] = types.ModuleType(name)

from kazoo.testing import harness  # noqa: E402


class Node:
    """One server, with the interface that Kazoo's harness expects."""

    def __init__(self, number, address):
        self.number = number
        self.address = address
        self.running = True

    @property
    def client_port(self):
        return int(self.address.rsplit(":", 1)[1])

    def _order(self, path):
        body = ("s%d" % self.number).encode()
        url = os.environ["ZKSIM_CONTROL"] + path
        urllib.request.urlopen(urllib.request.Request(url, data=body), timeout=10).close()

    def stop(self):
        if self.running:
            self.running = False
            if "ZKSIM_CONTROL" in os.environ:
                self._order("/kill")
            else:
                os.kill(int(os.environ["ZKSIM_PIDS"].split(",")[self.number - 1]), signal.SIGKILL)
                time.sleep(1)

    def run(self):
        if not self.running:
            self.running = True
            if "ZKSIM_CONTROL" in os.environ:
                self._order("/continue")
            else:
                command = os.environ["ZKSIM_RESTART"].split() + [str(self.number)]
                pids = os.environ["ZKSIM_PIDS"].split(",")
                pids[self.number - 1] = subprocess.check_output(command, text=True).strip()
                os.environ["ZKSIM_PIDS"] = ",".join(pids)
                time.sleep(2)

    def terminate(self):
        """Does nothing: the servers outlive each class of tests."""


class Cluster(list):
    """All servers."""

    def start(self):
        for node in self:
            node.run()

    def terminate(self):
        """Does nothing, like Node.terminate."""

    def get_logs(self):
        return []


CLUSTER = Cluster(Node(i + 1, a) for i, a in enumerate(os.environ["ZKSIM_SERVERS"].split(",")))
harness.get_global_cluster = lambda: CLUSTER
