"""A lock that repeats a create whose reply was lost, as several libraries have done."""

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
    """The mended lock: its znode has a unique name, so after a lost reply it looks for that name."""
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
    """Returns how many znodes a client has after it has entered once and the reply to its create was lost."""
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
