// Package edit measures how much two texts differ, to name the one that was meant.
package edit

import "strings"

// Distance is how many bytes must be inserted, deleted or replaced to turn a into b (Levenshtein, 1966). It takes time
// proportional to the product of their lengths.
func Distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// How much of a long text is compared, and how many letters may always be wrong, however short the text.
const (
	compared = 80
	fewWrong = 2
)

// nearest returns the known word that a misspelt one may have meant: the one that differs least and, of several, the
// one that begins most like it. At most a third of the letters may differ. The beginning of a known word counts as one
// wrong letter. nearest returns "" if there is no such word, and for a known word.
func nearest(word string, known []string) string {
	word = word[:min(len(word), compared)]
	best, fewest := "", max(fewWrong, len(word)/3)+1
	for _, k := range known {
		n := Distance(word, k[:min(len(k), compared)])
		if len(word) > fewWrong && strings.HasPrefix(k, word) {
			n = min(n, 1)
		}
		if n == 0 { // its letters are right
			return ""
		}
		if n >= letters(word) || n >= letters(k) && !strings.HasPrefix(word, k) {
			continue
		}
		if n < fewest || n == fewest && best != "" && common(word, k) > common(word, best) {
			best, fewest = k, n
		}
	}
	return best
}

// letters is the number of letters of a word, without the - of a flag: at least one must be right.
func letters(word string) int { return len(strings.TrimPrefix(word, "-")) }

// common is the length in bytes of the common prefix of two texts.
func common(a, b string) (n int) {
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// Meant returns a clause for the end of an error with the nearest of the known words; "" if there is none.
func Meant(word string, known []string) string {
	if best := nearest(word, known); best != "" {
		return "; did you mean " + best + "?"
	}
	return ""
}
