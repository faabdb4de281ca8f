//zksim:ignore on a real server only
package ignores

import (
	"time"

	"zksim/recipes"
)

func inFile(env recipes.Env) { time.Sleep(1) }

func alsoInFile(env recipes.Env) {
	time.Sleep(0) //zksim:ignore the nearer comment is used
}
