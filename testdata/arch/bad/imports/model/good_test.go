package model

import _ "zksim/sim"
