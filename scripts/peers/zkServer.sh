#!/bin/bash
# Replaces ZooKeeper's script of that name, for tests that start servers with "zkServer.sh start-foreground FILE". The
# servers of one ensemble are one process of "$SIMRUN serve". When a script is killed, so is its server. When the script
# is started again, the server continues.
set -eu

config=$2
data=$(sed -n 's/^dataDir=//p' "$config")
port=$(sed -n 's/^clientPort=//p' "$config")
tick=$(sed -n 's/^tickTime=//p' "$config")
nodes=$(grep -c '^server\.' "$config" || true)
id=1
if [ "$nodes" -gt 1 ]; then id=$(cat "$data/myid"); else nodes=1; fi
shared=$(dirname "$data")

if mkdir "$shared/simrun" 2> /dev/null; then
	listen=127.0.0.1:$((port - 3 * (id - 1)))
	for ((k = 1; k < nodes; k++)); do
		listen+=,127.0.0.1:$((port + 3 * (k - id + 1)))
	done
	setsid "$SIMRUN" serve -listen "$listen" -nodes "$nodes" -control 127.0.0.1:0 -tick "${tick}ms" \
		> "$shared/simrun/out" 2>&1 < /dev/null &
	echo $! > "$shared/simrun/pid"
fi
until grep -q '^ready' "$shared/simrun/out" 2> /dev/null; do sleep 0.02; done
control=$(awk '/^control/ { print $2 }' "$shared/simrun/out")
if [ -e "$shared/simrun/down-$id" ]; then
	rm "$shared/simrun/down-$id"
	curl -s -d "s$id" "$control/continue" > /dev/null
fi

server=$(cat "$shared/simrun/pid")

( # this outlives the script, and perhaps its folder
	set +e
	while kill -0 $$; do sleep 0.05; done
	touch "$shared/simrun/down-$id"
	curl -s -d "s$id" "$control/kill"
	sleep 5
	if [ ! -e "$shared/simrun" ] || [ "$(ls "$shared/simrun" | grep -c '^down')" -ge "$nodes" ]; then
		kill "$server"
	fi
) > /dev/null 2>&1 < /dev/null &
exec sleep infinity > /dev/null 2>&1
