/* basketry for C: reads, writes, merges and compares ROOT files. Made by cbindgen of crates/capi/src: change that, not this.
 *
 * Who owns what: a function that returns a handle gives it to the caller, who frees it by the function of its name that ends with _free. Texts and
 * structures that a caller gives are copied or used during the call only, unless the function says otherwise. A null handle is an error, and
 * nothing to free.
 *
 * Threads: any thread may call any function at any time. What one handle allows at once is said at its type. Nothing is kept by thread.
 *
 * Versions: structures of options begin with their size, and zeroes are their defaults. Functions are only added.
 */

#ifndef BASKETRY_H
#define BASKETRY_H

#include <stddef.h>
#include <stdint.h>

/**
 * The version of the interface that this header describes. Functions are only added: a program that was built for a lower number works
 * with any library of the same soname.
 */
#define BASKETRY_ABI 1

/**
 * A function that returns 0 has done its work.
 */
#define BASKETRY_OK 0

/**
 * A function that returns this has failed; the error object says why.
 */
#define BASKETRY_FAILED -1

/**
 * A function that returns this has done nothing, because it would have to wait for memory. Try again when other tasks have gone on.
 */
#define BASKETRY_WOULD_WAIT 1

/**
 * There is nothing more.
 */
#define BASKETRY_END 2

/**
 * The system refused to read or write.
 */
#define BASKETRY_ERROR_IO 1

/**
 * The bytes of a file violate the format.
 */
#define BASKETRY_ERROR_CORRUPT 2

/**
 * The bytes are valid, but the library does not support them.
 */
#define BASKETRY_ERROR_UNSUPPORTED 3

/**
 * What was asked for is impossible: a wrong argument, no such table, too small a budget.
 */
#define BASKETRY_ERROR_REQUEST 4

/**
 * Tables of several files differ in another way than was allowed.
 */
#define BASKETRY_ERROR_DIFFERS 5

/**
 * The system gives no memory.
 */
#define BASKETRY_ERROR_MEMORY 6

/**
 * A callback has ended the work.
 */
#define BASKETRY_ERROR_INTERRUPTED 7

/**
 * A bug of the library. Please report it.
 */
#define BASKETRY_ERROR_INTERNAL 8

/**
 * An array of Arrow's C data interface, as <https://arrow.apache.org/docs/format/CDataInterface.html> declares it.
 */
struct ArrowArray;

/**
 * A stream of Arrow's C stream interface.
 */
struct ArrowArrayStream;

/**
 * A schema of Arrow's C data interface.
 */
struct ArrowSchema;

/**
 * What one thread or task fills: a slot of a framework, a stream, a task.
 *
 * Contexts of one writer are filled at the same time. One context is used by one thread at a time, not always the same: a second call
 * beside the first fails. Nothing is kept by thread. A context that is freed without ::basketry_context_finish gives the output up, as does
 * any error that says so.
 */
struct basketry_context;

/**
 * A table of one file, or of many files as one. Any thread may use it, several at once.
 */
struct basketry_dataset;

/**
 * An error, with its cause, its place and what helps.
 *
 * A function that can fail takes `struct basketry_error **error` as its last parameter. It writes a null pointer there after success, and
 * an error object after a failure, which the caller frees by ::basketry_error_free. The parameter may be null: then only the returned value
 * says that it failed. An object never changes, so any thread may look at it; the texts are the object's.
 */
struct basketry_error;

/**
 * A loop over the entries of a data set. One thread at a time may use it; threads that read at once have a loop each.
 */
struct basketry_events;

/**
 * An output to which ROOT files in memory are added. It appears under its name when ::basketry_merger_finish has put all of it on disk, and
 * not at all if anything goes wrong before. Any thread may use it, several at once.
 */
struct basketry_merger;

/**
 * The memory of parts that several mergers share. Any thread may use it.
 */
struct basketry_merger_pool;

/**
 * A ROOT file in memory, the library's: its owner writes and reads it like a file on disk, and adds it to a merger without a copy. Its memory
 * counts with that of parts. One thread uses it at a time.
 */
struct basketry_part;

/**
 * Memory and threads that one or several writers share. Any thread may use it. A writer without one has its own.
 */
struct basketry_pool;

/**
 * A ROOT file in work. It appears under its name when ::basketry_writer_finish has put all of it on disk, and not at all if anything goes
 * wrong before. Any thread may use it, several at once.
 */
struct basketry_writer;

/**
 * The options of a pool. Set `size` to its sizeof, and all else to zero for the defaults.
 */
