#!/usr/bin/env bash
# Prints the table of README.md: for each model and bound the states and transitions
# that spin explores, with its partial order reduction off and on, and the CPU time as
# a multiple of that of the first line. A line that does not end within LIMIT
# seconds of that (default 600) says so.
set -euo pipefail
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
src=$PWD
unit=

# explore FLAGS DEFINES MODEL prints "states transitions seconds", if it comes to the
# end.
explore() {
	(
		cd "$work"
		rm -f pan*
		cp "$src"/*.pml .
		# shellcheck disable=SC2086
		spin -a $2 "$3.pml" >/dev/null
		# shellcheck disable=SC2086
		gcc -w -O2 -DSAFETY -DCOLLAPSE -DMEMLIM=6000 $1 -o pan pan.c
		TIMEFORMAT=%U
		{ time (ulimit -t "${LIMIT:-600}" && ./pan -E -m1000000 -w22 >out 2>&1) || true; } 2>cpu
		grep -q '^pan: elapsed time' out && ! grep -q 'errors: [1-9]\|error: max' out || exit 0
		awk -v cpu="$(cat cpu)" '/states, stored/ { s = $1 } /transitions \(=/ { t = $1 } END { print s, t, cpu }' out
	)
}

row() { # MODEL N LOSSES EXPIRIES LATE
	local plain reduced= defines="-DN=$2 -DLOSSES=$3 -DEXPIRIES=$4 -DLATE=$5"
	plain=$(explore -DNOREDUCE "$defines" "$1")
	[ -n "$plain" ] && reduced=$(explore '' "$defines" "$1")
	if [ -z "${reduced:-}" ]; then
		echo "| $1 | $2 | $3 | $4 | $5 | not within the limits | | | |"
		return
	fi
	read -r states transitions seconds <<<"$plain"
	unit=${unit:-$seconds}
	awk -v s="$states" -v t="$transitions" -v x="$seconds" -v u="$unit" -v r="${reduced%% *}" \
		-v head="| $1 | $2 | $3 | $4 | $5 |" 'BEGIN { printf "%s %d | %d | %.2f | %.2g |\n", head, s, t, r / s, x / u }'
}

echo '| model | clients | losses | expiries | late expiries | states | transitions | with reduction | CPU time |'
echo '|---|---|---|---|---|---|---|---|---|'
for model in lock double_barrier queue; do
	for bounds in "2 2 1 0" "2 0 0 0" "2 1 0 0" "2 1 1 0" "2 0 0 1" "2 2 0 0" "3 0 0 0"; do
		# shellcheck disable=SC2086
		row $model $bounds
	done
done
row lock 3 1 0 0
row lock 3 1 1 0
row lock 4 0 0 0
