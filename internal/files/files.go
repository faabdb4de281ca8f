// Package files writes files whole or not at all, and reads JSON without losing a field.
package files

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Writable makes the folder and tries to write there as [Save] writes a file of that name, so that a mistake shows
// before hours of work, not after.
func Writable(dir, name string) error {
	err := os.MkdirAll(dir, 0o777)
	if err == nil {
		var probe *os.File
		if probe, err = create(dir, name); err != nil {
			return fmt.Errorf("%s cannot be written to: %w", dir, cause(err))
		}
		err = errors.Join(probe.Close(), os.Remove(probe.Name()))
	}
	return err
}

// cause is why a file could not be made, without the file's name, which means nothing to the user.
func cause(err error) error {
	if x, ok := errors.AsType[*fs.PathError](err); ok {
		return x.Err
	}
	return err
}

// Save writes a file whole or not at all: first under another name. The writer is an *os.File.
func Save(dir, name string, write func(io.Writer) error) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("writing %s: %w", filepath.Join(dir, name), err)
	}
	tmp, err := create(dir, name)
	if err != nil {
		return fmt.Errorf("writing %s: %w", filepath.Join(dir, name), cause(err))
	}
	err = errors.Join(write(tmp), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), filepath.Join(dir, name))
	}
	if err != nil {
		os.Remove(tmp.Name())
		return fmt.Errorf("writing %s: %w", filepath.Join(dir, name), err)
	}
	return nil
}

// Read reads a regular file. Others, such as a pipe, may never end.
func Read(name string) ([]byte, error) {
	f, err := Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// Open opens a regular file to be read. To open a pipe may take forever.
func Open(name string) (*os.File, error) {
	if info, err := os.Stat(name); err != nil {
		return nil, err
	} else if !info.IsDir() && !info.Mode().IsRegular() { // a folder fails at the read
		return nil, fmt.Errorf("%s is no regular file", name)
	}
	return os.Open(name)
}

// Unmarshal reads the one JSON value of a text into x. A field that x does not have is an error: its value would be
// lost, and the field that was meant would be empty.
func Unmarshal(text []byte, x any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(x); err != nil {
		return err
	}
	if len(bytes.TrimSpace(text[d.InputOffset():])) > 0 {
		return errors.New("there is more behind it")
	}
	return nil
}

// Remove removes a file, if there is one.
func Remove(name string) error {
	err := os.Remove(name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil
	}
	return err
}

// create makes a new file beside the one with that name. Unlike [os.CreateTemp], it leaves it to the user's umask who
// may read the file.
func create(dir, name string) (*os.File, error) {
	for n := os.Getpid(); ; n++ {
		file := filepath.Join(dir, fmt.Sprintf("%s.%d", name, n))
		f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}

// Own returns a folder for temporary files, and makes it if it does not exist. It has the given name, unless another
// user has put something there or may write into it: then its name only begins with that.
func Own(name string) (dir string, err error) {
	dir = filepath.Join(os.TempDir(), name)
	if err := os.Mkdir(dir, 0o700); err == nil {
		return dir, nil
	}
	if info, err := os.Lstat(dir); err == nil && info.IsDir() && exclusive(info) {
		return dir, nil
	}
	return os.MkdirTemp("", name+"-*")
}
