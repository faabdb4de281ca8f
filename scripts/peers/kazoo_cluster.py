"""A plugin of pytest that runs Kazoo's own tests on servers that are there already.

    ZKSIM_SERVERS=host:port,...  ZKSIM_CONTROL=http://host:port  python -m pytest -p kazoo_cluster ...

With ZKSIM_CONTROL the servers are those of "simrun serve", and tests that stop or start a server do so by its control
channel. Without it, ZKSIM_PIDS has the processes of real ones, which are stopped with SIGKILL, and ZKSIM_RESTART a
command that starts the one whose number follows it.
"""

import os
import signal
import subprocess
import sys
import time
import types
import urllib.request

for name in ("OpenSSL", "jks"):  # for certificates, which no test needs that runs here
    try:
        __import__(name)
    except ImportError:
        sys.modules[name] = types.ModuleType(name)

from kazoo.testing import harness  # noqa: E402


class Node:
    """One server, as Kazoo's harness knows it."""

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
        """The servers outlive each class of tests."""


class Cluster(list):
    """All of them."""

    def start(self):
        for node in self:
            node.run()

    def terminate(self):
        """See Node.terminate."""

    def get_logs(self):
        return []


CLUSTER = Cluster(Node(i + 1, a) for i, a in enumerate(os.environ["ZKSIM_SERVERS"].split(",")))
harness.get_global_cluster = lambda: CLUSTER
