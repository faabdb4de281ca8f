package model

import _ "math/rand"
