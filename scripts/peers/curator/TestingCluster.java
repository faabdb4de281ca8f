package org.apache.curator.test;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.zookeeper.ZooKeeper;

/** Replaces Curator's class of that name: the servers of one "simrun serve", as many as there are specs. */
public class TestingCluster implements Closeable {
    private final List<InstanceSpec> specs;
    private Served served;

    public TestingCluster(int size) {
        this(makeSpecs(size));
    }

    public TestingCluster(InstanceSpec... specs) {
        this(Arrays.asList(specs));
    }

    public TestingCluster(Collection<InstanceSpec> specs) {
        this.specs = new ArrayList<>(specs);
    }

    public TestingCluster(Map<InstanceSpec, Collection<InstanceSpec>> specs) {
        this(specs.keySet());
    }

    public Collection<InstanceSpec> getInstances() {
        return specs;
    }

    public List<TestingZooKeeperServer> getServers() {
        throw new UnsupportedOperationException("a served ensemble has no servers in this process");
    }

    public String getConnectString() {
        return specs.stream().map(InstanceSpec::getConnectString).collect(Collectors.joining(","));
    }

    public void start() throws Exception {
        String listen = specs.stream().map(s -> "127.0.0.1:" + s.getPort()).collect(Collectors.joining(","));
        served = new Served(listen, specs.size(), specs.get(0).getTickTime());
    }

    public void stop() throws IOException {
        close();
    }

    @Override
    public synchronized void close() throws IOException {
        if (served != null) {
            served.close();
            served = null;
        }
    }

    public boolean killServer(InstanceSpec instance) throws Exception {
        return order("/kill", instance);
    }

    public boolean restartServer(InstanceSpec instance) throws Exception {
        return order("/continue", instance);
    }

    private boolean order(String path, InstanceSpec instance) throws Exception {
        int k = specs.indexOf(instance);
        if (k >= 0) {
            served.order(path, "s" + (k + 1));
        }
        return k >= 0;
    }

    public InstanceSpec findConnectionInstance(ZooKeeper client) throws Exception {
        String state = served.order("/state", null);
        Matcher m = Pattern.compile("\"session\": \"0x" + Long.toHexString(client.getSessionId())
                + "\",\\s*\"timeout\": \\d+,\\s*\"server\": \"s(\\d)\"").matcher(state);
        return m.find() ? specs.get(Integer.parseInt(m.group(1)) - 1) : null;
    }

    public static Map<InstanceSpec, Collection<InstanceSpec>> makeSpecs(int size) {
        return makeSpecs(size, true);
    }

    public static Map<InstanceSpec, Collection<InstanceSpec>> makeSpecs(int size, boolean deleteOnClose) {
        List<InstanceSpec> specs = new ArrayList<>();
        for (int i = 0; i < size; i++) {
            specs.add(InstanceSpec.newInstanceSpec());
        }
        Map<InstanceSpec, Collection<InstanceSpec>> map = new LinkedHashMap<>();
        for (InstanceSpec spec : specs) {
            map.put(spec, specs);
        }
        return map;
    }
}
