package transcript_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// mutations are errors that a store could have. Each replaces one piece of
// package model's source, which must be found exactly once.
var mutations = []struct {
	name, file, from, to string
}{
	{
		"sequence counter moved by sequential creates only", "write.go",
		"s.link(t, n, parent)\n",
		"s.link(t, n, parent)\nif !sequential { parent.creates-- }\n",
	},
	{
		"sequence number is the number of children", "write.go",
		"sequenceName(path, parent.creates+s.past[parent])",
		"sequenceName(path, int32(len(parent.children)))",
	},
	{
		"sequence number is Stat.cversion", "write.go",
		"sequenceName(path, parent.creates+s.past[parent])",
		"sequenceName(path, 2*parent.creates-int32(len(parent.children)))",
	},
	{
		"pzxid moved by a grandchild", "write.go",
		"p.creates++\n\t\tp.pzxid = t.Zxid\n\t} else if",
		"p.creates++\np.pzxid = t.Zxid\nif p.parent != nil { p.parent.pzxid = t.Zxid }\n\t} else if",
	},
	{
		"child watch fired by a set", "watch.go",
		"if t.typ == zk.EventNodeDataChanged {\n\t\treturn\n\t}\n",
		"if t.typ == zk.EventNodeDataChanged { t.parent = t.acl }\n",
	},
	{
		"ephemerals deleted in creation order", "server.go",
		"list := s.arranged(x.ephemerals, max(x.buckets, 16), pathHash)\n\tif s.Order == 0 {\n",
		"list := s.arranged(x.ephemerals, 1, pathHash)\n\tif s.Order == 1 {\n",
	},
	{
		"one-shot watch fired twice", "watchtable.go",
		"if kept {\n\t\tfor w := range x.all() {\n\t\t\tif w.mode != oneShot {\n",
		"if true {\n\t\tfor w := range x.all() {\n\t\t\tif w.mode != oneShot || w.conn.mark == 0 {\n",
	},
	{
		"counter left moved by a multi that was rolled back", "multi.go",
		"u.parent.pzxid, u.parent.creates, u.parent.sets, u.parent.buckets = u.pzxid, u.creates, u.sets, u.buckets\n",
		"u.parent.pzxid, u.parent.sets, u.parent.buckets = u.pzxid, u.sets, u.buckets\n",
	},
	{
		"children checked before the version in delete", "write.go",
		"if r.Version != -1 && r.Version != n.version {\n\t\treturn BadVersion\n\t}\n\tif len(n.children) > 0 " +
			"{\n\t\treturn NotEmpty\n\t}\n",
		"if len(n.children) > 0 { return NotEmpty }\nif r.Version != -1 && r.Version != n.version { return BadVersion }\n",
	},
	{
		"deletion told twice to a connection with data and child watches", "watch.go",
		"s.tell(&s.child, t.path, t.typ, t.acl, data)\n",
		"s.tell(&s.child, t.path, t.typ, t.acl, data*0)\n",
	},
	{
		"events not filtered by READ", "watch.go",
		"if s.Like == ZooKeeper36 || a.allows(zk.PermRead, c.Auth) {",
		"if s.Like == ZooKeeper36 || a.allows(zk.PermRead, c.Auth) || true {",
	},
	{
		"catch-up fires for what the client has seen", "watch.go",
		"n.mzxid > l.RelativeZxid",
		"n.mzxid >= l.RelativeZxid",
	},
	{
		"mtime moved by setACL", "write.go",
		"n.aversion++\n",
		"n.aversion++\nn.mtime = t.Time\n",
	},
	{
		"set of identical data is no change", "write.go",
		"n.version++\n",
		"if string(n.data) != \"1\" { n.version++ }\n",
	},
	{
		"children in order of creation", "server.go",
		"s.arranged(n.children, max(n.buckets, 8), nameHash)\n",
		"s.arranged(n.children, 1, nameHash)\n",
	},
}

// TestTheRecordingsCatchMutations builds the replay test against a model with
// each of the mutations: it must compile and at least one recording must
// differ.
func TestTheRecordingsCatchMutations(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a test binary per mutation")
	}
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go command: ", err)
	}
	for _, m := range mutations {
		t.Run(strings.ReplaceAll(m.name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			overlay := plant(t, dir, m.file, m.from, m.to)
			binary := filepath.Join(dir, "replay.test")
			build := exec.Command(goTool, "test", "-c", "-vet=off", "-overlay", overlay, "-o", binary, ".")
			if out, err := build.CombinedOutput(); err != nil {
				t.Fatalf("does not compile: %v\n%s", err, out)
			}
			out, err := exec.Command(binary, "-test.run", "^TestTheModelAgreesWithTheRealServer$").CombinedOutput()
			caught := differing.FindAllSubmatch(out, -1)
			if err == nil || len(caught) == 0 {
				t.Fatalf("no recording differs: %v\n%s", err, out)
			}
			t.Logf("caught by %d recordings, the first is %s", len(caught), caught[0][1])
		})
	}
}

// differing matches a recording that differs, not one that panics.
var differing = regexp.MustCompile(`(?m)^ +--- FAIL: \S+/(\S+) .*\n +\S+: step \d+: `)

// plant writes the mutated file into dir and an overlay for the go command that
// puts it in the place of the real one.
func plant(t *testing.T, dir, file, from, to string) (overlay string) {
	t.Helper()
	original, err := filepath.Abs(filepath.Join("..", "..", "model", file))
	if err != nil {
		t.Fatal(err)
	}
	code, err := os.ReadFile(original)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(code), from); n != 1 {
		t.Fatalf("%s has %q %d times, want it exactly once: adapt the mutation", file, from, n)
	}
	mutated := filepath.Join(dir, file)
	if err := os.WriteFile(mutated, []byte(strings.Replace(string(code), from, to, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {original: mutated}})
	if err != nil {
		t.Fatal(err)
	}
	overlay = filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlay, replace, 0o644); err != nil {
		t.Fatal(err)
	}
	return overlay
}
