package zkserver

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// touch makes an executable file with all its folders and returns its path.
func touch(t *testing.T, elem ...string) string {
	t.Helper()
	path := filepath.Join(elem...)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestFindTakesTheClasspathFromTheEnvironmentOrDebian(t *testing.T) {
	root := t.TempDir()
	debian := touch(t, root, "debian", "zookeeper.jar")
	lonely := touch(t, root, "lonely", "zookeeper.jar")
	logger := touch(t, root, "debian", "slf4j-simple.jar")
	release := filepath.Join(root, "release [3.8]")
	touch(t, release, "lib", "zookeeper-3.8.4.jar")

	for _, c := range []struct{ name, place, want string }{
		{"unset means Debian's jar, with its logger", "", debian + ":" + logger},
		{"a jar with a logger next to it", debian, debian + ":" + logger},
		{"a jar alone", lonely, lonely},
		{"a release", release, filepath.Join(release, "conf") + ":" + filepath.Join(release, "lib", "*")},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := findClasspath(c.place, debian)
			want := strings.ReplaceAll(c.want, ":", string(filepath.ListSeparator))
			if err != nil || got != want {
				t.Errorf("got %q, %v; want %q", got, err, want)
			}
		})
	}
}

func TestFindMakesRelativePlacesAbsolute(t *testing.T) {
	root := t.TempDir()
	jar := touch(t, root, "zk.jar")
	t.Chdir(root)
	got, err := findClasspath("zk.jar", "")
	if err != nil || !filepath.IsAbs(got) || filepath.Base(got) != filepath.Base(jar) {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestFindSaysWhatIsMissingAndWhatToDo(t *testing.T) {
	root := t.TempDir()
	jar := touch(t, root, "zookeeper.jar")
	missing := filepath.Join(root, "missing")
	text := touch(t, root, "notes.txt")
	source := filepath.Join(root, "source")
	touch(t, source, "pom.xml")
	t.Setenv("PATH", missing)

	const setIt = "; set it to the folder of an unpacked release, which has lib/*.jar, or to a jar"
	for _, c := range []struct{ name, place, debian, want string }{
		{"no package", "", missing, missing + " does not exist; install Debian's package zookeeper, or set ZKSIM_ZOOKEEPER " +
			"to an unpacked release or a jar"},
		{"nothing there", missing, jar, "ZKSIM_ZOOKEEPER=" + missing + " cannot be read (no such file or directory)" + setIt},
		{"another file", text, jar, "ZKSIM_ZOOKEEPER=" + text + " is neither a folder nor a jar" + setIt},
		{"source release", source, jar, "ZKSIM_ZOOKEEPER=" + source + " has no lib/zookeeper*.jar (a source release?)" +
			setIt},
		{"no Java", "", jar, "there is no java in JAVA_HOME/bin or PATH; install a Java runtime (Debian: " +
			"default-jre-headless)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			env := map[string]string{EnvZooKeeper: c.place}
			_, err := find(func(key string) string { return env[key] }, c.debian)
			if !errors.Is(err, ErrUnavailable) {
				t.Fatalf("got %v, want ErrUnavailable", err)
			}
			if got, want := err.Error(), "no ZooKeeper server: "+c.want; got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

func TestStartSaysThatThereIsNoServer(t *testing.T) {
	place := filepath.Join(t.TempDir(), "missing")
	t.Setenv(EnvZooKeeper, place)
	if _, err := Start(t.Context(), Options{}); !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), place) {
		t.Error(err)
	}
}

func TestFindPrefersJavaHomeToPath(t *testing.T) {
	root := t.TempDir()
	home := touch(t, root, "jdk", "bin", "java")
	path := touch(t, root, "bin", "java")
	t.Setenv("PATH", filepath.Dir(path))
	for _, c := range []struct{ home, want string }{
		{"", path},
		{filepath.Join(root, "jdk"), home},
		{filepath.Join(root, "gone"), path},
	} {
		if got, err := findJava(c.home); got != c.want || err != nil {
			t.Errorf("JAVA_HOME=%q: got %q, %v; want %q", c.home, got, err, c.want)
		}
	}
}
