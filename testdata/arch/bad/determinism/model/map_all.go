package model

import each "maps"

var pairs = each.All(map[int]int{1: 1, 2: 2})
