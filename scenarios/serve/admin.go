package serve

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"zksim/model"
)

// The admin server of ZooKeeper: JSON over HTTP, below /commands. It has the commands that tools read. Their answers
// have the same fields and types as in 3.8.0.

// Admin opens the admin server of each server, on the port of an address and the ones after it, or on free ones, and
// returns their URLs. An address that is not on loopback needs a token, as for the control channel.
func (e *Ensemble) Admin(addr, token string) (urls []string, err error) {
	o := Options{Listen: addr, Nodes: len(e.nodes)}
	if err := private(addr, token, "admin server"); err != nil {
		return nil, err
	}
	list, err := o.listen()
	if err != nil {
		return nil, err
	}
	for k, l := range list {
		if _, err = e.serveHTTP(l, e.AdminHandler(k+1, token)); err != nil {
			for _, l := range list[k:] {
				l.Close()
			}
			return nil, err
		}
		urls = append(urls, "http://"+reachable(l)+"/commands")
	}
	return urls, nil
}

// AdminHandler returns the admin server of server k, 1 for s1, for use in the caller's own HTTP server.
func (e *Ensemble) AdminHandler(k int, token string) http.Handler {
	mux := http.NewServeMux()
	list := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html;charset=utf-8")
		for _, name := range slices.Sorted(maps.Keys(commands)) {
			fmt.Fprintf(w, "<a href=\"/commands/%s\">%s</a>\n<br/>\n", name, name)
		}
	}
	mux.HandleFunc("GET /commands", list)
	mux.HandleFunc("GET /commands/{$}", list)
	mux.HandleFunc("GET /commands/{name...}", func(w http.ResponseWriter, r *http.Request) {
		answer := e.command(k-1, r.PathValue("name"))
		b, err := json.MarshalIndent(answer, "", "  ")
		if err != nil { // all values are numbers, strings and lists
			panic("serve: " + err.Error())
		}
		w.Header().Set("Content-Type", "application/json")
		w.Write(b)
	})
	return guarded(mux, token)
}

// fields are the fields of an answer.
type fields = map[string]any

// command answers a command of the admin server.
func (e *Ensemble) command(server int, name string) fields {
	primary := name
	if p, ok := shortCommands[name]; ok {
		primary = p
	}
	f := commands[primary]
	if f == nil {
		return fields{"command": name, "error": "Unknown command: " + name}
	}
	var answer fields
	err := e.do(nil, func() error {
		e.awaitServer(server)
		if e.nodes[server].killed || e.closed || !e.serves() && primary != "environment" {
			return errors.New(strings.TrimSpace(notServing))
		}
		answer = f(e, server)
		return nil
	})
	if err != nil {
		return fields{"command": name, "error": err.Error()}
	}
	answer["command"] = primary
	if _, failed := answer["error"]; !failed {
		answer["error"] = nil
	}
	return answer
}

// shortCommands maps the second names of commands to their first.
var shortCommands = map[string]string{"conf": "configuration", "config": "configuration", "cons": "connections",
	"crst": "connection_stat_reset", "env": "environment", "envi": "environment", "isro": "is_read_only",
	"lead": "leader", "mntr": "monitor", "srvr": "server_stats", "srst": "stat_reset", "stat": "stats",
	"wchc": "watches", "wchp": "watches_by_path", "wchs": "watch_summary"}

// commands are called with the ensemble locked.
var commands = map[string]func(e *Ensemble, server int) fields{
	"ruok":         func(*Ensemble, int) fields { return fields{} },
	"is_read_only": func(*Ensemble, int) fields { return fields{"read_only": false} },
	"environment": func(*Ensemble, int) fields {
		return fields{"zookeeper.version": version, "host.name": "localhost"}
	},
	"configuration": (*Ensemble).configuration,
	"monitor": func(e *Ensemble, server int) fields {
		all := fields{}
		for _, row := range e.figures(server) {
			all[row.key] = row.value
		}
		return all
	},
	"server_stats": (*Ensemble).serverStats,
	"stats": func(e *Ensemble, server int) fields {
		all := e.serverStats(server)
		all["connections"], all["secure_connections"] = e.connections(server, false), []fields{}
		return all
	},
	"connections": func(e *Ensemble, server int) fields {
		return fields{"connections": e.connections(server, true), "secure_connections": []fields{}}
	},
	"connection_stat_reset": func(e *Ensemble, server int) fields { e.resetConnections(server); return fields{} },
	"stat_reset":            func(e *Ensemble, server int) fields { e.nodes[server].stats = stats{}; return fields{} },
	"dump":                  (*Ensemble).dumped,
	"watches": func(e *Ensemble, server int) fields {
		bySession, _ := e.watched(server)
		return fields{"session_id_to_watched_paths": bySession}
	},
	"watches_by_path": func(e *Ensemble, server int) fields {
		return fields{"path_to_session_ids": e.watchers(server)}
	},
	"watch_summary": func(e *Ensemble, server int) fields {
		bySession, total := e.watched(server)
		return fields{"num_connections": len(bySession), "num_paths": len(e.watchers(server)), "num_total_watches": total}
	},
	"leader": func(e *Ensemble, server int) fields {
		if len(e.nodes) == 1 {
			return fields{"error": "server is not initialized"}
		}
		host, _, _ := net.SplitHostPort(e.addrs[e.world.Leader()])
		return fields{"is_leader": e.mode(server) == "leader", "leader_id": e.world.Leader() + 1, "leader_ip": host}
	},
}

