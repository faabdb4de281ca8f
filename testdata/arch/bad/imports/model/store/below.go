package store

import _ "zksim/sim"
