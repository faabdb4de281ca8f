package model

import world "zksim/sim"

var _ world.World