struct basketry_pool_options {
    /**
     * The sizeof of this structure.
     */
    size_t size;
    /**
     * Bytes of all writers' clusters that are filled or wait to be written, with their buffers and the files' metadata; 0: 1 GiB.
     */
    uint64_t memory;
    /**
     * Threads of the library's own that encode and compress: 0 for none. Then the threads that fill do all the work, which is right where
     * they are as many as the cores. With threads of its own the library helps a program that fills from few.
     */
    uint32_t threads;
    /**
     * Must be 0.
     */
    uint32_t reserved;
    /**
     * If given, the pool's threads are the host's: the function is called `threads` times by ::basketry_pool_new, each time with a
     * function that it is to run, with its argument, on a thread of its own. That returns when the pool is freed, and its writers are.
     * Returns 0, or another number if there is no thread: then the pool cannot be made.
     */
    int32_t (*submit)(void *user, void (*work)(void*), void *argument);
    /**
     * What `submit` gets first.
     */
    void *user;
};

/**
 * A text in UTF-8 that ends with a zero byte; or a null pointer, where one may be given.
 */
typedef const char *basketry_text;

/**
 * Where the bytes of an output go, if not into a file: into a framework's own storage, memory, another file. Set `size` to its sizeof.
 *
 * The functions are called by whichever thread writes, one at a time, and must not call the library for the same writer. They return 0, or
 * a number of `errno`, which gives the output up.
 */
struct basketry_sink {
    /**
     * The sizeof of this structure.
     */
    size_t size;
    /**
     * What each function gets first.
     */
    void *user;
    /**
     * Keeps bytes from a position on. Most come one behind the other, in pieces of up to some megabytes; the first ones of the file come
     * once more at the end, and at each save. They may be used during the call only.
     */
    int32_t (*write)(void *user, uint64_t position, const void *bytes, size_t length);
    /**
     * Returns when all bytes so far would survive a power cut. May be null.
     */
    int32_t (*sync)(void *user);
    /**
     * The output is whole and has so many bytes. Called by ::basketry_writer_finish. May be null.
     */
    int32_t (*finish)(void *user, uint64_t length);
    /**
     * The output was given up: what was kept is worth nothing. Called at most once, and never after `finish` has returned 0. May be null.
     */
    void (*abandon)(void *user);
};

/**
 * The options of a writer. Set `size` to its sizeof, and all else to zero for the defaults.
 */
struct basketry_writer_options {
    /**
     * The sizeof of this structure.
     */
    size_t size;
    /**
     * Settings by name, divided by commas or line ends: `compression=zstd:5, cluster=30MB`. The keys of a layout hold for all tables:
     * `container` (ttree or rntuple), `compression`, `cluster`, `basket`, `split-level` and the others of docs/layouts.md. Of the writer are
     * `order` (arrival or tasks), `overwrite` (false or true), `auto-save` (bytes such as 100MB, or a number of entries),
     * `casting` (exact or same-kind), `date` (seconds since 1970), and, where no pool is given, `memory` and `threads`.
     */
    basketry_text settings;
    /**
     * A layout in TOML, with rules for tables and columns, as `basketry tune` writes it. The settings go over it.
     */
    basketry_text layout;
    /**
     * The title of the file.
     */
    basketry_text title;
    /**
     * Classes of columns as C++ declares them, without functions: `struct Hit { float x; std::vector<int> ids; };`.
     */
    basketry_text classes;
    /**
     * Where the bytes go, if not into a file of the path.
     */
    const struct basketry_sink *sink;
};

/**
 * A column of a table, or a member of a structure. Set `size` to its sizeof, and what is not needed to zero.
 */
struct basketry_column {
    /**
     * The sizeof of this structure.
     */
    size_t size;
    /**
     * Its name.
     */
    basketry_text name;
    /**
     * Its C++ type: any that ROOT writes, such as `float`, `std::int32_t`, `float[3]`, `std::string`, `std::vector<std::vector<float>>`,
     * `std::map<int,std::string>`, or a class that the writer's `classes` describe. `float[nMuon]` is an array of as many items as the
     * column `nMuon` says, a leaf list of its own in a tree (NanoAOD's form). Maps, sets, optional values and the like are filled by
     * Arrow only.
     */
    basketry_text type;
    /**
     * Bytes from the address of an entry, or of the structure, to the value: `offsetof`.
     */
    size_t offset;
    /**
     * If the type is a structure, or a container of structures: the members that are written, in order, and their number. They describe
     * the class where the writer's `classes` do not.
     */
    const struct basketry_column *members;
    /**
     * The number of members.
     */
    size_t member_count;
    /**
     * The sizeof of the structure that the members are of.
     */
    size_t stride;
    /**
     * The sizeof of a `std::string`, if it is not that of GNU's library. The object begins with a pointer to the bytes, and their number.
     */
    size_t string_size;
};

