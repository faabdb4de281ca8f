package example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.CreateMode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Curator repeats a create after a lost connection. The first try may have created a znode. Without protection nobody
 * knows that znode, and a lock built this way is never free again.
 */
class LockTest {
    @RegisterExtension
    final ServeExtension zookeeper = new ServeExtension();

    /** A way to join the queue of a lock. */
    interface Enter {
        void enter(CuratorFramework client) throws Exception;
    }

    /** Returns how many znodes a client has after it has entered once and the reply to its create was lost. */
    int contenders(Enter lock) throws Exception {
        try (CuratorFramework client =
                CuratorFrameworkFactory.newClient(zookeeper.connect(), 10_000, 5_000, new RetryOneTime(10))) {
            client.start();
            client.create().forPath("/lock");
            zookeeper.order("/faults", "lose-reply=1@client=c1,op=create,path=/lock/");
            lock.enter(client);
            assertTrue(zookeeper.order("/quiet", "").contains("\"fault\": \"lose-reply\""), "nothing was tested");
            return client.getChildren().forPath("/lock").size();
        }
    }

    @Test
    void theBrokenLockLeavesAnOrphan() throws Exception {
        assertEquals(2, contenders(
                client -> client.create().withMode(CreateMode.EPHEMERAL_SEQUENTIAL).forPath("/lock/n-")));
    }

    @Test
    void theMendedLockDoesNot() throws Exception {
        assertEquals(1, contenders(client ->
                client.create().withProtection().withMode(CreateMode.EPHEMERAL_SEQUENTIAL).forPath("/lock/n-")));
    }
}
