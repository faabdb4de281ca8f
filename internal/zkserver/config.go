package zkserver

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf16"
)

// Options are the settings of an Ensemble. The zero value is useful.
type Options struct {
	// Servers is 1 (standalone; also what 0 means) or 3 (a quorum).
	Servers int

	// TickTime is ZooKeeper's unit of time, 500 ms if 0. A session expires
	// between its timeout and one tick later. Whole milliseconds.
	TickTime time.Duration

	// MinSessionTimeout and MaxSessionTimeout bound what clients are granted;
	// 0 leaves ZooKeeper's rule, 2 and 20 ticks. Whole milliseconds.
	MinSessionTimeout, MaxSessionTimeout time.Duration

	// ContainerCheck is how often the leader removes empty containers and
	// outdated TTL nodes; 200 ms if 0, where ZooKeeper's own default is 60 s.
	// Whole milliseconds.
	ContainerCheck time.Duration

	// StartTimeout bounds how long the servers may take to be ready; 2 minutes if 0, because the machine may be busy.
	StartTimeout time.Duration

	// Links makes the servers talk to each other through proxies in this process, so that Part can cut a server off. It
	// is for three servers.
	Links bool

	// Dir is the folder for data and configuration. It is created if missing; data in it from an earlier Ensemble of
	// the same size are used; Stop leaves it alone. "" means a temporary folder that Stop removes.
	Dir string

	// Log, if not nil, gets what the servers log, each line with the server's name in front. It is not used
	// concurrently, or after Stop.
	Log io.Writer
}

const loopback = "127.0.0.1"

// syncLimit is how many ticks the servers wait for each other.
const syncLimit = 5

func (o Options) withDefaults() (Options, error) {
	o.Servers = cmp.Or(o.Servers, 1)
	o.TickTime = cmp.Or(o.TickTime, 500*time.Millisecond)
	o.ContainerCheck = cmp.Or(o.ContainerCheck, 200*time.Millisecond)
	o.StartTimeout = cmp.Or(o.StartTimeout, 2*time.Minute)
	if o.Servers != 1 && o.Servers != 3 {
		return o, fmt.Errorf("zkserver: %d servers: want 1 or 3", o.Servers)
	}
	if o.Links && o.Servers != 3 {
		return o, fmt.Errorf("zkserver: Links of %d servers: want 3", o.Servers)
	}
	for _, d := range []struct {
		name  string
		value time.Duration
	}{
		{"TickTime", o.TickTime}, {"ContainerCheck", o.ContainerCheck}, {"StartTimeout", o.StartTimeout},
		{"MinSessionTimeout", o.MinSessionTimeout}, {"MaxSessionTimeout", o.MaxSessionTimeout},
	} {
		if d.value < 0 || d.value%time.Millisecond != 0 {
			return o, fmt.Errorf("zkserver: %s %v: want whole milliseconds", d.name, d.value)
		}
	}
	if o.MaxSessionTimeout > 0 && o.MinSessionTimeout > o.MaxSessionTimeout {
		return o, errors.New("zkserver: MinSessionTimeout exceeds MaxSessionTimeout")
	}
	if o.Log != nil {
		o.Log = &serialWriter{w: o.Log} // all servers write to it
	}
	return o, nil
}

func (m *member) name() string       { return fmt.Sprintf("server %d", m.id) }
func (m *member) dataDir() string    { return filepath.Join(m.dir, "data") }
func (m *member) configFile() string { return filepath.Join(m.dir, "zoo.cfg") }

// config returns the zoo.cfg of m, which is one of all.
func (o Options) config(m *member, all []*member) string {
	var b strings.Builder
	set := func(key string, value any) { fmt.Fprintf(&b, "%s=%v\n", key, value) }
	set("tickTime", o.TickTime.Milliseconds())
	set("dataDir", escapeProperty(m.dataDir()))
	set("clientPort", m.client)
	set("clientPortAddress", loopback)
	set("admin.enableServer", false)   // otherwise every server wants port 8080
	set("4lw.commands.whitelist", "*") // probes use srvr and conf; only srvr is allowed by default
	set("extendedTypesEnabled", true)  // TTL nodes
	set("maxClientCnxns", 0)           // the default is 60 per address, and all clients share one
	if o.MinSessionTimeout > 0 {
		set("minSessionTimeout", o.MinSessionTimeout.Milliseconds())
	}
	if o.MaxSessionTimeout > 0 {
		set("maxSessionTimeout", o.MaxSessionTimeout.Milliseconds())
	}
	if len(all) > 1 {
		set("initLimit", 10)
		set("syncLimit", syncLimit)
		for _, p := range all {
			quorum, elect := p.quorum, p.elect
			if l := m.links[p.id]; l != nil {
				quorum, elect = l.quorum.port(), l.elect.port()
			}
			set(fmt.Sprintf("server.%d", p.id), fmt.Sprintf("%s:%d:%d", loopback, quorum, elect))
		}
	}
	return b.String()
}

// escapeProperty writes s as a value of a Java properties file, which has escapes and is read as ISO-8859-1.
func escapeProperty(s string) string {
	var b strings.Builder
	for _, u := range utf16.Encode([]rune(s)) {
		switch {
		case u == '\\':
			b.WriteString(`\\`)
		case u < ' ' || u > '~':
			fmt.Fprintf(&b, `\u%04x`, u)
		default:
			b.WriteByte(byte(u))
		}
	}
	return b.String()
}

// command returns the command, not yet started, that runs m in the foreground.
func (e *Ensemble) command(m *member) *exec.Cmd {
	cmd := exec.Command(e.install.java, e.jvmArgs(m)...)
	cmd.Dir = m.dir // a JVM that crashes drops files in its working folder
	// With another locale Java cannot open a folder with an odd name.
	cmd.Env = append(cmd.Environ(), "LC_ALL=C.UTF-8")
	return cmd
}

func (e *Ensemble) jvmArgs(m *member) []string {
	return []string{
		// A small heap and simple tools: these servers live for seconds.
		"-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
		"-XX:+ExitOnOutOfMemoryError", // rather than limp on
		"-XX:-UsePerfData",            // its file stays behind after a kill -9
		"-Dzookeeper.forceSync=no",    // we survive crashes of processes, not of machines
		"-Dzookeeper.preAllocSize=64", // KB, not 64 MB for each log
		fmt.Sprintf("-Dznode.container.checkIntervalMs=%d", e.options.ContainerCheck.Milliseconds()),
		"-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
		"-cp", e.install.classpath,
		"org.apache.zookeeper.server.quorum.QuorumPeerMain", m.configFile(),
	}
}
