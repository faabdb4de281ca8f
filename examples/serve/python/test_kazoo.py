"""Two bugs of Kazoo's own recipes (2.11.0). A plan exposes each, and the test reports it, for a page and a recording.

The page is out/NAME/index.html; "simrun replay out/NAME.jsonl" runs the recorded requests again in the simulator.
"""

import json
import os
import subprocess
import threading
import time
import urllib.request

import pytest

from conftest import ZooKeeper


class Shown(ZooKeeper):
    """A server that records its requests, and writes a page if something is reported."""

    def __init__(self, name, *flags):
        os.makedirs("out", exist_ok=True)
        self.page, self.recording = "out/" + name, "out/" + name + ".jsonl"
        super().__init__("-o", self.page, "-record", self.recording, *flags)

    def watched(self):
        """Returns the paths that each client watches, by the name of the client."""
        with urllib.request.urlopen(self.control + "/state") as answer:
            return {s["client"]: s.get("watches") or [] for s in json.load(answer)["sessions"]}

    def judged(self):
        """Ends the server, and returns its output and the page."""
        self.process.terminate()
        said, _ = self.process.communicate()
        with open(self.page + "/index.html") as page:
            return said, page.read()

    def replayed(self):
        """Replays the recorded requests in the simulator, and returns what that prints."""
        command = [os.environ.get("SIMRUN", "simrun"), "replay", self.recording]
        return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False).stdout


def check(zookeeper, violation):
    zookeeper.order("/report", violation)
    said, page = zookeeper.judged()
    assert "FAIL     reported: " + violation in said
    assert violation in page
    assert violation in zookeeper.replayed()


def test_the_queue_loses_an_item():
    """The reply to the delete is lost. The second delete finds no item, so Kazoo believes that somebody else has it."""
    zookeeper = Shown("queue", "-faults", "lose-reply=1@client=c1,op=delete,nth=1")
    client = zookeeper.client()
    queue = client.Queue("/queue")
    queue.put(b"item")
    got = queue.get()
    assert zookeeper.struck() == ["lose-reply"]
    assert got is None and len(queue) == 0
    client.stop()
    client.close()
    check(zookeeper, "an item was put, nobody got it, and the queue is empty")


def test_the_double_barrier_lets_one_wait_for_ever():
    """c1 gets no reply to its create. When it looks again, c2 has come and is leaving, and "ready" is already gone."""
    zookeeper = Shown("barrier", "-faults", "lose-reply=1@client=c1,op=create,path=/barrier/a,nth=1")
    gone = threading.Event()
    c1 = zookeeper.client()
    c1.retry.sleep_func = lambda _: gone.wait()  # c1 waits before it tries again
    c2 = zookeeper.client()

    def barrier(client, name):
        b = client.DoubleBarrier("/barrier", 2)
        b.node_name, b.create_path = name, "/barrier/" + name  # otherwise both are random
        return b

    first = threading.Thread(target=barrier(c1, "a").enter, daemon=True)
    first.start()
    while not zookeeper.struck():
        time.sleep(0.001)
    other = barrier(c2, "b")
    other.enter()
    leaves = threading.Thread(target=other.leave, daemon=True)
    leaves.start()
    while "/barrier/a" not in zookeeper.watched()["c2"]:  # c2 has deleted its znode and waits for c1's
        time.sleep(0.001)
    gone.set()
    while "/barrier/ready" not in zookeeper.watched().get("c1", []):
        time.sleep(0.001)
    zookeeper.order("/quiet", '{"ms": 50}')
    assert first.is_alive() and leaves.is_alive()
    check(zookeeper, "c1 waits in enter for c2, which waits in leave for c1")


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path, monkeypatch):
    """Runs each test in the folder $ZKSIM_PAGES or, if that is not set, in a temporary one."""
    monkeypatch.chdir(os.environ.get("ZKSIM_PAGES", tmp_path))