/**
 * The options of a table. Set `size` to its sizeof, and all else to zero for the defaults.
 */
struct basketry_table_options {
    /**
     * The sizeof of this structure.
     */
    size_t size;
    /**
     * The title of the tree, or the description of the RNTuple.
     */
    basketry_text title;
    /**
     * Keys of a layout for this table, over those of the writer: `container=rntuple, cluster=30MB`.
     */
    basketry_text settings;
    /**
     * Not 0: fields of an Arrow schema that may lack values become `std::optional` in an RNTuple. Most producers mark all fields so.
     */
    int32_t optional;
};

/**
 * What a writer has done so far. Set `size` to its sizeof before the call.
 */
struct basketry_metrics {
    /**
     * The sizeof of this structure.
     */
    size_t size;
    /**
     * Entries and clusters in the file.
     */
    uint64_t entries;
    /**
     * Clusters in the file.
     */
    uint64_t clusters;
    /**
     * Bytes of the file so far.
     */
    uint64_t file_bytes;
    /**
     * Bytes of finished clusters that wait for earlier ones.
     */
    uint64_t queue_bytes;
    /**
     * Bytes of the pool's memory in use, by all its writers.
     */
    uint64_t held_bytes;
    /**
     * The most of these at any time.
     */
    uint64_t peak_held_bytes;
    /**
     * Contexts that wait for memory now.
     */
    uint64_t waiting;
    /**
     * Nanoseconds of all contexts together: encoding.
     */
    uint64_t encoding_ns;
    /**
     * Compressing.
     */
    uint64_t compressing_ns;
    /**
     * Waiting for memory.
     */
    uint64_t waiting_ns;
    /**
     * Handing clusters over.
     */
    uint64_t handing_ns;
    /**
     * Nanoseconds of appending to the file.
     */
    uint64_t appending_ns;
};

/**
 * What is read of a data set. Set `size` to its sizeof, and all else to zero for the defaults.
 */
struct basketry_scan_options {
    /**
     * The sizeof of this structure.
     */
    size_t size;
    /**
     * Names of columns or patterns (`Muon_*`), divided by commas; null: all columns. The parts of a split object have dots: `event.hits`.
     */
    basketry_text columns;
    /**
     * The first entry, counted over all files.
     */
    uint64_t first;
    /**
     * The entry behind the last one; 0: the end.
     */
    uint64_t end;
    /**
     * Entries of a batch; 0: those of a cluster, or by `batch_bytes`.
     */
    uint64_t batch_entries;
    /**
     * Bytes of a batch before compression; 0: those of a cluster.
     */
    uint64_t batch_bytes;
    /**
     * Bytes of memory beside the batches; 0: 1 GiB.
     */
    uint64_t memory;
    /**
     * Threads that fetch and decode; 0: one.
     */
    uint32_t threads;
    /**
     * Must be 0.
     */
    uint32_t reserved;
    /**
     * A condition, such as `nMuon > 1 && Muon_pt[0] > 20` (its language is on the page docs/expressions.md), or several, one a line: only
     * entries for which all are true are read. Its columns need not be among `columns`; they are read first, before the call returns, and of
     * the others what the condition keeps. Null: all entries.
     */
    basketry_text cut;
};

/**
 * The options of a merger. Set `size` to its sizeof, and all else to zero for the defaults.
 */
struct basketry_merger_options {
    /**
     * The sizeof of this structure.
     */
    size_t size;
    /**
     * Settings by name, divided by commas or line ends. The keys of a layout (`compression`, `cluster`, `basket` and the others of
     * docs/layouts.md) hold for all tables; what is not set stays as the parts have it, and their records move unchanged. Of the merger are
     * `order` (arrival or tasks), `overwrite` (false or true), `auto-save` (bytes such as 100MB, or a number of entries), `join`
     * (strict, common or fill: what becomes of parts whose columns differ), `threads` (those that compress or regroup; 1), and, where
     * no pool is given, `memory` (that of the parts; 256MB).
     */
    basketry_text settings;
    /**
     * A layout in TOML, with rules for tables and columns. The settings go over it.
     */
    basketry_text layout;
};

/**
 * The memory that the parts of a pool's mergers take. Set `size` to its sizeof before the call.
 */
