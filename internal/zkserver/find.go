package zkserver

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// EnvZooKeeper is the environment variable that says which ZooKeeper to run: the folder of an unpacked release, or a
// jar. If unset, it is Debian's package.
const EnvZooKeeper = "ZKSIM_ZOOKEEPER"

// ErrUnavailable is in the error of [Start] when this machine has no Java or no ZooKeeper. That error says what is
// missing and what to do about it.
var ErrUnavailable = errors.New("no ZooKeeper server")

// debianJar is where Debian's package zookeeper has the server. Its manifest
// names the jars that it needs.
const debianJar = "/usr/share/java/zookeeper.jar"

// install is what is needed to run a server.
type install struct {
	java      string // executable
	classpath string
}

func find(getenv func(string) string, debianJar string) (install, error) {
	classpath, err := findClasspath(getenv(EnvZooKeeper), debianJar)
	if err != nil {
		return install{}, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	java, err := findJava(getenv("JAVA_HOME"))
	if err != nil {
		return install{}, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return install{java, classpath}, nil
}

func findClasspath(place, debianJar string) (string, error) {
	if place == "" {
		if !isFile(debianJar) {
			return "", fmt.Errorf("%s does not exist; install Debian's package zookeeper, or set %s to an unpacked release or "+
				"a jar",
				debianJar, EnvZooKeeper)
		}
		return jarClasspath(debianJar), nil
	}
	// The servers run in folders of their own.
	place, err := filepath.Abs(place)
	if err != nil {
		return "", err
	}
	complain := func(what string) (string, error) {
		return "", fmt.Errorf("%s=%s %s; set it to the folder of an unpacked release, which has lib/*.jar, or to a jar",
			EnvZooKeeper, place, what)
	}
	info, err := os.Stat(place)
	switch {
	case err != nil:
		return complain("cannot be read (" + errors.Unwrap(err).Error() + ")")
	case !info.IsDir() && strings.HasSuffix(place, ".jar"):
		return jarClasspath(place), nil
	case !info.IsDir():
		return complain("is neither a folder nor a jar")
	}
	jars, err := fs.Glob(os.DirFS(place), "lib/zookeeper*.jar") // the name of place is no pattern
	if err != nil || len(jars) == 0 {
		return complain("has no lib/zookeeper*.jar (a source release?)")
	}
	// conf has the settings of the logger, which otherwise writes every detail.
	return joinPaths(filepath.Join(place, "conf"), filepath.Join(place, "lib", "*")), nil
}

// jarClasspath is the jar and, if there is one next to it, a logger. Without one, ZooKeeper is silent and its deaths
// are hard to explain.
func jarClasspath(jar string) string {
	logger := filepath.Join(filepath.Dir(jar), "slf4j-simple.jar")
	if !isFile(logger) {
		return jar
	}
	return joinPaths(jar, logger)
}

func joinPaths(paths ...string) string {
	return strings.Join(paths, string(filepath.ListSeparator))
}

func findJava(home string) (string, error) {
	if home != "" {
		// LookPath of a path only checks that it can be executed.
		if java, err := exec.LookPath(filepath.Join(home, "bin", "java")); err == nil {
			return filepath.Abs(java)
		}
	}
	java, err := exec.LookPath("java")
	if err != nil {
		return "", errors.New("there is no java in JAVA_HOME/bin or PATH; install a Java runtime (Debian: " +
			"default-jre-headless)")
	}
	return filepath.Abs(java)
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
