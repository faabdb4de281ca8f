package checkers

import "testing"

// registered11 has c1 register a name.
const registered11 = `
		invoke c1 o1 register v11
		return c1 o1 register /n
	`

func TestANameBelongsToOneAtATime(t *testing.T) {
	judge(t, Names{}, []judgement{
		{name: "one after the other", text: registered11 + `
			invoke c1 o1 unregister /n
			invoke c2 o2 register v21
			return c2 o2 register /n
			return c1 o1 unregister /n`},
		{name: "taken", text: registered11 + `
			invoke c2 o2 register v21
			return c2 o2 register ok: taken`},
		{name: "another name", text: registered11 + `
			invoke c2 o2 register v21
			return c2 o2 register /m`},
		{name: "two at once", text: registered11 + `
			invoke c2 o2 register v21
			return c2 o2 register /n`, event: 3, message: "c2 has registered /n, which c1 has registered and not given up"},
		{name: "twice by the same", text: registered11 + `
			invoke c1 o1 register v12
			return c1 o1 register /n`, event: 3, message: "c1 has registered /n, which c1 has registered and not given up"},
		{name: "a crash gives nothing up", text: registered11 + `
			crashed c1
			invoke c2 o2 register v21
			return c2 o2 register /n`, event: 4, message: "c2 has registered /n, which c1 has registered and not given up"},
		{name: "another unregisters it", text: registered11 + `
			invoke c2 o2 unregister /n
			return c2 o2 unregister /n`, event: 3,
			message: "c2 has unregistered /n, which c1 has registered and not given up"},
		{name: "another is told that it was given up while it asked", text: registered11 + `
			invoke c2 o2 unregister /n
			invoke c1 o1 unregister /n
			return c1 o1 unregister /n
			return c2 o2 unregister /n`, event: 5, message: "c2 has unregistered /n, which it has never registered"},
		{name: "all that another has asked for was refused", text: `
			invoke c2 o2 register v21
			return c2 o2 register /n ok: taken
			invoke c2 o2 unregister /n
			return c2 o2 unregister /n`, event: 3, message: "c2 has unregistered /n, which it has never registered"},
		{name: "another has perhaps registered it", text: `
			invoke c2 o2 register v21
			return c2 o2 register /n: canceled
			invoke c2 o2 unregister /n
			return c2 o2 unregister /n`},
		{name: "a name that nobody knows", text: `
			invoke c2 o2 register v21
			return c2 o2 register: canceled
			invoke c2 o2 unregister /n
			return c2 o2 unregister /n`},
		{name: "a life before has perhaps registered it", text: `
			invoke c2 o2 register v21
			crashed c2
			invoke c2 o2 unregister /n
			return c2 o2 unregister /n`},
		{name: "another's attempt to unregister gives nothing up", text: registered11 + `
			invoke c2 o2 unregister /n
			return c2 o2 unregister ok: not the owner
			invoke c2 o2 register v21
			return c2 o2 register /n`, event: 5, message: "c2 has registered /n, which c1 has registered and not given up"},
		{name: "an attempt whose end is unknown perhaps does", text: registered11 + `
			invoke c1 o1 unregister /n
			return c1 o1 unregister /n: canceled
			invoke c2 o2 register v21
			return c2 o2 register /n`},
	})
}

func TestANameIsGivenUpAgainWhenItIsAnothers(t *testing.T) {
	const again = registered11 + `
			invoke c1 o1 unregister /n
			return c1 o1 unregister: lost
			invoke c2 o2 register v21
			return c2 o2 register /n
			invoke c1 o1 unregister /n
			return c1 o1 unregister /n`
	judge(t, Names{}, []judgement{
		{name: "one that had it before tries again to give it up", text: again},
		{name: "and it ends what the other has", text: again + `
			invoke c3 o3 resolve /n
			return c3 o3 resolve /n`, event: 9,
			message: "c3 was told that there is no name /n, which c2 has registered as 21 and not given up"},
	})
}

func TestANameIsNotRefusedToItsOwner(t *testing.T) {
	judge(t, Names{}, []judgement{
		{name: "its owner gives it up", text: registered11 + `
			invoke c1 o1 unregister /n
			return c1 o1 unregister /n
			invoke c1 o1 unregister /n
			return c1 o1 unregister /n ok: no such name`},
		{name: "its owner is refused", text: registered11 + `
			invoke c1 o1 unregister /n
			return c1 o1 unregister /n ok: no such name`, event: 3,
			message: "c1 could not unregister /n, which it has registered and not given up"},
	})
}