struct basketry_merger_use {
    /**
     * The sizeof of this structure.
     */
    size_t size;
    /**
     * Bytes that parts may take.
     */
    uint64_t limit;
    /**
     * Bytes of parts that are not in their outputs yet.
     */
    uint64_t parts;
    /**
     * Bytes of parts that are still being filled.
     */
    uint64_t outside;
    /**
     * The most bytes of both at any time.
     */
    uint64_t peak;
    /**
     * How often a thread had to wait.
     */
    uint64_t waits;
};

/**
 * Items that lie one behind the other: what is written to the address of a column of lists. They are the loop's, and stay until the next
 * call of ::basketry_events_next. The items of lists of lists are such structures, those of lists of texts as well.
 */
struct basketry_items {
    /**
     * The first one.
     */
    const void *first;
    /**
     * Their number.
     */
    size_t count;
};

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * The version of the library, such as "0.2.0". Any thread may call it at any time. The text is the library's.
 */
const char *basketry_version(void);

/**
 * The version of the interface that the library has: at least ::BASKETRY_ABI of the header that a program was built with.
 */
uint32_t basketry_abi_version(void);

/**
 * What kind of error it is: one of the `BASKETRY_ERROR_` numbers; 0 for a null pointer.
 */
int32_t basketry_error_kind(const struct basketry_error *error);

/**
 * The whole message, in UTF-8: file, object, offset, cause and advice. Null for a null pointer.
 */
const char *basketry_error_message(const struct basketry_error *error);

/**
 * The file, if it is known; else null. A URL is without its secrets.
 */
const char *basketry_error_file(const struct basketry_error *error);

/**
 * The object in the file or the argument, such as "column pt", if it is known; else null.
 */
const char *basketry_error_object(const struct basketry_error *error);

/**
 * Writes the byte in the file where it is wrong. Returns 1 if that is known, else 0.
 */
int32_t basketry_error_offset(const struct basketry_error *error, uint64_t *offset);

/**
 * The system's number (`errno`) for the cause, or 0.
 */
int32_t basketry_error_os(const struct basketry_error *error);

/**
 * A setting that the message names as a way out, by its number from 0. Writes its name, and its value if there is one; else an empty text.
 * Returns 1, or 0 if there are not so many.
 */
int32_t basketry_error_hint(const struct basketry_error *error,
                            size_t number,
                            const char **name,
                            const char **value);

/**
 * Frees an error. A null pointer is ignored.
 */
void basketry_error_free(struct basketry_error *error);

/**
 * Frees a text that a function of the library has returned as the caller's. A null pointer is ignored.
 *
 * @param text  A text that was returned with the note "the caller frees it".
 */
void basketry_text_free(char *text);

/**
 * Makes a pool. The caller frees it by ::basketry_pool_free.
 *
 * @param options  May be null.
 * @param error    See ::basketry_error.
 * @return The pool, or null after an error.
 *
 * Starts the threads that are asked for; allocates little.
 */
struct basketry_pool *basketry_pool_new(const struct basketry_pool_options *options, struct basketry_error **error);

/**
 * Frees a pool. Its threads end when its last writer is freed as well. A null pointer is ignored.
 */
void basketry_pool_free(struct basketry_pool *pool);

/**
 * Begins a file.
 *
 * @param path     Its path, or with a sink its name inside.
 * @param options  May be null.
 * @param pool     Memory and threads that it shares with other writers; null for its own, by the settings `memory` and `threads`. The
 *                 writer holds the pool as long as it needs it: it may be freed at any time.
 * @param error    See ::basketry_error.
 * @return The writer, or null after an error. The caller frees it by ::basketry_writer_free.
 *
 * Creates a hidden file beside the path.
 */
struct basketry_writer *basketry_writer_new(basketry_text path,
                                            const struct basketry_writer_options *options,
                                            const struct basketry_pool *pool,
                                            struct basketry_error **error);

/**
 * Adds a table with columns of C++ types. Whether it is a tree or an RNTuple is the layout's `container`.
 *
 * @param writer   The writer. Tables may be added at any time, also while others are filled.
 * @param path     The path in the file: `Events`, `dir/Events`.
 * @param columns  The columns, one behind the other.
 * @param count    Their number.
 * @param options  May be null.
 * @return The number of the table, or -1 after an error.
 */
int64_t basketry_writer_table(const struct basketry_writer *writer,
                              basketry_text path,
                              const struct basketry_column *columns,
                              size_t count,
                              const struct basketry_table_options *options,
                              struct basketry_error **error);

/**
 * Adds a table with the columns of an Arrow schema, which stays the caller's: see ::basketry_writer_table.
 *
 * A field whose metadata have a `typename` is of that C++ type. Others become what uproot would make of them in a tree (numbers, leaf lists
 * with counters `nNAME`, records as `NAME_PART`), and their natural types in an RNTuple.
 */
