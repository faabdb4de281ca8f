package example;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Starts a "simrun serve" for each test, and gives its address and its control channel. */
final class ServeExtension implements BeforeEachCallback, AfterEachCallback {
    private static final String SIMRUN = System.getenv().getOrDefault("SIMRUN", "simrun");

    private final String shown;
    private Path test;
    private Process process;
    private BufferedReader lines;
    private String control;
    private String connect;

    ServeExtension() {
        this("");
    }

    /**
     * Makes a server that records its requests, and writes a page if something is reported. Both have the name of the
     * test, in a folder below $ZKSIM_PAGES or, if that is not set, below target/pages.
     */
    ServeExtension(String shown) {
        this.shown = shown;
    }

    @Override
    public void beforeEach(ExtensionContext context) throws IOException {
        List<String> command =
                new ArrayList<>(List.of(SIMRUN, "serve", "-listen", "127.0.0.1:0", "-control", "127.0.0.1:0"));
        if (!shown.isEmpty()) {
            Path pages = Path.of(System.getenv().getOrDefault("ZKSIM_PAGES", "target/pages"));
            // Each test has its own, so that one does not overwrite what another has shown.
            test = Files.createDirectories(pages.resolve(shown)).resolve(context.getRequiredTestMethod().getName());
            command.addAll(List.of("-o", test.toString(), "-record", recording()));
        }
        process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        lines = new BufferedReader(new InputStreamReader(process.getInputStream()));
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

    /** Sends an order, and returns the answer, which lists the faults that have struck. */
    String order(String path, String body) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create(control + path))
                .POST(HttpRequest.BodyPublishers.ofString(body)).build();
        HttpResponse<String> answer = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
        if (answer.statusCode() != 200) {
            throw new IOException(answer.body());
        }
        return answer.body();
    }

    /** Reports a violation, and asserts that the judgement, the page and a replay of the recorded requests have it. */
    void assertReported(String violation) throws IOException, InterruptedException {
        order("/report", violation);
        String said = judged();
        assertTrue(said.contains("FAIL     reported: " + violation), said);
        assertTrue(Files.readString(test.resolve("index.html")).contains(violation), "the page lacks it");
        assertTrue(replayed().contains(violation), "the replay lacks it");
    }

    /** Ends the server, and returns what it has printed. */
    private String judged() throws InterruptedException {
        process.toHandle().destroy(); // Process.destroy would close the output before it is read
        String said = lines.lines().collect(Collectors.joining("\n"));
        process.waitFor();
        return said;
    }

    private String recording() {
        return test + ".jsonl";
    }

    /** Replays the recorded requests in the simulator, and returns what that prints. */
    private String replayed() throws IOException {
        Process replay = new ProcessBuilder(SIMRUN, "replay", recording()).start();
        return new BufferedReader(new InputStreamReader(replay.getInputStream())).lines()
                .collect(Collectors.joining("\n"));
    }
}
