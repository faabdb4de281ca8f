package model

import _ "os"