int64_t basketry_writer_table_arrow(const struct basketry_writer *writer,
                                    basketry_text path,
                                    const struct ArrowSchema *schema,
                                    const struct basketry_table_options *options,
                                    struct basketry_error **error);

/**
 * Adds a table with a column for each member of a class that the writer's `classes` declare: see ::basketry_writer_table.
 */
int64_t basketry_writer_table_class(const struct basketry_writer *writer,
                                    basketry_text path,
                                    basketry_text class_name,
                                    const struct basketry_table_options *options,
                                    struct basketry_error **error);

/**
 * Adds columns to a table of C++ types that is being filled, such as bits of triggers that become known late. They begin with the first
 * cluster that has them, in the order of clusters in the file; entries before it have zeroes, empty texts and empty lists. The first entry
 * with them ends the context's cluster.
 *
 * @return The number of the first one, for ::basketry_context_bind, by which a context takes part; or -1 after an error, which leaves the
 *         table as it is.
 */
int64_t basketry_writer_add_columns(const struct basketry_writer *writer,
                                    int64_t table,
                                    const struct basketry_column *columns,
                                    size_t count,
                                    struct basketry_error **error);

/**
 * Adds the columns of an Arrow schema to a table that is being filled: see ::basketry_writer_add_columns. Batches that have them make them
 * begin; later batches of the same context without them are refused.
 */
int32_t basketry_writer_add_columns_arrow(const struct basketry_writer *writer,
                                          int64_t table,
                                          const struct ArrowSchema *schema,
                                          struct basketry_error **error);

/**
 * Makes a directory in the file, and its parents.
 */
int32_t basketry_writer_mkdir(const struct basketry_writer *writer, basketry_text path, struct basketry_error **error);

/**
 * Saves the metadata of all tables now: if the process dies, the hidden file can be read up to here. Waits for the disk.
 */
int32_t basketry_writer_save(const struct basketry_writer *writer,
                             struct basketry_error **error);

/**
 * Writes what the writer has done so far.
 */
int32_t basketry_writer_metrics(const struct basketry_writer *writer,
                                struct basketry_metrics *metrics,
                                struct basketry_error **error);

/**
 * Ends the file: all contexts must be finished. Waits until it is on disk. The writer can only be freed then.
 *
 * @param bytes  Gets the size of the file; may be null.
 * @return 0, or -1 after an error: then there is no file.
 */
int32_t basketry_writer_finish(const struct basketry_writer *writer, uint64_t *bytes, struct basketry_error **error);

/**
 * Gives the file up: it will not appear, and contexts end with an error that has this reason. Contexts that wait for memory end at once.
 */
void basketry_writer_abandon(const struct basketry_writer *writer,
                             basketry_text why);

/**
 * Frees a writer. One that is not finished is given up. A null pointer is ignored. In a process that was forked after the writer was made
 * nothing happens.
 */
void basketry_writer_free(struct basketry_writer *writer);

/**
 * Begins a fill context of a table. With `order=tasks` it is the next task. The caller frees it by ::basketry_context_free, at any time
 * after or before the writer.
 *
 * @param writer  The writer; any thread may call.
 * @param table   The number of the table.
 * @param error   See ::basketry_error.
 * @return The context, or null after an error.
 *
 * Allocates buffers as the context is filled, within the memory of the pool.
 */
struct basketry_context *basketry_context_new(const struct basketry_writer *writer,
                                              int64_t table,
                                              struct basketry_error **error);

/**
 * Begins the fill context of a task of a writer with `order=tasks`. Its number, from 0, decides where its entries are in the file, so that
 * the bytes do not depend on threads. No two tasks have the same number. Begin them about in this order: clusters of later tasks wait in
 * memory for those of earlier ones, and when the memory is used up, in a temporary file.
 */
struct basketry_context *basketry_context_task(const struct basketry_writer *writer,
                                               int64_t table,
                                               uint64_t task,
                                               struct basketry_error **error);

/**
 * Adds the rows of a batch of Arrow's as entries. May wait for memory of the pool.
 *
 * Columns are found by their names, and brought to their types without loss. A batch that does not fit the table is refused as a whole, and
 * the context goes on. Any other error gives the output up.
 *
 * @param context  The context.
 * @param array    A struct array. The library takes it, also after an error: its `release` is null then.
 * @param schema   Its schema, which stays the caller's.
 * @return 0, or -1 after an error.
 *
 * Numbers are not copied before they are encoded. It encodes and compresses on this thread, and on those of the pool.
 */
