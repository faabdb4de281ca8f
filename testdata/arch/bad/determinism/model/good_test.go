package model

import "time"

var now = time.Now()
