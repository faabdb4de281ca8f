package org.apache.curator.test;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.HttpURLConnection;
import java.net.URL;
import java.nio.charset.StandardCharsets;

/** A process of "simrun serve" and its control channel. $SIMRUN names the program. */
class Served {
    private final Process process;
    private String control;

    Served(String listen, int nodes, int tick) throws IOException {
        String containers = System.getProperty("znode.container.checkIntervalMs", "60000");
        process = new ProcessBuilder(System.getenv("SIMRUN"), "serve", "-listen", listen, "-nodes", "" + nodes,
                "-control", "127.0.0.1:0", "-tick", (tick > 0 ? tick : 2000) + "ms", "-containers", containers + "ms")
                .redirectErrorStream(true).start();
        Runtime.getRuntime().addShutdownHook(new Thread(process::destroy));
        BufferedReader lines = new BufferedReader(new InputStreamReader(process.getInputStream()));
        String line = lines.readLine(), said = "";
        for (; line != null && !line.startsWith("ready"); line = lines.readLine()) {
            said += line + "; ";
            if (line.startsWith("control")) {
                control = line.split("\\s+")[1];
            }
        }
        if (line == null) {
            throw new IOException("no server: " + said);
        }
    }

    /** Sends an order such as "/kill" for a server such as "s1". Without a server it asks, as for "/state". */
    String order(String path, String server) throws IOException {
        HttpURLConnection c = (HttpURLConnection) new URL(control + path).openConnection();
        if (server != null) {
            c.setDoOutput(true);
            c.getOutputStream().write(server.getBytes(StandardCharsets.UTF_8));
        }
        if (c.getResponseCode() != 200) {
            throw new IOException(path + ": " + read(c.getErrorStream()));
        }
        return read(c.getInputStream());
    }

    private static String read(InputStream in) throws IOException {
        return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }

    void close() {
        process.destroy();
        try {
            process.waitFor(); // then its port is free
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