int32_t basketry_context_fill_arrow(const struct basketry_context *context,
                                    struct ArrowArray *array,
                                    const struct ArrowSchema *schema,
                                    struct basketry_error **error);

/**
 * Adds all rows of a stream of Arrow's as entries: see ::basketry_context_fill_arrow. The library takes the stream.
 */
int32_t basketry_context_fill_stream(const struct basketry_context *context,
                                     struct ArrowArrayStream *stream,
                                     struct basketry_error **error);

/**
 * The same as ::basketry_context_fill_arrow for rows from `*row` on, but never waits for memory that others hold, so that no thread of a
 * scheduler is blocked. Writes the row behind the last one that was added to `*row`.
 *
 * @return 0 when all rows are added; ::BASKETRY_WOULD_WAIT when not: go on with other work, and call again with this `*row` and the same
 *         array, which the caller keeps; -1 after an error.
 *
 * Contexts that only hand back to each other are a cyclic wait. It ends: when no memory is released for a tenth of a second and no other
 * call fills, clusters that wait go to a temporary file, or a cluster begins with less memory.
 */
int32_t basketry_context_try_fill_arrow(const struct basketry_context *context,
                                        const struct ArrowArray *array,
                                        const struct ArrowSchema *schema,
                                        size_t *row,
                                        struct basketry_error **error);

/**
 * Sets where a column of a table of C++ types is in each entry that this context fills, until it is set again.
 *
 * @param column   The number of the column: its place among those of the table, the late ones behind the others. The first call for a
 *                 late column makes all that were added so far part of this context: from the next entry on they have values, which are
 *                 zeroes until each is bound.
 * @param address  The value's address; null: it is at its offset from the address of the entry.
 * @return 0, or -1 after an error.
 */
int32_t basketry_context_bind(const struct basketry_context *context,
                              size_t column,
                              const void *address,
                              struct basketry_error **error);

/**
 * Adds an entry of the values at the columns' addresses. May wait for memory of the pool.
 *
 * @param entry  The address of the entry, from which the columns' offsets count; null where each column is bound.
 * @return 0, or -1 after an error.
 *
 * The values are copied: they may change when the call returns. Entries are encoded some hundred at a time.
 */
int32_t basketry_context_fill(const struct basketry_context *context, const void *entry, struct basketry_error **error);

/**
 * Adds `count` entries that lie `stride` bytes apart: an array of structures. Faster than as many calls of ::basketry_context_fill.
 */
int32_t basketry_context_fill_rows(const struct basketry_context *context,
                                   const void *entries,
                                   size_t count,
                                   size_t stride,
                                   struct basketry_error **error);

/**
 * The same as ::basketry_context_fill, but never waits for memory that others hold: see ::basketry_context_try_fill_arrow.
 *
 * @return 0 when the entry is added; ::BASKETRY_WOULD_WAIT when it is not; -1 after an error.
 */
int32_t basketry_context_try_fill(const struct basketry_context *context,
                                  const void *entry,
                                  struct basketry_error **error);

/**
 * Ends the cluster of a context here: it goes to the file. The context goes on with another one.
 */
int32_t basketry_context_flush(const struct basketry_context *context, struct basketry_error **error);

/**
 * Ends a context: its last cluster goes to the file. After it, and after an error, the context can only be freed.
 */
int32_t basketry_context_finish(const struct basketry_context *context, struct basketry_error **error);

/**
 * Frees a context. One that is not finished gives the output up. A null pointer is ignored.
 */
void basketry_context_free(struct basketry_context *context);

/**
 * Opens the tables of files as one.
 *
 * @param inputs    Files and URLs: `FILE`, `FILE:TREE`, `https://host/a.root:TREE`, patterns (`data/?.root`), and `@list.txt` with one a
 *                  line. The tree need not be named where there is one.
 * @param count     Their number.
 * @param settings  `tree=PATH` for those that name none; `join=strict|common|fill` and `widen=true` for files whose columns differ;
 *                  `follow-urls=true`. May be null.
 * @return The data set, or null after an error. The caller frees it by ::basketry_dataset_free.
 *
 * Reads the metadata of all files.
 */
struct basketry_dataset *basketry_dataset_open(const basketry_text *inputs,
                                               size_t count,
                                               basketry_text settings,
                                               struct basketry_error **error);

/**
 * The number of entries; 0 for a null pointer.
 */
uint64_t basketry_dataset_entries(const struct basketry_dataset *dataset);

