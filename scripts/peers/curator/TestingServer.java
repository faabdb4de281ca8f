package org.apache.curator.test;

import java.io.BufferedReader;
import java.io.Closeable;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.HttpURLConnection;
import java.net.URL;
import java.nio.charset.StandardCharsets;

/** Stands in for Curator's class of that name: a server of "simrun serve", which $SIMRUN names. */
public class TestingServer implements Closeable {
    private final InstanceSpec spec;
    private Process process;
    private String control;
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
        if (process == null) {
            int tick = spec.getTickTime() > 0 ? spec.getTickTime() : 2000;
            process = new ProcessBuilder(System.getenv("SIMRUN"), "serve", "-listen", "127.0.0.1:" + spec.getPort(),
                    "-control", "127.0.0.1:0", "-tick", tick + "ms").redirectErrorStream(true).start();
            Process started = process;
            Runtime.getRuntime().addShutdownHook(new Thread(started::destroy));
            BufferedReader lines = new BufferedReader(new InputStreamReader(process.getInputStream()));
            for (String line = lines.readLine(); !line.startsWith("ready"); line = lines.readLine()) {
                if (line.startsWith("control")) {
                    control = line.split("\\s+")[1];
                }
            }
        } else if (down) {
            order("/continue");
        }
        down = false;
    }

    public synchronized void stop() throws IOException {
        if (process != null && !down) {
            order("/kill");
            down = true;
        }
    }

    public synchronized void restart() throws Exception {
        stop();
        start();
    }

    @Override
    public synchronized void close() {
        if (process != null) {
            process.destroy();
            process = null;
        }
    }

    private void order(String path) throws IOException {
        HttpURLConnection c = (HttpURLConnection) new URL(control + path).openConnection();
        c.setDoOutput(true);
        c.getOutputStream().write("s1".getBytes(StandardCharsets.UTF_8));
        if (c.getResponseCode() != 200) {
            throw new IOException(path + ": " + c.getResponseCode());
        }
    }
}
