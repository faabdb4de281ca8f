package vet

import (
	"go/types"
	"maps"
	"strings"
)

// banned says what is wrong with functions, methods and variables of other packages, and what to use instead. The names
// are as FullName writes them. A mention is enough: a function can be called later.
var banned = []struct{ why, names string }{
	{"blocks outside of the simulator; use Env.Sleep", "time.Sleep"},
	{"waits for the real clock; use Env.Sleep, or Env.WithTimeout and Env.Await",
		"time.After time.NewTimer time.NewTicker time.Tick syscall.Nanosleep"},
	{"starts a goroutine by the real clock; use Env.Go, and Env.Sleep in it", "time.AfterFunc"},
	{"reads the real clock; use Env.Now", "time.Now"},
	{"reads the real clock; use Env.Now and Time.Sub", "time.Since time.Until"},
	{"depends on the machine; use time.UTC", "time.Local time.LoadLocation (time.Time).Local"},
	{"ends by the real clock; use Env.WithTimeout",
		"context.WithTimeout context.WithTimeoutCause context.WithDeadline context.WithDeadlineCause"},
	{"starts a goroutine outside of the simulator; use Env.Go, and Env.Await in it", "context.AfterFunc"},
	{"starts a goroutine outside of the simulator; use Env.Go",
		"(*sync.WaitGroup).Go (*golang.org/x/sync/errgroup.Group).Go (*golang.org/x/sync/errgroup.Group).TryGo " +
			"(*golang.org/x/sync/singleflight.Group).DoChan"},
	{"blocks outside of the simulator while the holder waits; let one goroutine own what it guards, and use Env.Await " +
		"to wait for it", "(*sync.Mutex).Lock (*sync.RWMutex).Lock (*sync.RWMutex).RLock (sync.Locker).Lock"},
	{awaitInstead, "(*sync.WaitGroup).Wait (*sync.Cond).Wait reflect.Select (reflect.Value).Recv " +
		"(*golang.org/x/sync/errgroup.Group).Wait (*golang.org/x/sync/semaphore.Weighted).Acquire " +
		"(*golang.org/x/sync/singleflight.Group).Do"},
	{"returns what the garbage collector has left; make a new value", "(*sync.Pool).Get"},
	{"has another order in each run; use a map and slices.Sorted(maps.Keys(m))", "(*sync.Map).Range"},
	{"has another order in each run; sort them", "(reflect.Value).MapKeys"},
	{"lets nothing in the simulator run; use Env.Sleep", "runtime.Gosched"},
	{"connects outside of the simulator; take a recipes.Conn as a parameter", "github.com/go-zookeeper/zk.Connect " +
		"github.com/go-zookeeper/zk.ConnectWithDialer zksim/recipes/live.Dial"},
	{"ends the whole test, and no checker sees the run; return an error, or use Process.Fail", "os.Exit log.Fatal " +
		"log.Fatalf log.Fatalln (*log.Logger).Fatal (*log.Logger).Fatalf (*log.Logger).Fatalln"},
	{"waits for what the simulator does not send; take a context as a parameter",
		"os/signal.Notify os/signal.NotifyContext"},
	{"asks the machine, so that a replay elsewhere is another run; take the value as a parameter",
		"runtime.NumGoroutine os.Environ os.Getenv os.LookupEnv os.Getpid os.Hostname os.Open os.OpenFile os.Create " +
			"os.ReadFile os.WriteFile os.ReadDir os.Stat net.InterfaceAddrs net.Interfaces"},
	{"waits outside of the simulator, for something that it cannot repeat; keep it out of simulated code",
		"net.Dial net.DialTimeout (*net.Dialer).Dial (*net.Dialer).DialContext net.Listen net.LookupAddr net.LookupHost " +
			"net.LookupIP net/http.Get net/http.Head net/http.Post net/http.PostForm net/http.ListenAndServe " +
			"(*net/http.Client).Do (*net/http.Client).Get (*net/http.Client).Head (*net/http.Client).Post " +
			"(*net/http.Client).PostForm (*os/exec.Cmd).CombinedOutput (*os/exec.Cmd).Output (*os/exec.Cmd).Run " +
			"(*os/exec.Cmd).Start"},
}

// What is wrong with random numbers that only the machine decides.
const (
	isRandom = "draws what no seed of the simulator decides; use Process.Choose, Env.UUID for names, or rand.New with " +
		"a fixed seed"
	isSecret = "draws what no seed of the simulator decides; use Env.UUID"
)

// bannedNames says what is wrong, by name.
var bannedNames = func() map[string]string {
	why := map[string]string{}
	for _, b := range banned {
		for name := range strings.FieldsSeq(b.names) {
			why[name] = b.why
		}
	}
	return why
}()

// Names returns the functions, methods and variables that Banned knows by name, with what it says about them.
func Names() map[string]string { return maps.Clone(bannedNames) }

// Banned says what is wrong with using an object of another package in code that must do the same in every run, and
// what to use instead: "reads the real clock; use Env.Now". It returns "" if nothing is wrong.
func Banned(o types.Object) string {
	name := FullName(o)
	if why := bannedNames[name]; why != "" {
		return why
	}
	switch o.(type) {
	case *types.Func, *types.Var:
	default:
		return ""
	}
	switch o.Pkg().Path() {
	case "crypto/rand", "hash/maphash": // even a maphash.Hash has a new seed in every process
		if name != "" {
			return isSecret
		}
	case "math/rand", "math/rand/v2":
		// A generator with its own seed is decided by that.
		if o.Parent() == o.Pkg().Scope() && !strings.HasPrefix(o.Name(), "New") {
			return isRandom
		}
	}
	return ""
}

// FullName is the name of a package-level object or a method, with its import path. It is "" for others, such as fields
// and built-ins.
func FullName(o types.Object) string {
	if f, ok := o.(*types.Func); ok {
		return f.Origin().FullName()
	}
	if o.Pkg() == nil || o.Parent() != o.Pkg().Scope() {
		return ""
	}
	return o.Pkg().Path() + "." + o.Name()
}