/**
 * Writes the schema of columns, which the caller releases. The metadata of its fields have the C++ types (`typename`).
 *
 * @param columns  As in ::basketry_scan_options; null: all.
 */
int32_t basketry_dataset_schema(const struct basketry_dataset *dataset,
                                basketry_text columns,
                                struct ArrowSchema *schema,
                                struct basketry_error **error);

/**
 * Reads entries as a stream of Arrow's, which the caller releases. A thread of the stream's reads one batch ahead.
 *
 * @param options  May be null.
 * @return 0, or -1 after an error. Errors of reading are the stream's: `get_last_error` has the message.
 *
 * The stream holds the data set as long as it needs it. One thread at a time may use it.
 */
int32_t basketry_dataset_scan(const struct basketry_dataset *dataset,
                              const struct basketry_scan_options *options,
                              struct ArrowArrayStream *stream,
                              struct basketry_error **error);

/**
 * Frees a data set. A null pointer is ignored.
 */
void basketry_dataset_free(struct basketry_dataset *dataset);

/**
 * Begins a loop over entries of a data set. The caller frees it by ::basketry_events_free.
 *
 * @param options  The columns that are read, the entries, memory and threads. May be null.
 * @return The loop, or null after an error.
 *
 * A thread of the loop's reads one batch ahead. The loop holds the data set as long as it needs it.
 */
struct basketry_events *basketry_events_new(const struct basketry_dataset *dataset,
                                            const struct basketry_scan_options *options,
                                            struct basketry_error **error);

/**
 * Sets where the values of a column go, before the first entry is read.
 *
 * @param column   Its name.
 * @param type     The C++ type that the caller takes it for; another one than the file's is an error. Null: it is not checked.
 * @param address  A variable of the type for a number, and an array for an array; ::basketry_items for a list and for a text.
 */
int32_t basketry_events_bind(const struct basketry_events *events,
                             basketry_text column,
                             basketry_text type,
                             void *address,
                             struct basketry_error **error);

/**
 * Reads the next entry: writes its values to the addresses.
 *
 * @return 0; ::BASKETRY_END after the last entry; -1 after an error.
 */
int32_t basketry_events_next(const struct basketry_events *events, struct basketry_error **error);

/**
 * The number of the entry that was read last, counted over all files.
 */
uint64_t basketry_events_entry(const struct basketry_events *events);

/**
 * Frees a loop. A null pointer is ignored.
 */
void basketry_events_free(struct basketry_events *events);

/**
 * Makes a pool of memory for the parts of several mergers. The caller frees it by ::basketry_merger_pool_free, at any time: mergers hold what
 * they need of it.
 *
 * @param memory  Bytes that the parts of all its mergers may take; 0: 256 MB. A single part may be larger.
 * @return The pool, or null after an error. Allocates little.
 */
struct basketry_merger_pool *basketry_merger_pool_new(uint64_t memory,
                                                      struct basketry_error **error);

/**
 * Frees a pool. A null pointer is ignored.
 */
void basketry_merger_pool_free(struct basketry_merger_pool *pool);

/**
 * Begins an output. Its file, hidden beside the path, is made with the first part.
 *
 * @param path     Its path.
 * @param options  May be null.
 * @param pool     The memory of parts that it shares with other mergers; null for its own, by the setting `memory`.
 * @param error    See ::basketry_error.
 * @return The merger, or null after an error. The caller frees it by ::basketry_merger_free.
 */
struct basketry_merger *basketry_merger_new(basketry_text path,
                                            const struct basketry_merger_options *options,
                                            const struct basketry_merger_pool *pool,
                                            struct basketry_error **error);

/**
 * Begins a part: an empty file in memory.
 *
 * @return The part, or null after an error. The caller gives it to ::basketry_merger_add or frees it by ::basketry_part_free, also after
 *         the merger is freed. Allocates little.
 */
struct basketry_part *basketry_part_new(const struct basketry_merger *merger,
                                        struct basketry_error **error);

/**
 * Writes bytes at a position of a part, over what is there. Bytes between its end and the position become zeroes. Never waits: a part takes
 * what memory it needs, in steps of 1 MiB.
 *
 * @return 0, or -1 for a null pointer, or where there is no memory.
 */
int32_t basketry_part_write(struct basketry_part *part,
                            size_t position,
                            const void *bytes,
                            size_t count);

/**
 * Reads bytes from a position of a part on, as many as there are.
 *
 * @return Their number.
 */
size_t basketry_part_read(const struct basketry_part *part, size_t position, void *into, size_t count);

/**
 * The size of a part in bytes; 0 for a null pointer.
 */
