package checkers

import "testing"

func TestAtomicityIsOneDecisionThatAllHaveVotedFor(t *testing.T) {
	const two = `
		invoke c1 o1 begin /tx v2
		invoke c1 o2 vote-yes /tx
		return c1 o2 vote-yes /tx
	`
	judge(t, Atomicity{}, []judgement{
		{name: "nothing"},
		{name: "a commit", text: two + `
			invoke c2 o3 vote-yes /tx
			return c2 o3 vote-yes /tx
			told c1 o1 committed /tx
			told c2 o3 committed /tx
			told c2 o4 committed /tx`},
		{name: "an abort", text: two + `
			told c1 o1 aborted /tx
			told c2 o3 aborted /tx`},
		{name: "the one and the other", text: two + `
			invoke c2 o3 vote-yes /tx
			told c1 o1 committed /tx
			told c2 o3 aborted /tx`, event: 5, message: "c1 learned that /tx is committed, and c2 that it is aborted"},
		{name: "the other and the one, by one client", text: two + `
			invoke c2 o3 vote-yes /tx
			told c2 o3 aborted /tx
			told c2 o4 committed /tx`, event: 5, message: "c2 learned that /tx is committed, and c2 that it is aborted"},
		{name: "of two transactions", text: two + `
			invoke c2 o3 vote-yes /tx
			told c1 o1 committed /tx
			invoke c1 o1 begin /ty v2
			told c2 o3 aborted /ty`},
		{name: "a vote is missing", text: two + `
			told c1 o1 committed /tx`, event: 3,
			message: "c1 learned that /tx is committed when 1 of its 2 sites had voted yes"},
		{name: "a site that votes twice has one vote", text: two + `
			invoke c1 o2 vote-yes /tx
			told c1 o1 committed /tx`, event: 4,
			message: "c1 learned that /tx is committed when 1 of its 2 sites had voted yes"},
		{name: "a vote whose answer was lost may count", text: two + `
			invoke c2 o3 vote-yes /tx
			return c2 o3 vote-yes /tx: context canceled
			told c1 o1 committed /tx`},
		{name: "a no that failed does not", text: two + `
			invoke c2 o3 vote-yes /tx
			return c2 o3 vote-yes /tx: context canceled
			invoke c2 o3 vote-no /tx
			return c2 o3 vote-no /tx ok: voted otherwise
			told c1 o1 committed /tx`},
		{name: "a no", text: two + `
			invoke c2 o3 vote-yes /tx
			return c2 o3 vote-yes /tx: context canceled
			invoke c2 o3 vote-no /tx
			return c2 o3 vote-no /tx
			told c1 o1 committed /tx`, event: 7, message: "c1 learned that /tx is committed, and c2 has voted no"},
		{name: "a no that is taken for a vote after the commit", text: two + `
			invoke c2 o3 vote-yes /tx
			return c2 o3 vote-yes /tx: context canceled
			told c1 o1 committed /tx
			invoke c2 o3 vote-no /tx
			return c2 o3 vote-no /tx`, event: 7, message: "c1 learned that /tx is committed, and c2 has voted no"},
		{name: "nobody knows how many sites there are", text: `told c1 o1 committed /tx`},
	})
}

func TestAVoteThatWasTakenBackIsNone(t *testing.T) {
	const begun = `
		invoke c1 o1 begin v2 /tx
		created c1 /tx/a z1
		changed c1 /tx/a "yes" z2
	`
	judge(t, Validity{}, []judgement{
		{name: "one of two", text: begun + `
			changed c1 /tx/a "no" z3
			changed c2 /tx/b "yes" z4
			created c2 /tx/decision "aborted" z5`},
		{name: "the znode that said so is deleted", text: begun + `
			changed c1 /tx/a "no" z3
			deleted c1 /tx/a z4`},
		{name: "all had voted yes before", text: begun + `
			changed c2 /tx/b "yes" z3
			changed c1 /tx/a "no" z4
			created c2 /tx/decision "aborted" z5`, event: 5,
			message: "c2 aborted /tx when all its 2 sites had voted yes"},
		{name: "the session of the one has ended before the other votes", text: `
			invoke c1 o1 begin v2 /tx
			created c1 /tx/a "yes" s17 z1
			deleted c1 /tx/a s17 z2
			created c2 /tx/b "yes" s18 z3
			created c2 /tx/decision "aborted" z4`},
		{name: "a znode that says so from the beginning", text: begun + `
			created c2 /tx/b "yes" z3
			created c2 /tx/decision "aborted" z4`, event: 4,
			message: "c2 aborted /tx when all its 2 sites had voted yes"},
	})
}

