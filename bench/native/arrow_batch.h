// Batches of Arrow's C data interface: columns of numbers and of lists of numbers, filled row by row.
#pragma once
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

extern "C" {
struct ArrowSchema {
  const char *format, *name, *metadata;
  int64_t flags, n_children;
  ArrowSchema **children, *dictionary;
  void (*release)(ArrowSchema *);
  void *private_data;
};
struct ArrowArray {
  int64_t length, null_count, offset, n_buffers, n_children;
  const void **buffers;
  ArrowArray **children, *dictionary;
  void (*release)(ArrowArray *);
  void *private_data;
};
struct ArrowArrayStream;
}

// A column: its format, its bytes, and where its lists end if it has lists.
struct ArrowColumn {
  std::string name, format;
  bool lists = false;
  std::vector<uint8_t> bytes;
  std::vector<int32_t> ends{0};
  int64_t values = 0;

  template <class T> void add(T value) {
    const auto at = bytes.size();
    bytes.resize(at + sizeof(T));
    memcpy(bytes.data() + at, &value, sizeof(T));
    values++;
  }
  void add_bit(bool value) {
    if (values % 8 == 0) bytes.push_back(0);
    bytes.back() |= value << values % 8;
    values++;
  }
  void end_list() { ends.push_back(int32_t(values)); }
  // The same without rows.
  ArrowColumn empty() const { return {name, format, lists, {}, {0}, 0}; }
};

class ArrowBatch {
  // What an exported structure owns.
  struct Owned {
    std::vector<ArrowColumn> columns;
    std::vector<ArrowArray> arrays;
    std::vector<ArrowArray *> pointers;
    std::vector<ArrowSchema> schemas;
    std::vector<ArrowSchema *> schema_pointers;
    std::vector<std::unique_ptr<const void *[]>> buffers;
  };
  static void release_child(ArrowArray *array) { array->release = nullptr; }
  static void release_child(ArrowSchema *schema) { schema->release = nullptr; }
  template <class T> static void release_all(T *root) {
    for (int64_t i = 0; i < root->n_children; i++) {
      T *child = root->children[i];
      for (int64_t k = 0; k < child->n_children; k++)
        if (child->children[k]->release) child->children[k]->release(child->children[k]);
      if (child->release) child->release(child);
    }
    delete static_cast<Owned *>(root->private_data);
    root->release = nullptr;
  }

public:
  std::vector<ArrowColumn> columns;
  int64_t rows = 0;

  ArrowSchema schema() const {
    auto *own = new Owned;
    own->columns = columns;
    const size_t n = columns.size();
    own->schemas.resize(2 * n);
    own->schema_pointers.resize(2 * n);
    for (size_t i = 0; i < n; i++) {
      const ArrowColumn &column = own->columns[i];
      own->schema_pointers[i] = &own->schemas[i];
      own->schema_pointers[n + i] = &own->schemas[n + i];
      ArrowSchema &top = own->schemas[i] = {column.lists ? "+l" : column.format.c_str(), column.name.c_str(), nullptr, 0, 0, nullptr, nullptr, release_child, nullptr};
      own->schemas[n + i] = {column.format.c_str(), "item", nullptr, 0, 0, nullptr, nullptr, release_child, nullptr};
      if (column.lists) top.n_children = 1, top.children = &own->schema_pointers[n + i];
    }
    return {"+s", "", nullptr, 0, int64_t(n), own->schema_pointers.data(), nullptr, release_all<ArrowSchema>, own};
  }

  // The rows so far, which are the array's then.
  ArrowArray take() {
    auto *own = new Owned;
    const size_t n = columns.size();
    own->columns.swap(columns);
    for (const ArrowColumn &column : own->columns) columns.push_back(column.empty());
    own->arrays.resize(2 * n);
    own->pointers.resize(2 * n);
    for (size_t i = 0; i < n; i++) {
      const ArrowColumn &column = own->columns[i];
      own->pointers[i] = &own->arrays[i];
      own->pointers[n + i] = &own->arrays[n + i];
      own->buffers.emplace_back(new const void *[4] {nullptr, column.bytes.data(), nullptr, column.ends.data()});
      const void **buffers = own->buffers.back().get();
      ArrowArray &item = own->arrays[n + i] = {column.values, 0, 0, 2, 0, buffers, nullptr, nullptr, release_child, nullptr};
      own->arrays[i] = item;
      if (column.lists) own->arrays[i] = {rows, 0, 0, 2, 1, buffers + 2, &own->pointers[n + i], nullptr, release_child, nullptr};
    }
    own->buffers.emplace_back(new const void *[1] {nullptr});
    const int64_t length = rows;
    rows = 0;
    return {length, 0, 0, 1, int64_t(n), own->buffers.back().get(), own->pointers.data(), nullptr, release_all<ArrowArray>, own};
  }
};
