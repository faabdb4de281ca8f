package serve

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
)

// sameShape says where x has not the fields and types of a recorded answer; "" if it has. A field * stands for all.
func sameShape(where string, x, want any) string {
	switch want := want.(type) {
	case map[string]any:
		y, ok := x.(map[string]any)
		if !ok {
			return fmt.Sprintf("%s is %v", where, x)
		}
		all := want["*"]
		if all == nil && len(y) != len(want) && !strings.HasPrefix(where, "monitor") {
			return fmt.Sprintf("%s has the fields %v, not %v", where, y, want)
		}
		for k, v := range y {
			field, ok := want[k]
			if all != nil {
				field, ok = all, true
			}
			if !ok {
				return where + " has no field " + k
			}
			if text := sameShape(where+"."+k, v, field); text != "" {
				return text
			}
		}
	case []any:
		y, ok := x.([]any)
		if !ok || len(want) == 0 && len(y) > 0 {
			return fmt.Sprintf("%s is %v", where, x)
		}
		for i := range y {
			if text := sameShape(where+"[]", y[i], want[0]); text != "" {
				return text
			}
		}
	default:
		if reflect.TypeOf(x) != reflect.TypeOf(want) {
			return fmt.Sprintf("%s is %v", where, x)
		}
	}
	return ""
}

// testdata/admin.json has the fields and types of what Debian's ZooKeeper 3.8.0 answers.
func TestTheAdminServerAnswersInTheShapeOfARealOne(t *testing.T) {
	text, err := os.ReadFile("testdata/admin.json")
	if err != nil {
		t.Fatal(err)
	}
	var shapes map[string]any
	if err := json.Unmarshal(text, &shapes); err != nil {
		t.Fatal(err)
	}
	e := start(t, Options{})
	urls, err := e.Admin("127.0.0.1:0", "")
	if err != nil {
		t.Fatal(err)
	}
	c := client(t, 20*time.Second, e.Addrs()...)
	must[string](t)(c.Create("/e", []byte("x"), zk.FlagEphemeral, open))
	if _, _, _, err := c.GetW("/e"); err != nil {
		t.Fatal(err)
	}
	ask := func(name string) (x map[string]any) {
		status, _, text := orderOf(t, "GET", urls[0]+"/"+name, "")
		if err := json.Unmarshal([]byte(text), &x); err != nil || status != http.StatusOK {
			t.Fatalf("%s: %d %v %s", name, status, err, text)
		}
		return x
	}
	for name, want := range shapes {
		if text := sameShape(name, ask(name), want); text != "" {
			t.Error(text)
		}
	}
	for short, name := range shortCommands {
		if x := ask(short); x["command"] != name {
			t.Errorf("%s: %v", short, x)
		}
	}
	if x := ask("nope"); x["error"] != "Unknown command: nope" {
		t.Error(x)
	}
	if x := ask("ruok/"); x["error"] != "Unknown command: ruok/" {
		t.Error(x)
	}
	for _, url := range []string{urls[0], urls[0] + "/"} {
		if _, _, text := orderOf(t, "GET", url, ""); strings.Count(text, "<a href") != len(commands) {
			t.Errorf("%s: %s", url, text)
		}
	}
	for _, name := range []string{"monitor", "stats"} { // a reader may take a number without a point for an integer
		if _, _, text := orderOf(t, "GET", urls[0]+"/"+name, ""); !strings.Contains(text, `"avg_latency": 0.0`) {
			t.Error(text)
		}
	}
	if status, _, _ := orderOf(t, "POST", urls[0]+"/ruok", ""); status != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", status)
	}
	if err := e.Kill(1); err != nil {
		t.Fatal(err)
	}
	if x := ask("ruok"); !strings.Contains(fmt.Sprint(x["error"]), "not currently serving") {
		t.Error(x)
	}
}

func TestEachServerOfThreeHasAnAdminServer(t *testing.T) {
	e := start(t, Options{Nodes: 3})
	urls, err := e.Admin("127.0.0.1:0", "secret")
	if err != nil || len(urls) != 3 {
		t.Fatal(urls, err)
	}
	for k, url := range urls {
		_, _, text := orderOf(t, "GET", url+"/leader", "", "Authorization", "Bearer secret")
		if !strings.Contains(text, fmt.Sprintf(`"is_leader": %v`, k == 0)) {
			t.Error(text)
		}
		_, _, text = orderOf(t, "GET", url+"/stats", "", "Authorization", "Bearer secret")
		if strings.Contains(text, `"proposal_stats": {`) != (k == 0) {
			t.Errorf("s%d: %s, expected proposal_stats of the leader only", k+1, text)
		}
	}
	if status, _, _ := orderOf(t, "GET", urls[0]+"/leader", ""); status != http.StatusUnauthorized {
		t.Error(status)
	}
	if _, err := e.Admin("0.0.0.0:0", ""); err == nil || !strings.Contains(err.Error(), "expected a token") {
		t.Error(err)
	}
	e.Close()
	if _, err := e.Admin("127.0.0.1:0", ""); err != ErrClosed {
		t.Error(err)
	}
	for _, url := range urls {
		addr := strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/commands")
		l, err := net.Listen("tcp", addr)
		if err != nil {
			t.Fatal("the port is still taken: ", err)
		}
		l.Close()
	}
}