size_t basketry_part_size(const struct basketry_part *part);

/**
 * Ends a part at a size, where it is longer.
 */
void basketry_part_truncate(struct basketry_part *part, size_t bytes);

/**
 * Frees a part that is not added. A null pointer is ignored.
 */
void basketry_part_free(struct basketry_part *part);

/**
 * Adds a part, a whole ROOT file, which is the library's from here on, also after an error. Waits while parts that are not written yet fill the
 * memory. In the order of tasks the part of a later task that would wait in vain goes to a file beside the output, so that nobody waits
 * for ever.
 *
 * @param task  The number of its task; 0 in the order of arrival. Parts of a task keep their order.
 * @return 0, or -1 after an error: then the output is given up. The error may be that of another part, which it names.
 *
 * If nobody writes, the calling thread does: its part, and those that come meanwhile. Others return at once.
 */
int32_t basketry_merger_add(const struct basketry_merger *merger,
                            uint64_t task,
                            struct basketry_part *part,
                            struct basketry_error **error);

/**
 * The same without waiting for memory.
 *
 * @param part  The place with the part, which becomes a null pointer when it is added, and after an error.
 * @return 0; ::BASKETRY_WOULD_WAIT if there is no room now: the part stays the caller's; -1 after an error.
 */
int32_t basketry_merger_try_add(const struct basketry_merger *merger,
                                uint64_t task,
                                struct basketry_part **part,
                                struct basketry_error **error);

/**
 * Ends a task, all of whose parts were added. Says nothing in the order of arrival.
 */
int32_t basketry_merger_end_task(const struct basketry_merger *merger, uint64_t task, struct basketry_error **error);

/**
 * Writes how the memory of the merger's pool is used.
 */
int32_t basketry_merger_memory(const struct basketry_merger *merger,
                               struct basketry_merger_use *place,
                               struct basketry_error **error);

/**
 * Ends the output: writes what waits, the sums of histograms and the metadata. Waits until it is on disk. Tasks that were not ended give what
 * they have. Parts that could not move into the output as they came (other columns, indices, clusters of a number of entries, another
 * container) are merged here, from the file beside the output where they wait.
 *
 * @param report  Gets the report as JSON, as that of `basketry merge`, which the caller frees by ::basketry_text_free; may be null.
 * @return 0, or -1 after an error: then there is no output.
 */
int32_t basketry_merger_finish(const struct basketry_merger *merger,
                               char **report,
                               struct basketry_error **error);

/**
 * Gives the output up: it will not appear, and nothing is left of it. Threads that wait end with an error.
 */
void basketry_merger_abandon(const struct basketry_merger *merger);

/**
 * Frees a merger. One that is not finished is given up. A null pointer is ignored. In a process that was forked after the merger was made
 * nothing happens.
 */
void basketry_merger_free(struct basketry_merger *merger);

/**
 * Runs a verb of the command, and returns its report as JSON: what `basketry VERB --json` prints (its form is on the pages docs/VERB-schema.md).
 *
 * @param verb      `merge`, `rewrite`, `verify`, `inspect`, `tune`, `recover`, `convert`, `check`, `fileset`, `index`, `pick`, `sort`,
 *                  `join`, `precision`, `plan`, `collect`.
 * @param options   The options of the verb by name, as settings (`output=all.root, compression=zstd:5, force=true`) or as a JSON object
 *                  (`{"output": "all.root", "keep": ["Events"], "column-set": {"Muon_*": {"compression": "lz4:4"}}}`), behind which settings
 *                  may follow. Settings have no commas in their values: an option with several is given again (`by=run, by=event`). The
 *                  files of one `with` of `join` have line breaks between them. May be null.
 * @param inputs    The arguments of the verb: files, URLs, patterns.
 * @param count     Their number.
 * @param progress  Called with how much more is done, in units of the verb (mostly bytes), by whichever thread works, one at a time. A
 *                  result that is not 0 ends the work, and the function fails with ::BASKETRY_ERROR_INTERRUPTED. May be null.
 * @param user      What `progress` gets first.
 * @return The report, or null after an error. The caller frees it by ::basketry_text_free. That files differ is no error of `verify`: its
 *         report says so.
 *
 * Any thread may call it, several at once. Takes the memory and threads of the options `memory` and `threads`. Nothing is printed, and
 * signals are left to the host.
 */
char *basketry_verb(basketry_text verb,
                    basketry_text options,
                    const basketry_text *inputs,
                    size_t count,
                    int32_t (*progress)(void *user, uint64_t more),
                    void *user,
                    struct basketry_error **error);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* BASKETRY_H */
