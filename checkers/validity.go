package checkers

import "zksim/model/history"

// Validity keeps a commit protocol from being safe by always aborting: where all
// vote yes, nobody fails and nobody loses patience, the decision is to commit. So
// whoever learns that a transaction is aborted must find a reason before: somebody
// was about to vote no, did not want to wait any longer (Invoke of finish),
// failed to begin it, or was a site whose ephemeral znode went with its session
// or otherwise. And nobody may abort when the last vote has come: a znode with
// "aborted" is not created below a transaction in which the znodes of all sites
// say "yes".
//
// The other events are those of [Atomicity]. Where txns were not recorded, the
// end of an ephemeral is known by the watches that it fires, and nobody knows
// which of a vote and an abort came first.
type Validity struct{}

// Name implements [Checker].
func (Validity) Name() string { return "validity" }

// Doc implements [Checker].
func (Validity) Doc() string {
	return "a transaction is aborted only if a site votes no or fails, or somebody gives up waiting"
}

// Check implements [Checker].
func (v Validity) Check(h *history.History) Verdict {
	ended := false               // a session has ended, as live histories show it
	reasons := map[string]bool{} // to abort a transaction
	sites := map[string]int64{}  // of a transaction
	yes := map[string]int64{}    // likewise, that have voted
	voted := map[string]bool{}   // znodes
	for i := range h.Events {
		e := &h.Events[i]
		switch e.Kind {
		case history.Changed:
			if e.Data == "yes" && !voted[e.Path] {
				voted[e.Path] = true
				yes[parent(e.Path)]++
			}
		case history.Created:
			if tx := parent(e.Path); e.Data == "aborted" && sites[tx] > 0 && yes[tx] == sites[tx] {
				return violated(v, i, "c%d aborted %s when all its %d sites had voted yes", e.Client, tx, sites[tx])
			}
		case history.Deleted:
			if e.Session != 0 {
				reasons[parent(e.Path)] = true
			}
		case history.Notify:
			if !h.Txns && e.Op == "deleted" {
				reasons[parent(e.Path)] = true
			}
			ended = ended || !h.Txns && e.Op == "unwatched"
		case history.Invoke:
			if e.Op == "begin" {
				sites[e.Path] = e.Value
			}
			if e.Op == "vote-no" || e.Op == "finish" {
				reasons[e.Path] = true
			}
		case history.Return:
			if e.Op == "begin" && e.Err != nil {
				reasons[e.Path] = true
			}
		case history.Told:
			if e.Op == "aborted" && !ended && !reasons[e.Path] {
				return violated(v, i, "c%d learned that %s is aborted, and nobody had voted no, failed or given up waiting", e.Client, e.Path)
			}
		}
	}
	return Verdict{}
}
