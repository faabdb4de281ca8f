package simrun

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"zksim/internal/files"
)

// output is a file that a flag names. A regular file is replaced once its new content is complete; a symbolic link
// stays one. A device, a pipe, and a file that is also the standard output or error are written to.
type output struct {
	name string   // as given
	file string   // with symbolic links followed
	std  *os.File // the standard output or error, if it is that
	pipe bool     // a FIFO

	replaced bool // each write is a new version of a regular file

	to      io.Writer // the standard output of the command, if the name is "-"
	waiting func()    // called before it waits for the reader of a FIFO
}

// stdStream is the name of the standard input or output.
const stdStream = "-"

// openOutput checks what a file is and whether it can be written, before there is anything to lose. It neither changes
// the file nor waits for a reader.
func (a *app) openOutput(command, flag, name string) (*output, error) {
	o := &output{name: name, file: name, waiting: func() {
		a.says(command, "-%s is a pipe, and waits for its reader; a signal ends that", flag)
	}}
	if name == stdStream {
		o.to = a.out
		return o, nil
	}
	if err := o.probe(); err != nil {
		return nil, fmt.Errorf("-%s: %w", flag, err)
	}
	return o, nil
}

func (o *output) probe() error {
	info, err := os.Stat(o.name)
	if err == nil && info.IsDir() || strings.HasSuffix(o.name, "/") {
		return fmt.Errorf("%s is a folder, not a file", o.name)
	}
	if err == nil {
		for _, f := range []*os.File{os.Stdout, os.Stderr} {
			if x, err := f.Stat(); err == nil && os.SameFile(x, info) {
				o.std = f
				return nil
			}
		}
		switch kind := info.Mode().Type(); {
		case kind&fs.ModeNamedPipe != 0:
			o.pipe = true
			return access(o.name)
		case kind&fs.ModeDevice != 0:
			return access(o.name)
		case kind != 0:
			return fmt.Errorf("%s is neither a file nor a device nor a pipe", o.name)
		}
	}
	o.replaced = true
	if o.file, err = follow(o.name); err != nil {
		return err
	}
	return files.Writable(filepath.Dir(o.file), filepath.Base(o.file))
}

// maxLinks is the largest number of symbolic links to follow to a file.
const maxLinks = 40

// follow returns the file to which a symbolic link leads, whether it exists or not.
func follow(name string) (string, error) {
	for range maxLinks {
		target, err := os.Readlink(name)
		if err != nil { // no link
			return name, nil
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(name), target)
		}
		name = target
	}
	return "", fmt.Errorf("too many symbolic links lead from %s", name)
}

// write writes the content. For a pipe without a reader it waits until there is one, or ctx is done.
func (o *output) write(ctx context.Context, content func(io.Writer) error) error {
	if o.replaced {
		return files.Save(filepath.Dir(o.file), filepath.Base(o.file), content)
	}
	err := o.writeTo(ctx, content)
	if err != nil {
		err = fmt.Errorf("writing %s: %w", o.name, err)
	}
	return err
}

// writeTo writes to a file that already exists.
func (o *output) writeTo(ctx context.Context, content func(io.Writer) error) error {
	if o.to != nil {
		return content(o.to)
	}
	if o.std != nil {
		return content(o.std)
	}
	f, err := os.OpenFile(o.file, os.O_WRONLY|syscall.O_NONBLOCK, 0)
	if o.pipe && errors.Is(err, syscall.ENXIO) {
		f, err = o.await(ctx)
	}
	if err != nil {
		return err
	}
	return errors.Join(content(f), f.Close())
}

var errNoReader = errors.New("nobody reads the pipe")

// await opens a pipe when it has a reader.
func (o *output) await(ctx context.Context) (*os.File, error) {
	if ctx.Err() != nil {
		return nil, errNoReader
	}
	o.waiting()
	type opened struct {
		f   *os.File
		err error
	}
	done := make(chan opened, 1)
	go func() {
		f, err := os.OpenFile(o.file, os.O_WRONLY, 0)
		done <- opened{f, err}
	}()
	select {
	case x := <-done:
		return x.f, x.err
	case <-ctx.Done():
		go func() { // a reader that comes later must not wait for more
			if x := <-done; x.err == nil {
				x.f.Close()
			}
		}()
		return nil, errNoReader
	}
}

// namedFile is a file, and the flag that names it, or "" for an argument. Without a name it is none.
type namedFile struct{ flag, name string }

// separate returns an error if two of these are one regular file: what is in it would be lost.
func separate(list ...namedFile) error {
	for i, y := range list {
		info, err := os.Stat(y.name)
		if y.name == "" || y.name == stdStream || err == nil && !info.Mode().IsRegular() {
			continue
		}
		for _, x := range list[:i] {
			switch {
			case x.name == "" || !sameFile(x.name, y.name):
			case x.flag == "":
				return fmt.Errorf("-%s: %s is the file to read, expected another one", y.flag, y.name)
			default:
				return fmt.Errorf("-%s and -%s are both %s, expected a file for each", x.flag, y.flag, y.name)
			}
		}
	}
	return nil
}

// unwritten is the error of files that could not be written, nil if there are none.
func unwritten(lost []error) error {
	switch n := len(lost); n {
	case 0:
		return nil
	case 1:
		return lost[0]
	default:
		return fmt.Errorf("%w; and %d more", lost[0], n-1)
	}
}
