package conform

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"zksim/internal/files"
	"zksim/internal/transcript"
)

// Replayed is the result of [Replay].
type Replayed struct {
	Transcripts, Steps, Differences int
	// Skipped are files that, by their header, record a client library and not a server.
	Skipped []string
}

// Replay replays every transcript (*.jsonl) in a folder and its subfolders, in the order of their paths, against the
// model of the server. It calls differ for each difference. A file that cannot be read or parsed is an error, and so is
// a folder without transcripts; then nothing is replayed.
func Replay(ctx context.Context, dir string, differ func(file string, d transcript.Difference)) (Replayed, error) {
	var r Replayed
	var names []string
	var recordings []*transcript.Transcript
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".jsonl" {
			return err
		}
		data, err := files.Read(path)
		if err != nil {
			return err
		}
		if ofClient(data) {
			r.Skipped = append(r.Skipped, path)
			return nil
		}
		t, err := transcript.Parse(bytes.NewReader(data))
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		names, recordings = append(names, path), append(recordings, t)
		return ctx.Err()
	})
	if err != nil {
		return r, err
	}
	if len(names) == 0 {
		return r, fmt.Errorf("%s: no transcripts (*.jsonl)%s", dir, aside(len(r.Skipped)))
	}
	for i, t := range recordings {
		if err := ctx.Err(); err != nil {
			return r, err
		}
		r.Transcripts++
		r.Steps += len(t.Steps)
		for _, d := range transcript.Replay(t) {
			r.Differences++
			differ(names[i], d)
		}
	}
	return r, nil
}

func aside(skipped int) string {
	if skipped == 0 {
		return ""
	}
	return fmt.Sprintf(", but %d recordings of a client library", skipped)
}

// ofClient reports whether the header names a recorded client.
func ofClient(data []byte) bool {
	line, _ := bufio.NewReader(bytes.NewReader(data)).ReadString('\n')
	var header struct{ Kind, Client string }
	return json.Unmarshal([]byte(strings.TrimSpace(line)), &header) == nil && header.Kind == "header" &&
		header.Client != ""
}
