package lock

import _ "zksim/recipes/live"
