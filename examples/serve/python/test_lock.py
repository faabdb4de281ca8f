"""A lock whose create is tried again when its reply is lost, as it was in several libraries."""

import uuid

from kazoo.exceptions import ConnectionLoss, SessionExpiredError


def enter(client, path):
    """The broken lock: it knows only the znode whose create was answered."""
    while True:
        try:
            return client.create(path + "/n-", ephemeral=True, sequence=True, makepath=False)
        except (ConnectionLoss, SessionExpiredError):
            continue


def enter_protected(client, path):
    """The mended one: the name says whose it is, so that a lost reply is made up for by looking."""
    mine = uuid.uuid4().hex
    while True:
        try:
            for name in client.retry(client.get_children, path):
                if name.startswith(mine):
                    return path + "/" + name
            return client.create(path + "/" + mine + "-n-", ephemeral=True, sequence=True)
        except (ConnectionLoss, SessionExpiredError):
            continue


def contenders(zookeeper, lock):
    """How many znodes one client has after it has entered once, with the reply to its create lost."""
    client = zookeeper.client()
    client.ensure_path("/lock")
    zookeeper.order("/faults", "lose-reply=1@client=c1,op=create,path=/lock/")
    lock(client, "/lock")
    assert zookeeper.struck() == ["lose-reply"], "the fault has not happened, so nothing was tested"
    n = len(client.get_children("/lock"))
    client.stop()
    client.close()
    return n


def test_the_broken_lock_leaves_an_orphan(zookeeper):
    assert contenders(zookeeper, enter) == 2


def test_the_mended_lock_does_not(zookeeper):
    assert contenders(zookeeper, enter_protected) == 1
