// Verify a log with the packages of Go's checksum database, which share no code with Ararat.
//
//	GO111MODULE=off GOPATH=/usr/share/gocode go run verify_log.go FOLDER LOG-VKEY WITNESS-VKEY PROOFS
//
// FOLDER has the files of the log. PROOFS has proofs of inclusion (*.tlog-proof, with the entry as extra data),
// proofs of consistency (*.consistency: a line with the old size, a line with the old root, then the hashes), and
// earlier checkpoints (*.checkpoint).
package main

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

const height = 8

// witness verifies cosignatures (C2SP tlog-cosignature), which the package note does not know.
type witness struct {
	name string
	key  ed25519.PublicKey
}

func newWitness(vkey string) witness {
	parts := strings.SplitN(vkey, "+", 3)
	content := decode(parts[2])
	if content[0] != 4 || len(content) != 1+ed25519.PublicKeySize {
		log.Fatalf("%s is not the key of a witness", vkey)
	}
	found := witness{parts[0], ed25519.PublicKey(content[1:])}
	if fmt.Sprintf("%08x", found.KeyHash()) != parts[1] {
		log.Fatalf("%s has the ID %08x", vkey, found.KeyHash())
	}
	return found
}

func (w witness) Name() string { return w.name }

func (w witness) KeyHash() uint32 {
	sum := sha256.Sum256(append([]byte(w.name+"\n\x04"), w.key...))
	return binary.BigEndian.Uint32(sum[:])
}

func (w witness) Verify(msg, sig []byte) bool {
	if len(sig) != 8+ed25519.SignatureSize {
		return false
	}
	text := fmt.Sprintf("cosignature/v1\ntime %d\n%s", binary.BigEndian.Uint64(sig), msg)
	return ed25519.Verify(w.key, []byte(text), sig[8:])
}

// tiles reads the tiles of hashes of a log.
type tiles struct{ folder string }

func (t tiles) Height() int { return height }

func (t tiles) ReadTiles(wanted []tlog.Tile) ([][]byte, error) {
	var found [][]byte
	for _, tile := range wanted {
		content, err := os.ReadFile(filepath.Join(t.folder, place(strconv.Itoa(tile.L), tile.N, tile.W)))
		if err != nil {
			return nil, err
		}
		found = append(found, content)
	}
	return found, nil
}

func (t tiles) SaveTiles([]tlog.Tile, [][]byte) {}

// place returns the path of a tile (C2SP tlog-tiles).
func place(level string, n int64, width int) string {
	path := fmt.Sprintf("%03d", n%1000)
	for n >= 1000 {
		n /= 1000
		path = fmt.Sprintf("x%03d/%s", n%1000, path)
	}
	if width < 1<<height {
		path += fmt.Sprintf(".p/%d", width)
	}
	return "tile/" + level + "/" + path
}

func decode(text string) []byte {
	content, err := base64.StdEncoding.DecodeString(text)
	check(err)
	return content
}

