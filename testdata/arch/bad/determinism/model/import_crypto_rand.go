package model

import _ "crypto/rand"
