package model

import _ "net/textproto"
