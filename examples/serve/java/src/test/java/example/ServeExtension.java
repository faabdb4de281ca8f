package example;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** A ZooKeeper for each test: "simrun serve", with its addresses and its controls. */
final class ServeExtension implements BeforeEachCallback, AfterEachCallback {
    private Process process;
    private String control;
    private String connect;

    @Override
    public void beforeEach(ExtensionContext context) throws IOException {
        String simrun = System.getenv().getOrDefault("SIMRUN", "simrun");
        process = new ProcessBuilder(simrun, "serve", "-listen", "127.0.0.1:0", "-control", "127.0.0.1:0").start();
        BufferedReader lines = new BufferedReader(new InputStreamReader(process.getInputStream()));
        for (String line; connect == null && (line = lines.readLine()) != null; ) {
            String[] words = line.split("\\s+");
            if (words[0].equals("control")) {
                control = words[1];
            } else if (words[0].equals("ready")) {
                connect = words[1];
            }
        }
    }

    @Override
    public void afterEach(ExtensionContext context) throws InterruptedException {
        process.destroy();
        process.waitFor();
    }

    String connect() {
        return connect;
    }

    /** Sends an order, and returns the answer, which says what has struck. */
    String order(String path, String body) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create(control + path))
                .POST(HttpRequest.BodyPublishers.ofString(body)).build();
        HttpResponse<String> answer = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
        if (answer.statusCode() != 200) {
            throw new IOException(answer.body());
        }
        return answer.body();
    }
}
