package checkers

import "testing"

// In these histories c1 leads by /e/a, and has acknowledged it.
const acknowledged = `
		created c1 /e/a z1 s11
		acquired c1 o1 /e/a v1
		invoke c1 o1 acknowledge /e/a v1
		return c1 o1 acknowledge /e/a v1
	`

func TestFollowersAreToldOfTheAcknowledgedLeader(t *testing.T) {
	judge(t, Acknowledged{}, []judgement{
		{name: "nothing"},
		{name: "the leader", text: acknowledged + `
			invoke c3 o3 leader
			return c3 o3 leader v1`},
		{name: "nobody before the acknowledgement, and during", text: `
			created c1 /e/a z1 s11
			invoke c3 o3 leader
			return c3 o3 leader ok: no leader
			acquired c1 o1 /e/a v1
			invoke c3 o3 leader
			invoke c1 o1 acknowledge /e/a v1
			return c1 o1 acknowledge /e/a v1
			return c3 o3 leader ok: no leader`},
		{name: "the leader before its acknowledgement has returned", text: `
			created c1 /e/a z1 s11
			acquired c1 o1 /e/a v1
			invoke c1 o1 acknowledge /e/a v1
			invoke c3 o3 leader
			return c3 o3 leader v1
			crashed c1`},
		{name: "one that has not acknowledged", text: `
			created c1 /e/a z1 s11
			acquired c1 o1 /e/a v1
			invoke c3 o3 leader
			return c3 o3 leader v1`, event: 3, message: "c3 was told that somebody leads who had not acknowledged it"},
		{name: "nobody, although one leads", text: acknowledged + `
			invoke c3 o3 leader
			return c3 o3 leader ok: no leader`, event: 5, message: "c3 was told that nobody leads, although c1 does and had " +
			"acknowledged it by /e/a"},
		{name: "nobody, after the end", text: acknowledged + `
			deleted /e/a z3 s11
			invoke c3 o3 leader
			return c3 o3 leader ok: no leader`},
		{name: "nobody, the end came during the question", text: acknowledged + `
			invoke c3 o3 leader
			deleted /e/a z3 s11
			return c3 o3 leader ok: no leader`},
		{name: "a question that failed", text: acknowledged + `
			invoke c3 o3 leader
			return c3 o3 leader: closed`},
		{name: "an acknowledgement that failed", text: `
			created c1 /e/a z1 s11
			acquired c1 o1 /e/a v1
			invoke c1 o1 acknowledge /e/a v1
			return c1 o1 acknowledge /e/a v1 ok: not the leader
			invoke c3 o3 leader
			return c3 o3 leader ok: no leader`},
	})
}

func TestALeaderEndsWithItsCandidate(t *testing.T) {
	judge(t, Acknowledged{}, []judgement{
		{name: "one that has ended", text: acknowledged + `
			deleted /e/a z3 s11
			invoke c3 o3 leader
			return c3 o3 leader v1`, event: 6, message: "c3 was told that c1 leads by /e/a, which had been deleted before"},
		{name: "one that ends during the question", text: acknowledged + `
			invoke c3 o3 leader
			deleted /e/a z3 s11
			return c3 o3 leader v1`},
		{name: "one that ended before it acknowledged", text: `
			created c1 /e/a z1 s11
			acquired c1 o1 /e/a v1
			deleted /e/a z3 s11
			invoke c1 o1 acknowledge /e/a v1
			return c1 o1 acknowledge /e/a v1
			invoke c3 o3 leader
			return c3 o3 leader ok: no leader`},
		{name: "one that acknowledges after its end", text: `
			created c1 /e/a z1 s11
			acquired c1 o1 /e/a v1
			invoke c3 o3 leader
			deleted /e/a z3 s11
			invoke c1 o1 acknowledge /e/a v1
			return c3 o3 leader v1`, event: 5, message: "c3 was told that c1 leads by /e/a, which had been deleted before"},
		{name: "an earlier znode of that name has ended", text: `
			created c1 /e/a z1 s11
			deleted /e/a z2 s11
			created c1 /e/a z3 s12
			acquired c1 o1 /e/a v3
			invoke c1 o1 acknowledge /e/a v3
			return c1 o1 acknowledge /e/a v3
			invoke c3 o3 leader
			return c3 o3 leader v3`},
	})
}