func TestABeginThatFailsIsAReasonToAbort(t *testing.T) {
	judge(t, Validity{}, []judgement{
		{name: "a beginning that failed", text: `
			invoke c1 o1 begin /tx v1
			return c1 o1 begin /tx: context canceled
			told c1 o1 aborted /tx`},
		{name: "a beginning that fails later", text: `
			invoke c1 o1 begin /tx v1
			told c2 o2 aborted /tx
			return c1 o1 begin /tx: context canceled`},
		{name: "a beginning that succeeds later is no reason", text: `
			invoke c1 o1 begin /tx v1
			told c2 o2 aborted /tx
			invoke c2 o2 finish /tx
			return c1 o1 begin /tx`, event: 3,
			message: "c2 learned that /tx is aborted, and nobody had voted no, failed or given up waiting"},
	})
}

func TestValidityIsAReasonForEveryAbort(t *testing.T) {
	const yes = `
		invoke c1 o1 begin /tx v1
		return c1 o1 begin /tx
		invoke c1 o2 vote-yes /tx
	`
	const none = "c1 learned that /tx is aborted, and nobody had voted no, failed or given up waiting"
	judge(t, Validity{}, []judgement{
		{name: "a commit", text: yes + `told c1 o1 committed /tx`},
		{name: "no reason", text: yes + `told c1 o1 aborted /tx`, event: 3, message: none},
		{name: "a reason that comes later", text: yes + `
			told c1 o1 aborted /tx
			invoke c1 o2 finish /tx`, event: 3, message: none},
		{name: "a reason for another transaction", text: yes + `
			invoke c1 o3 vote-no /ty
			told c1 o1 aborted /tx`, event: 4, message: none},
		{name: "a no", text: yes + `
			invoke c2 o3 vote-no /tx
			told c1 o1 aborted /tx`},
		{name: "somebody who gives up waiting", text: yes + `
			invoke c2 o3 finish /tx
			told c1 o1 aborted /tx`},
		{name: "a site that fails", text: yes + `
			deleted c0 /tx/live-b s12
			told c1 o1 aborted /tx`},
		{name: "a site of another transaction", text: yes + `
			deleted c1 /ty/live-b s12
			told c1 o1 aborted /tx`, event: 4, message: none},
		{name: "a persistent znode that is deleted is no site", text: yes + `
			deleted c2 /tx/b
			told c1 o1 aborted /tx`, event: 4, message: none},
		{name: "a vote that is still missing", text: yes + `
			invoke c2 o3 finish /tx
			changed c1 /tx/a "joined"
			created c2 /tx/decision "aborted"
			told c2 o3 aborted /tx`},
		{name: "an abort in spite of all votes", text: yes + `
			invoke c2 o3 finish /tx
			changed c1 /tx/a "yes"
			created c2 /tx/decision "aborted"`, event: 5, message: "c2 aborted /tx when all its 1 sites had voted yes"},
		{name: "one vote that is written twice is not two", text: `
			invoke c1 o1 begin /tx v2
			invoke c2 o3 finish /tx
			changed c1 /tx/a "yes"
			changed c1 /tx/a "yes"
			created c2 /tx/decision "aborted"`},
		{name: "a vote that is deleted", text: yes + `
			changed c1 /tx/a "yes"
			deleted c2 /tx/a`, event: 4, message: "c2 deleted /tx/a, which says yes, before anybody had learned the decision"},
		{name: "a site that has voted in an ephemeral znode and deletes it", text: yes + `
			created c1 /tx/a "yes" s11
			deleted c1 /tx/a s11
			told c2 o3 aborted /tx`},
		{name: "a vote that is deleted when somebody knows the decision", text: yes + `
			changed c1 /tx/a "yes"
			told c1 o1 committed /tx
			deleted c2 /tx/a`},
		{name: "a znode that has not voted", text: yes + `
			changed c1 /tx/a "joined"
			deleted c2 /tx/a`},
		{name: "votes for another transaction", text: yes + `
			invoke c2 o3 finish /tx
			changed c1 /ty/a "yes"
			created c2 /tx/decision "aborted"`},
	})
}