func (e *Ensemble) configuration(server int) fields {
	_, port, _ := net.SplitHostPort(e.addrs[server])
	n, _ := strconv.Atoi(port)
	o := &e.options
	return fields{"client_port": n, "data_dir": "none", "data_log_dir": "none", "tick_time": o.TickTime.Milliseconds(),
		"max_client_cnxns": 0, "min_session_timeout": o.MinSessionTimeout.Milliseconds(),
		"max_session_timeout": o.MaxSessionTimeout.Milliseconds(), "server_id": e.serverID(server),
		"client_port_listen_backlog": -1}
}

// serverStats has 0 for everything that a simulated server does not measure.
func (e *Ensemble) serverStats(server int) fields {
	s, store := &e.nodes[server].stats, e.world.Stores()[server]
	response := fields{"last_buffer_size": -1, "min_buffer_size": -1, "max_buffer_size": -1}
	all := fields{"version": version, "read_only": false, "client_response": response,
		"node_count": store.Size().Znodes,
		"server_stats": fields{"packets_sent": s.sent, "packets_received": s.received, "fsync_threshold_exceed_count": 0,
			"client_response_stats": response, "provider_null": false, "data_dir_size": 0, "log_dir_size": 0,
			"server_state": e.mode(server), "last_processed_zxid": store.Zxid(), "outstanding_requests": e.outstanding(server),
			"avg_latency": noLatency, "max_latency": 0, "min_latency": 0, "num_alive_client_connections": len(e.at(server)),
			"uptime": time.Since(e.born).Milliseconds(), "auth_failed_count": 0, "non_mtlsremote_conn_count": 0,
			"non_mtlslocal_conn_count": 0}}
	if e.mode(server) == "leader" {
		all["proposal_stats"] = response
	}
	return all
}

// connections returns the connections of a server's clients, in full or in short.
func (e *Ensemble) connections(server int, whole bool) []fields {
	list := []fields{}
	for _, c := range e.at(server) {
		c.mu.Lock()
		open := c.open
		c.mu.Unlock()
		all := fields{"remote_socket_address": c.sock.RemoteAddr().String(), "interest_ops": c.opsOfInterest(),
			"outstanding_requests": open, "packets_received": c.stats.received, "packets_sent": c.stats.sent}
		if s := c.session; s != nil && whole {
			maps.Copy(all, fields{"session_id": s.id, "last_operation": nil, "established": c.since / 1e6,
				"session_timeout": s.timeout.Milliseconds(), "last_cxid": c.stats.lastXid, "last_zxid": c.stats.lastZxid,
				"last_response_time": c.stats.lastAt, "last_latency": 0, "min_latency": 0, "avg_latency": 0, "max_latency": 0})
			if op := c.stats.lastOp; op != "" {
				all["last_operation"] = op
			}
		}
		list = append(list, all)
	}
	return list
}

func (e *Ensemble) dumped(server int) fields {
	expiry, owners := map[int64][]int64{}, map[int64][]string{}
	if e.mode(server) != "follower" { // a follower does not expire sessions
		for _, s := range e.ordered() {
			expiry[s.deadline] = append(expiry[s.deadline], s.id)
		}
	}
	store := e.world.Stores()[server]
	for _, id := range store.Sessions() {
		if store.OwnedEphemerals(id) {
			owners[id] = append([]string{}, store.Ephemerals(id)...) // not null
		}
	}
	return fields{"expiry_time_to_session_ids": expiry, "session_id_to_ephemeral_paths": owners}
}

// watchers returns the sessions that watch each path, in the order of their ids.
func (e *Ensemble) watchers(server int) map[string][]int64 {
	byPath := map[string][]int64{}
	bySession, _ := e.watched(server)
	for _, id := range slices.Sorted(maps.Keys(bySession)) {
		for _, p := range bySession[id] {
			byPath[p] = append(byPath[p], id)
		}
	}
	return byPath
}

// noLatency is an average latency of 0. A real server writes it as a number with a decimal point.
const noLatency = json.Number("0.0")

// figure is a line of mntr without its zk_ prefix.
type figure struct {
	key   string
	value any
}

// figures returns what mntr says about a server.
func (e *Ensemble) figures(server int) []figure {
	n, store := &e.nodes[server], e.world.Stores()[server]
	size, watches := store.Size(), 0
	store.AllWatches(func(*model.Conn, model.Watch) { watches++ })
	list := []figure{{"version", version}, {"server_state", e.mode(server)}, {"ephemerals_count", size.Ephemerals},
		{"num_alive_connections", len(e.at(server))}, {"avg_latency", noLatency}, {"min_latency", 0}, {"max_latency", 0},
		{"outstanding_requests", e.outstanding(server)}, {"znode_count", size.Znodes},
		{"global_sessions", len(store.Sessions())}, {"local_sessions", 0}, {"packets_sent", n.stats.sent},
		{"packets_received", n.stats.received}, {"watch_count", watches}, {"approximate_data_size", size.Bytes},
		{"uptime", time.Since(e.born).Milliseconds()}}
	if e.mode(server) == "leader" {
		list = append(list, figure{"learners", len(e.nodes) - 1}, figure{"synced_followers", len(e.nodes) - 1},
			figure{"quorum_size", len(e.nodes)})
	}
	return list
}
