// A table of a Go program by cgo: an array of structures is filled at once. Usage: program FILE
package main

/*
#include <basketry.h>
#include <stdlib.h>
#include <stddef.h>

struct event { int number; double energy; };

static struct basketry_column column(const char *name, const char *type, size_t offset)
{
	struct basketry_column made = {0};
	made.size = sizeof made;
	made.name = name;
	made.type = type;
	made.offset = offset;
	return made;
}
*/
import "C"

import (
	"fmt"
	"os"
	"unsafe"
)

func check(done bool, failed *C.struct_basketry_error) {
	if !done {
		fmt.Fprintln(os.Stderr, C.GoString(C.basketry_error_message(failed)))
		C.basketry_error_free(failed)
		os.Exit(1)
	}
}

func text(value string, free *[]unsafe.Pointer) *C.char {
	made := C.CString(value)
	*free = append(*free, unsafe.Pointer(made))
	return made
}

func main() {
	var texts []unsafe.Pointer
	var failed *C.struct_basketry_error
	writer := C.basketry_writer_new(text(os.Args[1], &texts), nil, nil, &failed)
	check(writer != nil, failed)
	var one C.struct_event
	columns := (*[2]C.struct_basketry_column)(C.calloc(2, C.sizeof_struct_basketry_column))
	columns[0] = C.column(text("number", &texts), text("int", &texts), C.size_t(unsafe.Offsetof(one.number)))
	columns[1] = C.column(text("energy", &texts), text("double", &texts), C.size_t(unsafe.Offsetof(one.energy)))
	table := C.basketry_writer_table(writer, text("Events", &texts), &columns[0], 2, nil, &failed)
	check(table >= 0, failed)
	context := C.basketry_context_new(writer, table, &failed)
	check(context != nil, failed)
	events := make([]C.struct_event, 100)
	for i := range events {
		events[i].number = C.int(i)
		events[i].energy = C.double(0.5 * float64(i))
	}
	stride := C.size_t(unsafe.Sizeof(one))
	check(C.basketry_context_fill_rows(context, unsafe.Pointer(&events[0]), 100, stride, &failed) == 0, failed)
	check(C.basketry_context_finish(context, &failed) == 0, failed)
	C.basketry_context_free(context)
	check(C.basketry_writer_finish(writer, nil, &failed) == 0, failed)
	C.basketry_writer_free(writer)
	C.free(unsafe.Pointer(columns))
	for _, one := range texts {
		C.free(one)
	}
}
