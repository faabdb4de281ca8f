package model

import _ "hash/maphash"
