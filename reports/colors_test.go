package reports

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// rgb is a colour, each part from 0 to 1.
type rgb [3]float64

// scheme is the colours of the light or of the dark page, by their names.
type scheme map[string]rgb

var declared = regexp.MustCompile(`--([\w-]+): #([0-9a-f]{3,6});`)

// schemes reads the colours from the style.
func schemes(t *testing.T) map[string]scheme {
	t.Helper()
	light, dark, ok := strings.Cut(colors, "(prefers-color-scheme: dark)")
	if !ok {
		t.Fatal("the style has no dark colours")
	}
	all := map[string]scheme{"light": {}, "dark": {}}
	for name, text := range map[string]string{"light": light, "dark": dark} {
		for _, m := range declared.FindAllStringSubmatch(text, -1) {
			digits := m[2]
			if len(digits) == 3 {
				digits = fmt.Sprintf("%[1]c%[1]c%[2]c%[2]c%[3]c%[3]c", digits[0], digits[1], digits[2])
			}
			n, err := strconv.ParseUint(digits, 16, 32)
			if err != nil {
				t.Fatal(err)
			}
			all[name][m[1]] = rgb{float64(n>>16) / 255, float64(n>>8&255) / 255, float64(n&255) / 255}
		}
	}
	return all
}

// luminance and contrast are those of WCAG 2.
func (c rgb) luminance() float64 {
	for i, x := range c {
		if c[i] = x / 12.92; x > 0.03928 {
			c[i] = math.Pow((x+0.055)/1.055, 2.4)
		}
	}
	return 0.2126*c[0] + 0.7152*c[1] + 0.0722*c[2]
}

func contrast(a, b rgb) float64 {
	x, y := a.luminance(), b.luminance()
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// over is a colour that lies over another one and lets it through.
func (c rgb) over(ground rgb, opacity float64) rgb {
	for i := range c {
		c[i] = opacity*c[i] + (1-opacity)*ground[i]
	}
	return c
}

// opacity returns that of a rule of the style.
func opacity(t *testing.T, selector string) float64 {
	t.Helper()
	m := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(selector) + ` \{.*opacity: (\.\d+);`).FindStringSubmatch(style)
	if m == nil {
		t.Fatalf("%s has no opacity", selector)
	}
	x, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// enough is the contrast that WCAG 2 asks for (level AA).
const enough = 4.5

// Texts of these colours lie on any of these grounds, and each ink on its own.
var (
	textColors = []string{"ink", "quiet", "belief", "fault", "told", "wasted", "error"}
	grounds    = []string{"paper", "raised", "error-wash", "new"}
	laneTexts  = []string{"ink", "quiet", "belief", "fault", "error"}
	inks       = [][2]string{{"belief-ink", "belief"}, {"call-ink", "call"}, {"lost-ink", "lost"},
		{"error-ink", "error"},
		{"paper", "fault"}, {"paper", "wasted"}, {"paper", "ink"}, {"ink", "operation"}, {"ink", "refused"}}
)

func TestEveryTextHasEnoughContrast(t *testing.T) {
	cursor, violation := opacity(t, "#cursor"), opacity(t, "rect.violation")
	for name, s := range schemes(t) {
		check := func(what string, text, ground rgb) {
			if c := contrast(text, ground); c < enough {
				t.Errorf("%s: %s has a contrast of %.2f, expected %v", name, what, c, enough)
			}
		}
		for _, text := range textColors {
			for _, ground := range grounds {
				check(text+" on "+ground, s[text], s[ground])
			}
		}
		for _, pair := range inks {
			check(pair[0]+" on "+pair[1], s[pair[0]], s[pair[1]])
		}
		// under the cursor, in the column of the violation, or both
		for _, lane := range []string{"raised", "error-wash"} {
			under := s["cursor"].over(s[lane], cursor)
			for _, text := range laneTexts {
				check(text+" under the cursor", s[text], under)
				check(text+" in the column of the violation", s[text], s["error"].over(s[lane], violation))
				check(text+" in both", s[text], s["error"].over(under, violation))
			}
		}
	}
}

var used = regexp.MustCompile(`(?:^|[ ;{])(color|background|fill): var\(--([\w-]+)\)`)

// A colour that the style gives a text is one whose contrast is looked at, and so is a background of texts.
func TestTheContrastOfEveryColourOfTextIsLookedAt(t *testing.T) {
	known := slices.Concat(textColors, grounds)
	for _, pair := range inks {
		known = append(known, pair[0], pair[1])
	}
	shapes := []string{"rule", "connected", "away", "deceived", "cursor", "operation-rule"} // without a text on them
	for _, text := range []string{pageStyle, indexStyle} {
		for _, m := range used.FindAllStringSubmatch(text, -1) {
			if !slices.Contains(known, m[2]) && (m[1] == "color" || !slices.Contains(shapes, m[2])) {
				t.Errorf("%s: %s is in no pair of this test", m[1], m[2])
			}
		}
		if m := regexp.MustCompile(`#[0-9a-fA-F]{3,6}\b`).FindString(text); m != "" && !strings.HasPrefix(m, "#na") {
			t.Errorf("%s: colours have names, in colors.css", m)
		}
	}
	if s := schemes(t); len(s["light"]) != len(s["dark"]) || len(s["light"]) < 20 {
		t.Errorf("%d light colours and %d dark ones", len(s["light"]), len(s["dark"]))
	}
	black, white := rgb{}, rgb{1, 1, 1}
	if c := contrast(black, white); math.Abs(c-21) > 1e-9 {
		t.Errorf("black on white has %v", c)
	}
}
