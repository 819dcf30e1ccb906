// Prints what groot reads of a tree: for each read variable all of its values, entry after entry, as numbers (of a text
// its length), or why it reads none. Each is read by itself, so that what groot cannot read takes nothing with it.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
	"reflect"
	"sort"

	"go-hep.org/x/hep/groot"
	"go-hep.org/x/hep/groot/rbase"
	"go-hep.org/x/hep/groot/rtree"
)

type column struct {
	Branch string    `json:"branch"`
	Leaf   string    `json:"leaf"`
	Type   string    `json:"type"`
	Values []float64 `json:"values"`
	Error  string    `json:"error"`
}

// flat appends the numbers of a value.
func flat(to []float64, value reflect.Value) []float64 {
	switch value.Kind() {
	case reflect.Bool:
		if value.Bool() {
			return append(to, 1)
		}
		return append(to, 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return append(to, float64(value.Int()))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return append(to, float64(value.Uint()))
	case reflect.Float32, reflect.Float64:
		return append(to, value.Float())
	case reflect.String:
		return append(to, float64(value.Len()))
	case reflect.Slice, reflect.Array:
		for i := range value.Len() {
			to = flat(to, value.Index(i))
		}
	case reflect.Map:
		keys := value.MapKeys()
		sort.Slice(keys, func(i, j int) bool { return fmt.Sprint(keys[i]) < fmt.Sprint(keys[j]) })
		for _, key := range keys {
			to = flat(flat(to, key), value.MapIndex(key))
		}
	case reflect.Pointer, reflect.Interface:
		if !value.IsNil() {
			return flat(to, value.Elem())
		}
	case reflect.Struct:
		// What every TObject has is no member of the class.
		if value.Type() == reflect.TypeFor[rbase.Object]() {
			return to
		}
		for i := range value.NumField() {
			to = flat(to, value.Field(i))
		}
	}
	return to
}

func read(tree rtree.Tree, variable rtree.ReadVar) (found column) {
	found = column{Branch: variable.Name, Leaf: variable.Leaf, Type: reflect.TypeOf(variable.Value).Elem().String()}
	defer func() {
		if why := recover(); why != nil {
			found.Error = fmt.Sprint(why)
		}
	}()
	reader, err := rtree.NewReader(tree, []rtree.ReadVar{variable})
	if err != nil {
		found.Error = err.Error()
		return found
	}
	defer reader.Close()
	found.Values = []float64{}
	err = reader.Read(func(rtree.RCtx) error {
		found.Values = flat(found.Values, reflect.ValueOf(variable.Value))
		return nil
	})
	if err != nil {
		found.Error = err.Error()
	}
	return found
}

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: groot FILE TREE")
	}
	file, err := groot.Open(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	object, err := file.Get(os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	tree := object.(rtree.Tree)
	columns := []column{}
	for _, variable := range rtree.NewReadVars(tree) {
		columns = append(columns, read(tree, variable))
	}
	if err := json.NewEncoder(os.Stdout).Encode(columns); err != nil {
		log.Fatal(err)
	}
}
