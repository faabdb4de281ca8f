package history

// Trace tells a run transition by transition, for people: what each did and what it changed. Judges do not see it.
type Trace struct {
	Rows  []Row // the state before the first step
	Steps []Step
}

// Step is one transition.
type Step struct {
	Name string // as in the schedule
	Did  string // what it did beyond the events; a clause, or empty
	Time int64  // when it is over, in virtual milliseconds
	Rows []Row  // what it has changed
}

// Table is one aspect of the state of a run.
type Table uint8

// The tables, with the cells of their rows.
const (
	Znodes   Table = iota // key: path; data, owner, version, zxid of its creation
	Watches               // key: client, kind and path; where it is armed
	Tasks                 // key: client and coroutine; its outstanding call, what it does
	Clients               // key: name; process, connection, session that it believes in
	Sessions              // key: number; client, servers that hold it
	Servers               // key: name; txns that it has not applied, whether it is cut off
	tables
)

// Tables is how many tables there are.
const Tables = int(tables)

// Row is an entry of a table. It replaces an earlier row with the same key.
type Row struct {
	Table  Table
	Client int32 // the client that it is about; 0: none
	Key    string
	Cells  []string // nil: the entry is gone
}
