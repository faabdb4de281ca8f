package catalog

import (
	"fmt"
	"testing"

	"zksim/model/history"
)

// A member is listed as in an earlier life if it takes that znode for its own, or if it loses its session at once.
func TestAMemberThatHasJoinedMayBeListedAsInAnEarlierLife(t *testing.T) {
	told := history.Event{Kind: history.Told, Client: 1, Op: listedAsBefore, Path: "/group/m1", Data: "2"}
	created := func(client int32, data string) history.Event {
		return history.Event{Kind: history.Created, Client: client, Path: "/group/m1", Data: data}
	}
	const never = "c1 is listed as in an earlier life, and has made no /group/m1 as in this one"
	for _, x := range []struct {
		events []history.Event
		want   string
	}{
		{[]history.Event{created(1, "2"), created(1, "1"), told}, "<nil>"},
		{[]history.Event{created(1, "1"), told, created(1, "2")}, never},
		{[]history.Event{created(2, "2"), told}, never},
		{[]history.Event{created(1, "1")}, "<nil>"},
	} {
		if err := joinedBefore(&history.History{Events: x.events}); fmt.Sprint(err) != x.want {
			t.Errorf("%v: %v, expected %s", x.events, err, x.want)
		}
	}
}
