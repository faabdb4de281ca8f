package model

import . "time"

var year = Now().Year()
