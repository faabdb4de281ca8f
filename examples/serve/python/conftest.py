"""The fixture zookeeper starts a "simrun serve" for each test, and gives its addresses and its control channel."""

import json
import os
import subprocess
import urllib.error
import urllib.request

import pytest
from kazoo.client import KazooClient


class ZooKeeper:
    """A running "simrun serve"."""

    def __init__(self, *flags):
        command = [os.environ.get("SIMRUN", "simrun"), "serve", "-listen", "127.0.0.1:0", "-control", "127.0.0.1:0"]
        self.process = subprocess.Popen(command + list(flags), stdout=subprocess.PIPE, text=True)
        for line in self.process.stdout:
            word, value = line.split(None, 1)
            if word == "control":
                self.control = value.strip()
            if word == "ready":
                self.hosts = value.strip()
                return
        raise RuntimeError("simrun serve has ended")

    def order(self, path, body=""):
        """POSTs an order, and returns the answer, which lists the faults that have struck."""
        request = urllib.request.Request(self.control + path, data=body.encode())
        try:
            with urllib.request.urlopen(request) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as err:
            raise RuntimeError(json.load(err)["error"]) from None

    def struck(self):
        with urllib.request.urlopen(self.control + "/state") as answer:
            return [s["fault"] for s in json.load(answer)["struck"]]

    def client(self):
        client = KazooClient(self.hosts, timeout=10)
        client.start()
        return client

    def close(self):
        self.process.terminate()
        self.process.communicate()


@pytest.fixture
def zookeeper(request):
    """Starts an ensemble for the test. @pytest.mark.serve("-nodes", "3") passes flags to it."""
    mark = request.node.get_closest_marker("serve")
    z = ZooKeeper(*(mark.args if mark else ()))
    yield z
    z.close()


def pytest_configure(config):
    config.addinivalue_line("markers", "serve(*flags): flags of simrun serve")
