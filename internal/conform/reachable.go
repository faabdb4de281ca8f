package conform

import (
	"slices"
	"strings"
)

// creations are the rows of creates that reach the server.
var creations = []string{
	"create/persistent", "create/ephemeral", "create/sequential", "create/ephemeral-sequential", "create/container",
	"createContainer/container", "createTTL/ttl", "createTTL/ttl-sequential",
}

// refusals are the rows of creates that the library refuses because of their flags.
var refusals = []string{
	"create/" + wrongMode, "createContainer/" + wrongMode, "createTTL/" + wrongMode,
	"create/" + wrongFlags, "createContainer/" + wrongFlags, "createTTL/" + wrongFlags,
}

// rows returns the operations of the table.
func rows() []string {
	list := slices.Concat(creations, refusals)
	for _, k := range slices.Concat(calls, sessionActs) {
		switch k {
		case Create, CreateContainer, CreateTTL:
		case Get, Exists, Children:
			list = append(list, string(k), string(k)+"W")
		default:
			list = append(list, string(k))
		}
	}
	return list
}

// possible are the errors that an operation can end with, besides OK. All operations except the refused creates can end
// with OK.
var possible = map[string]string{
	"creation": "NONODE NOAUTH NODEEXISTS NOCHILDRENFOREPHEMERALS INVALIDACL BADARGUMENTS ErrInvalidPath " +
		"ErrConnectionClosed ErrShortBuffer",
	string(Delete):       "NONODE NOAUTH BADVERSION NOTEMPTY BADARGUMENTS ErrInvalidPath ErrConnectionClosed",
	string(Set):          "NONODE NOAUTH BADVERSION BADARGUMENTS ErrInvalidPath ErrConnectionClosed ErrShortBuffer",
	string(Get):          "NONODE NOAUTH ErrInvalidPath ErrConnectionClosed",
	string(Get) + "W":    "NONODE NOAUTH ErrInvalidPath ErrConnectionClosed",
	string(Exists):       "NONODE ErrInvalidPath ErrConnectionClosed",
	string(Exists) + "W": "NONODE ErrInvalidPath ErrConnectionClosed",
	string(Children):     "NONODE NOAUTH ErrInvalidPath ErrConnectionClosed",

	string(Children) + "W": "NONODE NOAUTH ErrInvalidPath ErrConnectionClosed",
	string(GetACL):         "NONODE NOAUTH ErrInvalidPath ErrConnectionClosed",
	string(SetACL):         "NONODE NOAUTH BADVERSION INVALIDACL BADARGUMENTS ErrInvalidPath ErrConnectionClosed",
	string(AddAuth):        "AUTHFAILED ErrConnectionClosed",
	string(Sync):           "ErrInvalidPath ErrConnectionClosed",
	string(Multi): "NONODE NOAUTH BADVERSION NOTEMPTY NODEEXISTS NOCHILDRENFOREPHEMERALS INVALIDACL BADARGUMENTS" +
		" MARSHALLINGERROR APIERROR ErrConnectionClosed ErrShortBuffer",
}

// effectsOf are the effects on watches of an operation that succeeds, besides none.
var effectsOf = map[string][]string{
	"creation":     {"exist created", "child children"},
	string(Delete): {"data deleted", "child deleted", "child children"},
	string(Set):    {"data changed"},
	string(Multi):  {"exist created", "data changed", "data deleted", "child deleted", "child children"},
	string(Expire): {"data deleted", "child deleted", "child children"},
	string(Close): {
		"data deleted", "child deleted", "child children", "data ended", "exist ended", "child ended",
	},
	string(Reconnect): {
		"exist created", "data changed", "data deleted", "child deleted", "child children", "data ended", "exist ended",
		"child ended",
	},
	string(Get) + "W":      {"sets data"},
	string(Exists) + "W":   {"sets data"},
	string(Children) + "W": {"sets child"},
}

// unreachableErrors are the errors that no operation ends with here, with the reason.
var unreachableErrors = map[string]string{
	"UNIMPLEMENTED": "UNIMPLEMENTED: the library knows no operation that the server does not, and ttl znodes are " +
		"enabled",
	"QUOTAEXCEEDED": "QUOTAEXCEEDED: quotas are enforced only by a server with enforceQuota, which is off by " +
		"default",
	"RUNTIMEINCONSISTENCY": "RUNTIMEINCONSISTENCY: only of the parts of a multi behind the failed one; the multi has " +
		"the error of that one",
	"SESSIONEXPIRED": "SESSIONEXPIRED: the server closes the connection instead; the library learns it on reconnect, " +
		"when no operation is under way",
	"SESSIONMOVED":     "SESSIONMOVED: the server closes the connection instead",
	"NOTREADONLY":      "NOTREADONLY: the library never asks for a read-only server",
	"NOWATCHER":        "NOWATCHER: the library cannot remove watches",
	"RECONFIGDISABLED": "RECONFIGDISABLED: recipes.Conn has no reconfig",
	"ErrNoServer": "ErrNoServer: of operations issued without a connection, whose outcome is a matter of timing; " +
		"they are not issued here",
	"ErrClosing": "ErrClosing: of operations under way while Close is called; operations do not overlap here",
}

// reason returns why a cell cannot be reached; "" if it can.
func reason(c Cell) string {
	if why, ok := unreachableErrors[c.Err]; ok {
		return why
	}
	if slices.Contains(refusals, c.Op) {
		return refusalReason(c)
	}
	key := c.Op
	if slices.Contains(creations, c.Op) {
		key = "creation"
	}
	if c.Op == string(Multi) && c.Err == unknownOperation {
		return noWatchReason(c)
	}
	if c.Err != ok && !slices.Contains(strings.Fields(possible[key]), c.Err) {
		return "errors that neither server nor library give for the operation"
	}
	return effectReason(c, key)
}

// refusalReason is reason for creates that never leave the library.
func refusalReason(c Cell) string {
	want := []string{"ErrInvalidFlags", "ErrInvalidPath"}
	if strings.HasSuffix(c.Op, wrongFlags) {
		want = []string{unknownFlags}
	}
	if !slices.Contains(want, c.Err) {
		return "creates with flags that the library refuses before it looks at anything else"
	}
	return noWatchReason(c)
}

func noWatchReason(c Cell) string {
	if c.Watch != noEffect {
		return "an operation that fails neither sets nor fires a watch"
	}
	return ""
}

// effectReason is reason for errors that the operation can end with.
func effectReason(c Cell, key string) string {
	switch {
	case c.Op == string(Exists)+"W" && c.Err == "NONODE":
		if c.Watch != "sets exist" {
			return "exists with a watch sets one also where there is no znode, and has no other effect"
		}
		return ""
	case c.Op == string(Multi) && c.Err == "APIERROR":
		// A container is among the parts: it is made, but the library cannot read the answer.
	case c.Err != ok:
		return noWatchReason(c)
	}
	list := effectsOf[key]
	sets := len(list) == 1 && strings.HasPrefix(list[0], "sets ")
	switch {
	case c.Watch == noEffect && sets:
		return "a read with a watch that succeeds sets it"
	case c.Watch == noEffect, slices.Contains(list, c.Watch):
		return ""
	case strings.HasPrefix(c.Watch, "sets "):
		return "only reads with a watch set one, each its own kind"
	case strings.HasSuffix(c.Watch, " ended"):
		return "watches end with their session: at Close, or when a reconnect finds it expired"
	}
	return "watches that the operation does not fire, or not in the library: an exist watch is on a znode that is not " +
		"there"
}
