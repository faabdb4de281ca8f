package model

import _ "sync"