func hash(text string) (found tlog.Hash) {
	if copy(found[:], decode(text)) != tlog.HashSize {
		log.Fatalf("%s is not a hash", text)
	}
	return found
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func read(path string) []byte {
	content, err := os.ReadFile(path)
	check(err)
	return content
}

// open verifies the signatures of a checkpoint, and returns its tree and the number of its signatures.
func open(content []byte, origin string, keys note.Verifiers) (tlog.Tree, int) {
	opened, err := note.Open(content, keys)
	check(err)
	lines := strings.Split(opened.Text, "\n")
	if lines[0] != origin || len(lines) != 4 {
		log.Fatalf("not a checkpoint of %s: %q", origin, opened.Text)
	}
	size, err := strconv.ParseInt(lines[1], 10, 64)
	check(err)
	return tlog.Tree{N: size, Hash: hash(lines[2])}, len(opened.Sigs)
}

func main() {
	folder, proofs := os.Args[1], os.Args[4]
	key, err := note.NewVerifier(os.Args[2])
	check(err)
	keys := note.VerifierList(key, newWitness(os.Args[3]))
	tree, signatures := open(read(filepath.Join(folder, "checkpoint")), key.Name(), keys)
	fmt.Printf("checkpoint: %d entries, root %s, %d signatures\n", tree.N, tree.Hash, signatures)

	// The reader verifies each tile against the root of the checkpoint.
	hashes := tlog.TileHashReader(tree, tiles{folder})
	var stored []tlog.Hash
	memory := tlog.HashReaderFunc(func(indexes []int64) ([]tlog.Hash, error) {
		var found []tlog.Hash
		for _, index := range indexes {
			found = append(found, stored[index])
		}
		return found, nil
	})
	for first := int64(0); first < tree.N; first += 1 << height {
		width := 1 << height
		if rest := tree.N - first; rest < int64(width) {
			width = int(rest)
		}
		bundle := read(filepath.Join(folder, place("entries", first>>height, width)))
		var indexes []int64
		var leaves []tlog.Hash
		for number := first; number < first+int64(width); number++ {
			end := 2 + int(binary.BigEndian.Uint16(bundle))
			more, err := tlog.StoredHashes(number, bundle[2:end], memory)
			check(err)
			stored = append(stored, more...)
			leaves = append(leaves, tlog.RecordHash(bundle[2:end]))
			indexes = append(indexes, tlog.StoredHashIndex(0, number))
			bundle = bundle[end:]
		}
		if len(bundle) != 0 {
			log.Fatalf("entries from %d on: %d bytes too many", first, len(bundle))
		}
		found, err := hashes.ReadHashes(indexes)
		check(err)
		for i := range found {
			if found[i] != leaves[i] {
				log.Fatalf("entry %d differs from its hash", first+int64(i))
			}
		}
	}
	root, err := tlog.TreeHash(tree.N, memory)
	check(err)
	if root != tree.Hash {
		log.Fatalf("the entries have the root %s", root)
	}
	fmt.Printf("entries: %d agree with the tiles and the root\n", tree.N)

	checked := 0
	for number := int64(0); number < tree.N; number += 97 {
		proof, err := tlog.ProveRecord(tree.N, number, hashes)
		check(err)
		check(tlog.CheckRecord(proof, tree.N, tree.Hash, number, stored[tlog.StoredHashIndex(0, number)]))
		checked++
	}
	fmt.Printf("inclusion: %d proofs from the tiles are right\n", checked)

	names, err := filepath.Glob(filepath.Join(proofs, "*.tlog-proof"))
	check(err)
	for _, name := range names {
		head, checkpoint, _ := strings.Cut(string(read(name)), "\n\n")
		lines := strings.Split(head, "\n")
		seen, _ := open([]byte(checkpoint), key.Name(), keys)
		number, err := strconv.ParseInt(strings.TrimPrefix(lines[2], "index "), 10, 64)
		check(err)
		entry := decode(strings.TrimPrefix(lines[1], "extra "))
		var proof tlog.RecordProof
		for _, line := range lines[3:] {
			proof = append(proof, hash(line))
		}
		if err := tlog.CheckRecord(proof, seen.N, seen.Hash, number, tlog.RecordHash(entry)); err != nil {
			log.Fatalf("%s: %v", name, err)
		}
		if !bytes.HasPrefix(entry, []byte("ararat-event/v1\n")) {
			log.Fatalf("%s: not an entry", name)
		}
	}
	fmt.Printf("inclusion: %d proofs of Ararat are right\n", len(names))

	names, err = filepath.Glob(filepath.Join(proofs, "*.checkpoint"))
	check(err)
	for _, name := range names {
		old, _ := open(read(name), key.Name(), keys)
		proof, err := tlog.ProveTree(tree.N, old.N, hashes)
		check(err)
		if err := tlog.CheckTree(proof, tree.N, tree.Hash, old.N, old.Hash); err != nil {
			log.Fatalf("%s: %v", name, err)
		}
	}
	fmt.Printf("consistency: %d earlier checkpoints are right\n", len(names))

	names, err = filepath.Glob(filepath.Join(proofs, "*.consistency"))
	check(err)
	for _, name := range names {
		lines := strings.Split(strings.TrimSuffix(string(read(name)), "\n"), "\n")
		size, err := strconv.ParseInt(lines[0], 10, 64)
		check(err)
		var proof tlog.TreeProof
		for _, line := range lines[2:] {
			proof = append(proof, hash(line))
		}
		if err := tlog.CheckTree(proof, tree.N, tree.Hash, size, hash(lines[1])); err != nil {
			log.Fatalf("%s: %v", name, err)
		}
	}
	fmt.Printf("consistency: %d proofs of Ararat are right\n", len(names))
}
