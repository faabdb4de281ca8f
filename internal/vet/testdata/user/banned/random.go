package banned

import (
	"crypto/rand"
	"hash/maphash"
	old "math/rand"

	"zksim/recipes"
)

func draws(env recipes.Env) {
	_ = rand1()            // the finding is in rand1
	_ = old.Intn(6)        // want `^math/rand.Intn draws what no seed of the simulator decides; use Process.Choose, Env.UUID for names, or rand.New with a fixed seed$`
	old.Shuffle(1, nil)    // want `^math/rand.Shuffle draws`
	_, _ = rand.Read(nil)  // want `^crypto/rand.Read draws what no seed of the simulator decides; use Env.UUID$`
	_ = rand.Reader        // want `^crypto/rand.Reader draws`
	_ = rand.Text()        // want `^crypto/rand.Text draws`
	_ = maphash.MakeSeed() // want `^hash/maphash.MakeSeed draws`
	_ = env.UUID()

	own := old.New(old.NewSource(1))
	_ = own.Intn(6)
}
