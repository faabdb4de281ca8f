package sim

import _ "zksim/stray"
