package example;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.curator.RetrySleeper;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.barriers.DistributedDoubleBarrier;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.retry.RetryOneTime;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A bug of Curator's own double barrier, in all versions up to 5.9.0. A member loses its connection while it counts the
 * others, and counts again when it has reconnected. The watcher of /barrier/ready is told of both changes. Its
 * notification stays pending until the member waits, and then wakes it. The member takes this for the news that
 * everyone is there, and enters alone.
 */
class BarrierTest {
    private static final int MEMBERS = 2;

    @RegisterExtension
    final ServeExtension zookeeper = new ServeExtension("barrier");

    /** Lets one of two members enter, with a time limit unless that is 0, and returns whether it has entered. */
    private boolean enters(long limitMillis, String plan) throws Exception {
        CountDownLatch reconnected = new CountDownLatch(1);
        RetryOneTime retry = new RetryOneTime(1) {
            @Override
            public boolean allowRetry(int retries, long elapsed, RetrySleeper sleeper) {
                try { // it counts again once it has reconnected, so no timing is needed
                    return reconnected.await(30, TimeUnit.SECONDS);
                } catch (InterruptedException e) {
                    return false;
                }
            }
        };
        try (CuratorFramework client =
                CuratorFrameworkFactory.newClient(zookeeper.connect(), 20_000, 10_000, retry)) {
            client.getConnectionStateListenable().addListener((c, state) -> {
                if (state == ConnectionState.RECONNECTED) {
                    reconnected.countDown();
                }
            });
            client.start();
            if (!plan.isEmpty()) {
                zookeeper.order("/faults", plan);
            }
            DistributedDoubleBarrier barrier = new DistributedDoubleBarrier(client, "/barrier", MEMBERS);
            if (limitMillis > 0) {
                return barrier.enter(limitMillis, TimeUnit.MILLISECONDS);
            }
            barrier.enter();
            return true;
        }
    }

    private void entersAlone(long limitMillis) throws Exception {
        assertTrue(enters(limitMillis, "lose-reply=1@client=c1,op=children,path=/barrier,nth=1"));
        assertTrue(zookeeper.order("/quiet", "").contains("\"fault\": \"lose-reply\""), "nothing was tested");
        zookeeper.assertReported("c1 has entered a barrier of 2, and nobody else was there");
    }

    @Test
    void aMemberEntersAlone() throws Exception {
        entersAlone(0);
    }

    @Test
    void aMemberWithATimeLimitEntersAlone() throws Exception {
        entersAlone(60_000);
    }

    @Test
    void aMemberWhoseConnectionLastsDoesNot() throws Exception {
        assertFalse(enters(200, ""));
    }
}
