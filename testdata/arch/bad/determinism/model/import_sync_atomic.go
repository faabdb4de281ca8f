package model

import _ "sync/atomic"
