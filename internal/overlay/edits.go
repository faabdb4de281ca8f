package overlay

// edit is a change of a file of the runtime. Its anchor must occur exactly once.
type edit struct {
	file           string // relative to src/runtime
	anchor, change string // the change replaces the anchor
}

// releases are the releases whose runtime is known. Another one may have all anchors and still do something else
// between them.
var releases = []string{"go1.26", "go1.27"}

// edits are all changes, except the added file.
var edits = []edit{
	{"synctest.go", "type synctestBubble struct {\n", "type synctestBubble struct {\n\tturns bubbleTurns\n"},

	// Hash keys, and so the layout of maps, are equal in all processes.
	{"rand.go", "\tglobalRand.state.Init(*seed)\n",
		"\t*seed = [32]byte{'z', 'k', 's', 'i', 'm'}\n\tglobalRand.state.Init(*seed)\n"},

	// Random draws.
	{"rand.go", "\tmp := getg().m\n\tc := &mp.chacha8\n",
		"\tif t := turned(); t != nil {\n\t\treturn t.next(streamHashes)\n\t}\n\tmp := getg().m\n\tc := &mp.chacha8\n"},
	{"../math/rand/rand.go", pullRand, "//go:linkname runtime_rand runtime.turnRand\n"},
	{"../math/rand/v2/rand.go", pullRand, "//go:linkname runtime_rand runtime.turnRand\n"},
	{"../internal/runtime/maps/table.go", "\tit.entryOffset = rand()\n\tit.dirOffset = rand()\n",
		"\tit.entryOffset = offset()\n\tit.dirOffset = offset()\n"},
	{"../internal/runtime/maps/runtime.go", "//go:linkname rand\nfunc rand() uint64\n",
		"//go:linkname rand\nfunc rand() uint64\n\n//go:linkname offset\nfunc offset() uint64\n"},
	// Maps draw nothing when they are made: a map that is made lazily may be made in one run and not in the next. The
	// compiler makes a map on the stack draw; nothing else draws from that stream.
	{"rand.go", "func maps_rand() uint64 {\n\treturn rand()\n", "func maps_rand() uint64 {\n\treturn turnHash()\n"},
	{"../internal/sync/hashtriemap.go", pullRand, "//go:linkname runtime_rand runtime.turnHash\n"},
	{"../unique/canonmap.go", pullRand, "//go:linkname runtime_rand runtime.turnHash\n"},
	{"rand.go", "func mrandinit(mp *m) {\n", // any goroutine may start a thread
		"func mrandinit(mp *m) {\n\trand := bootstrapRand\n"},
	{"select.go", "\t\tj := cheaprandn(uint32(norder + 1))\n", "\t\tj := turnSelect(uint32(norder + 1))\n"},
	{"select.go", "\t// lock all the channels involved in the select\n",
		"\tturnCases(scases, pollorder, lockorder)\n\t// lock all the channels involved in the select\n"},
	{"select.go", "\t\tif c.timer != nil {\n\t\t\tblockTimerChan(c)\n\t\t}\n\t}\n", // each draws
		"\t}\n\tfor _, casei := range pollorder {\n\t\tif c := scases[casei].c; c.timer != nil {\n" +
			"\t\t\tblockTimerChan(c)\n\t\t}\n\t}\n"},
	{"time.go", "\t\t\tt.rand = cheaprand()\n", "\t\t\tt.rand = turnTimer()\n"},

	// A mutex starves by the clock of the bubble, and does not spin. A goroutine that waits for a mutex is blocked. So
	// is one that waits for a channel or a WaitGroup made outside the bubble, such as one in a package variable.
	{"sema.go", "func internal_sync_nanotime() int64 {\n",
		"func internal_sync_nanotime() int64 {\n\tif turned() != nil {\n\t\treturn getg().bubble.now\n\t}\n"},
	{"proc.go", "func internal_sync_runtime_canSpin(i int) bool {\n",
		"func internal_sync_runtime_canSpin(i int) bool {\n\tif turned() != nil {\n\t\treturn false\n\t}\n"},
	{"runtime2.go", "var isIdleInSynctest = [len(waitReasonStrings)]bool{\n",
		"var isIdleInSynctest = [len(waitReasonStrings)]bool{\n\twaitReasonSyncMutexLock: true,\n" +
			"\twaitReasonSyncRWMutexRLock: true,\n\twaitReasonSyncRWMutexLock: true,\n" +
			"\twaitReasonChanReceive: true,\n\twaitReasonChanSend: true,\n\twaitReasonSelect: true,\n" +
			"\twaitReasonSyncWaitGroupWait: true,\n"},

	// A goroutine that becomes ready waits for its turn.
	{"proc.go", "\trunqput(mp.p.ptr(), gp, next)\n\twakep()\n\treleasem(mp)\n",
		"\tif gp = turnReady(gp); gp != nil {\n\t\trunqput(mp.p.ptr(), gp, next)\n\t\twakep()\n\t}\n\treleasem(mp)\n"},
	{"proc.go", "\t\tnewg := newproc1(fn, gp, pc, false, waitReasonZero)\n",
		"\t\tnewg := newproc1(fn, gp, pc, false, waitReasonZero)\n" +
			"\t\tif newg = turnReady(newg); newg == nil {\n\t\t\treturn\n\t\t}\n"},

	// A goroutine that parks, ends or yields gives its turn back. One that is preempted keeps it.
	{"proc.go", "\t// We need to record gp.bubble here, since waitunlockf can change it.\n\tbubble := gp.bubble\n",
		"\tbubble := gp.bubble\n\theld := turnHeld(bubble, gp) && !turnKept(gp)\n"},
	{"proc.go", "\tif bubble != nil {\n\t\tbubble.decActive()\n\t}\n\n\tschedule()\n}\n",
		"\tif bubble != nil {\n\t\tbubble.decActive()\n\t}\n\tif held {\n\t\tturnEnd(bubble)\n\t}\n\n\tschedule()\n}\n"},
	{"proc.go", "\tgdestroy(gp)\n\tschedule()\n}\n",
		"\tif turnHeld(gp.bubble, gp) {\n\t\tturnEnd(gp.bubble)\n\t}\n\tgdestroy(gp)\n\tschedule()\n}\n"},
	{"proc.go", "func gosched_m(gp *g) {\n", "func gosched_m(gp *g) {\n\tturnYield(gp)\n"},
	{"proc.go", "func goyield_m(gp *g) {\n", "func goyield_m(gp *g) {\n\tturnYield(gp)\n"},
	{"coro.go", "\tbubble := gp.bubble\n\tif bubble != nil {\n",
		"\tbubble := gp.bubble\n\theld := turnHeld(bubble, gp)\n\tif bubble != nil {\n"},
	{"coro.go", "\t// Switch to gnext. Does not return.\n",
		"\tif held {\n\t\tturnPass(bubble, gnext)\n\t}\n\t// Switch to gnext. Does not return.\n"},

	// So does one that waits for the garbage collector, or to stop the world: nobody knows how long that takes.
	{"mgc.go", "sweepone() != ^uintptr(0) {\n\t\tGosched()\n", "sweepone() != ^uintptr(0) {\n\t\tgoschedguarded()\n"},
	{"mgc.go", "!isSweepDone() {\n\t\tGosched()\n", "!isSweepDone() {\n\t\tgoschedguarded()\n"},
	{"proc.go", "\tsemacquire(&gcsema)\n", "\tsemacquire1(&gcsema, false, 0, 0, waitReasonWaitForGCCycle)\n"},
	{"proc.go", "\tsemacquire(&worldsema)\n", "\tsemacquire1(&worldsema, false, 0, 0, waitReasonWaitForGCCycle)\n"},

	// A goroutine that asks for signals, or for no more of them, waits for the thread that has the mask of all.
	{"signal_unix.go", "\t\tensureSigM()\n\t\tenableSigChan <- sig\n\t\t<-maskUpdatedChan\n",
		"\t\tb := turnLeave()\n\t\tensureSigM()\n\t\tenableSigChan <- sig\n\t\t<-maskUpdatedChan\n\t\tturnJoin(b)\n"},
	{"signal_unix.go", "\t\tensureSigM()\n\t\tdisableSigChan <- sig\n\t\t<-maskUpdatedChan\n",
		"\t\tb := turnLeave()\n\t\tensureSigM()\n\t\tdisableSigChan <- sig\n\t\t<-maskUpdatedChan\n\t\tturnJoin(b)\n"},

	// A context cancels its children in the order in which they were made. They are the keys of a map; many of them are
	// in the order of their addresses.
	{contexts, "\t\"internal/reflectlite\"\n", "\t\"cmp\"\n\t\"internal/reflectlite\"\n\t\"maps\"\n\t\"slices\"\n"},
	{contexts, "\tchildren map[canceler]struct{} // set", "\tborn uint64\n\tchildren map[canceler]uint64 // set"},
	{contexts, "\tp.children = make(map[canceler]struct{})\n", "\tp.children = make(map[canceler]uint64)\n"},
	{contexts, "\tp.children[child] = struct{}{}\n", "\tp.born++\n\t\t\tp.children[child] = p.born\n"},
	{contexts, "\tfor child := range c.children {\n",
		"\tfor _, child := range slices.SortedFunc(maps.Keys(c.children), func(a, b canceler) int {\n" +
			"\t\treturn cmp.Compare(c.children[a], c.children[b])\n\t}) {\n"},
}

// contexts is a file. pullRand is the line in files that use the runtime's random numbers.
const (
	contexts = "../context/context.go"
	pullRand = "//go:linkname runtime_rand runtime.rand\n"
)
