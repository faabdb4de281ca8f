package org.apache.curator.test;

import java.io.Closeable;
import java.io.File;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Replaces Curator's class of that name: a server of "simrun serve". */
public class TestingServer implements Closeable {
    /** Stopped servers, by their ports. Another object may start one again, with the same data. */
    private static final Map<Integer, Served> STOPPED = new ConcurrentHashMap<>();

    private final InstanceSpec spec;
    private Served served;
    private boolean down;

    public TestingServer() throws Exception {
        this(-1, true);
    }

    public TestingServer(boolean start) throws Exception {
        this(-1, start);
    }

    public TestingServer(int port) throws Exception {
        this(port, true);
    }

    public TestingServer(int port, boolean start) throws Exception {
        this(port, null, start);
    }

    public TestingServer(int port, File folder) throws Exception {
        this(port, folder, true);
    }

    public TestingServer(int port, File folder, boolean start) throws Exception {
        this(new InstanceSpec(folder, port, -1, -1, true, -1), start);
    }

    public TestingServer(InstanceSpec spec, boolean start) throws Exception {
        this.spec = spec;
        if (start) {
            start();
        }
    }

    public int getPort() {
        return spec.getPort();
    }

    public File getTempDirectory() {
        return spec.getDataDirectory();
    }

    public String getConnectString() {
        return spec.getConnectString();
    }

    public synchronized void start() throws Exception {
        Served stopped = STOPPED.remove(spec.getPort());
        if (served == null && stopped != null) {
            served = stopped;
            served.order("/continue", "s1");
        } else if (served == null) {
            served = new Served("127.0.0.1:" + spec.getPort(), 1, spec.getTickTime());
        } else if (down) {
            served.order("/continue", "s1");
        }
        down = false;
    }

    public synchronized void stop() throws IOException {
        if (served != null && !down) {
            served.order("/kill", "s1");
            STOPPED.put(spec.getPort(), served);
            down = true;
        }
    }

    public synchronized void restart() throws Exception {
        stop();
        start();
    }

    @Override
    public synchronized void close() {
        if (served != null && (!down || STOPPED.remove(spec.getPort(), served))) {
            served.close();
        }
        served = null;
    }
}