func TestANameIsTakenOnlyWhileItIsAnothers(t *testing.T) {
	judge(t, Taken{}, []judgement{
		{name: "it is there", text: `
			created c1 /names/n z1
			invoke c2 o2 register v21
			return c2 o2 register /n ok: taken`},
		{name: "it goes meanwhile", text: `
			created c1 /group/n z1 s11
			invoke c2 o2 join /group/n
			deleted c1 /group/n z2 s11
			return c2 o2 join /group/n ok: taken`},
		{name: "it comes and goes meanwhile", text: `
			invoke c2 o2 join /group/n
			created c1 /group/n z1 s11
			deleted c1 /group/n z2 s11
			return c2 o2 join /group/n ok: taken`},
		{name: "it was gone before", text: `
			created c1 /group/n z1 s11
			deleted c1 /group/n z2 s11
			invoke c2 o2 join /group/n
			return c2 o2 join /group/n ok: taken`, event: 3,
			message: "c2 was told that /group/n is taken, which nobody else has had since it asked"},
		{name: "another is there", text: `
			created c1 /names/m-n z1
			invoke c2 o2 register v21
			return c2 o2 register /n ok: taken`, event: 2,
			message: "c2 was told that /n is taken, which nobody else has had since it asked"},
		{name: "it is its own", text: `
			invoke c2 o2 register v21
			created c2 /names/n z1
			return c2 o2 register /n ok: taken`, event: 2,
			message: "c2 was told that /n is taken, which nobody else has had since it asked"},
		{name: "it is its own, of a session that it had before", text: `
			session c2 s21 StateHasSession
			invoke c2 o2 join /group/n
			created c2 /group/n z1 s21
			session c2 s0 StateExpired
			session c2 s22 StateHasSession
			return c2 o2 join /group/n ok: taken`},
		{name: "it is its own, of a session that it had before, and made late", text: `
			session c2 s21 StateHasSession
			invoke c2 o2 join /group/n
			session c2 s21 StateDisconnected
			session c2 s22 StateHasSession
			created c2 /group/n z1 s21
			return c2 o2 join /group/n ok: taken`},
		{name: "it is its own, of the session that it has", text: `
			session c2 s21 StateHasSession
			session c2 s22 StateHasSession
			invoke c2 o2 join /group/n
			created c2 /group/n z1 s22
			return c2 o2 join /group/n ok: taken`, event: 4,
			message: "c2 was told that /group/n is taken, which nobody else has had since it asked"},
		{name: "it is its own, of a call that has failed", text: `
			invoke c2 o2 join /group/n
			return c2 o2 join /group/n: cancelled
			invoke c2 o2 join /group/n
			created c2 /group/n z1 s21
			return c2 o2 join /group/n ok: taken`},
		{name: "nobody knows of which name", text: `
			invoke c2 o2 register v21
			return c2 o2 register ok: taken`},
	})
}

func TestANameResolvesToItsOwner(t *testing.T) {
	judge(t, Names{}, []judgement{
		{name: "to the owner", text: registered11 + `
			invoke c2 o2 resolve /n
			return c2 o2 resolve /n v11`},
		{name: "another name to nobody", text: registered11 + `
			invoke c2 o2 resolve /m
			return c2 o2 resolve /m`},
		{name: "to nobody", text: registered11 + `
			invoke c2 o2 resolve /n
			return c2 o2 resolve /n`, event: 3,
			message: "c2 was told that there is no name /n, which c1 has registered as 11 and not given up"},
		{name: "to somebody else", text: registered11 + `
			invoke c2 o2 resolve /n
			return c2 o2 resolve /n v21`, event: 3, message: "c2 was told 21 for /n, which c1 has registered as 11 and not " +
			"given up"},
		{name: "it was asked before the name was registered", text: `
			invoke c2 o2 resolve /n
			invoke c1 o1 register v11
			return c1 o1 register /n
			return c2 o2 resolve /n`},
		{name: "the name is being given up", text: `
			invoke c1 o1 register v11
			return c1 o1 register /n
			invoke c2 o2 resolve /n
			invoke c1 o1 unregister /n
			return c2 o2 resolve /n`},
		{name: "the name was given up", text: registered11 + `
			invoke c1 o1 unregister /n
			return c1 o1 unregister /n
			invoke c2 o2 resolve /n
			return c2 o2 resolve /n v11`, event: 5, message: "c2 was told 11 for /n, which c1 had given up before"},
		{name: "the name was given up at the second try", text: registered11 + `
			invoke c1 o1 unregister /n
			return c1 o1 unregister /n: canceled
			invoke c1 o1 unregister /n
			return c1 o1 unregister /n
			invoke c2 o2 resolve /n
			return c2 o2 resolve /n v11`, event: 7, message: "c2 was told 11 for /n, which c1 had given up before"},
		{name: "the name was given up while it was asked", text: registered11 + `
			invoke c1 o1 unregister /n
			invoke c2 o2 resolve /n
			return c1 o1 unregister /n
			return c2 o2 resolve /n v11`},
		{name: "the name was given up and is another's", text: registered11 + `
			invoke c1 o1 unregister /n
			return c1 o1 unregister /n
			invoke c2 o2 register v21
			invoke c3 o3 resolve /n
			return c3 o3 resolve /n v21`},
		{name: "no answer", text: registered11 + `
			invoke c2 o2 resolve /n
			return c2 o2 resolve /n: canceled`},
	})
}

// TestAnAnswerNeedNotRepeatTheName has clients that record a name only when they ask.
func TestAnAnswerNeedNotRepeatTheName(t *testing.T) {
	judge(t, Names{}, []judgement{
		{name: "the owner gives it up", text: registered11 + `
			invoke c1 o1 unregister /n
			return c1 o1 unregister`},
		{name: "another gives it up", text: registered11 + `
			invoke c2 o2 unregister /n
			return c2 o2 unregister`, event: 3,
			message: "c2 has unregistered /n, which c1 has registered and not given up"},
		{name: "it resolves to nobody", text: registered11 + `
			invoke c2 o2 resolve /n
			return c2 o2 resolve`, event: 3,
			message: "c2 was told that there is no name /n, which c1 has registered as 11 and not given up"},
		{name: "it was given up", text: registered11 + `
			invoke c1 o1 unregister /n
			return c1 o1 unregister
			invoke c2 o2 resolve /n
			return c2 o2 resolve v11`, event: 5, message: "c2 was told 11 for /n, which c1 had given up before"},
	})
}
