package utility
