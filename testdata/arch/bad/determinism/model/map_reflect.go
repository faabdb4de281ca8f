package model

import "reflect"

func reflected(m any) any { return reflect.ValueOf(m).MapKeys()[0].Interface() }
