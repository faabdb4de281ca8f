package main

import (
	_ "zksim/model/store"
	_ "zksim/recipes/live"
)
