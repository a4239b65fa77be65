// Verify a log with the libraries of Go's checksum database. The arguments are the folder of the log, its public key
// and a file with proofs in JSON.
package main

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

type inclusion struct {
	Index  int64
	Hashes []string
}

type consistency struct {
	Old    int64
	Root   string
	Hashes []string
}

type proofs struct {
	Inclusion   []inclusion
	Consistency []consistency
}

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func hash(text string) (found tlog.Hash) {
	if copy(found[:], must(base64.StdEncoding.DecodeString(text))) != tlog.HashSize {
		log.Fatalf("%s is not a hash", text)
	}
	return found
}

func hashes(texts []string) (found []tlog.Hash) {
	for _, text := range texts {
		found = append(found, hash(text))
	}
	return found
}

// bundle returns the path of the tile of entries with a number and a width.
func bundle(number, width int64) string {
	path := fmt.Sprintf("%03d", number%1000)
	for number >= 1000 {
		number /= 1000
		path = fmt.Sprintf("x%03d/%s", number%1000, path)
	}
	if width < 256 {
		path += fmt.Sprintf(".p/%d", width)
	}
	return filepath.Join("tile", "entries", path)
}

func main() {
	folder := os.Args[1]
	verifier := must(note.NewVerifier(os.Args[2]))
	opened := must(note.Open(must(os.ReadFile(filepath.Join(folder, "checkpoint"))), note.VerifierList(verifier)))
	lines := strings.Split(opened.Text, "\n")
	if lines[0] != verifier.Name() {
		log.Fatalf("the origin is %s", lines[0])
	}
	size, root := must(strconv.ParseInt(lines[1], 10, 64)), hash(lines[2])

	var stored []tlog.Hash
	read := tlog.HashReaderFunc(func(indexes []int64) ([]tlog.Hash, error) {
		found := make([]tlog.Hash, len(indexes))
		for i, index := range indexes {
			found[i] = stored[index]
		}
		return found, nil
	})
	var records []tlog.Hash
	for start := int64(0); start < size; start += 256 {
		width := size - start
		if width > 256 {
			width = 256
		}
		content := must(os.ReadFile(filepath.Join(folder, bundle(start/256, width))))
		for len(content) > 0 {
			length := binary.BigEndian.Uint16(content)
			entry := content[2 : 2+length]
			content = content[2+length:]
			stored = append(stored, must(tlog.StoredHashes(int64(len(records)), entry, read))...)
			records = append(records, tlog.RecordHash(entry))
		}
	}
	if int64(len(records)) != size || must(tlog.TreeHash(size, read)) != root {
		log.Fatalf("%d entries do not have the signed root", len(records))
	}

	var given proofs
	if err := json.Unmarshal(must(os.ReadFile(os.Args[3])), &given); err != nil {
		log.Fatal(err)
	}
	for _, each := range given.Inclusion {
		if err := tlog.CheckRecord(hashes(each.Hashes), size, root, each.Index, records[each.Index]); err != nil {
			log.Fatalf("entry %d: %v", each.Index, err)
		}
	}
	for _, each := range given.Consistency {
		old := hash(each.Root)
		if must(tlog.TreeHash(each.Old, read)) != old {
			log.Fatalf("another root of %d entries", each.Old)
		}
		if err := tlog.CheckTree(hashes(each.Hashes), size, root, each.Old, old); err != nil {
			log.Fatalf("tree of %d entries: %v", each.Old, err)
		}
	}
	fmt.Printf("%d entries, %d inclusion proofs and %d consistency proofs are right\n",
		size, len(given.Inclusion), len(given.Consistency))
}
