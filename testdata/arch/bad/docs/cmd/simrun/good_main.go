// Simrun is a command.
package main

func Run() {}
