package example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.RetryNTimes;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A bug of Curator's own mutex, and of all recipes with a protected create, in 5.9.0. Before a protected create is
 * repeated, the client looks for the znode of the first try. This shares the retry loop of the create (CURATOR-559), so
 * the loop is over once the client has looked. If the second try loses its connection, too, there is no third: the
 * create returns null, as if it had succeeded, and acquire throws a NullPointerException. The znode of the second try
 * stays, and nobody gets the lock as long as the session lives.
 */
class MutexTest {
    @RegisterExtension
    final ServeExtension zookeeper = new ServeExtension("mutex");

    private CuratorFramework client() throws Exception {
        CuratorFramework client =
                CuratorFrameworkFactory.newClient(zookeeper.connect(), 20_000, 10_000, new RetryNTimes(5, 10));
        client.start();
        client.blockUntilConnected();
        return client;
    }

    @Test
    void aConnectionThatIsLostTwiceLocksEveryoneOut() throws Exception {
        try (CuratorFramework a = client(); CuratorFramework b = client()) {
            a.create().forPath("/lock");
            zookeeper.order("/faults",
                    "lose-request=1@client=c1,op=create,nth=1 lose-reply=1@client=c1,op=create,nth=2");
            InterProcessMutex first = new InterProcessMutex(a, "/lock");
            assertThrows(NullPointerException.class, first::acquire);
            assertFalse(first.isAcquiredInThisProcess());
            assertFalse(new InterProcessMutex(b, "/lock").acquire(1, TimeUnit.SECONDS));
            String struck = zookeeper.order("/quiet", "");
            assertTrue(struck.contains("\"fault\": \"lose-request\""), struck);
            assertTrue(struck.contains("\"fault\": \"lose-reply\""), struck);
            zookeeper.assertReported("c2 does not get the lock, which nobody has");
        }
    }

    @Test
    void aConnectionThatIsLostOnceDoesNot() throws Exception {
        try (CuratorFramework a = client(); CuratorFramework b = client()) {
            a.create().forPath("/lock");
            zookeeper.order("/faults", "lose-reply=1@client=c1,op=create,nth=1");
            InterProcessMutex first = new InterProcessMutex(a, "/lock");
            first.acquire();
            assertEquals(1, a.getChildren().forPath("/lock").size());
            first.release();
            assertTrue(new InterProcessMutex(b, "/lock").acquire(10, TimeUnit.SECONDS));
        }
    }
}
