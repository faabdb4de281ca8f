package sim

import _ "pgregory.net/rapid"
