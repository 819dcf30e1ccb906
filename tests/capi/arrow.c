/* A table by Arrow's C data interface, and back: two columns, `number` (int64) and `pt` (lists of float).
   Usage: arrow FILE CONTAINER ENTRIES */
#include "arrow_c.h"
#include "check.h"

#include <stdio.h>

static int released = 0;

static void free_schema(struct ArrowSchema *schema)
{
    int64_t i;
    for (i = 0; i < schema->n_children; i++) {
        if (schema->children[i]->release != NULL) {
            schema->children[i]->release(schema->children[i]);
        }
        free(schema->children[i]);
    }
    free(schema->children);
    schema->release = NULL;
}

static struct ArrowSchema *schema_of(struct ArrowSchema *schema, const char *format, const char *name, int children)
{
    int i;
    memset(schema, 0, sizeof *schema);
    schema->format = format;
    schema->name = name;
    schema->n_children = children;
    schema->children = children > 0 ? (struct ArrowSchema **)calloc((size_t)children, sizeof(struct ArrowSchema *)) : NULL;
    for (i = 0; i < children; i++) {
        schema->children[i] = (struct ArrowSchema *)calloc(1, sizeof(struct ArrowSchema));
    }
    schema->release = free_schema;
    return schema;
}

static void free_array(struct ArrowArray *array)
{
    int64_t i;
    for (i = 0; i < array->n_children; i++) {
        if (array->children[i]->release != NULL) {
            array->children[i]->release(array->children[i]);
        }
        free(array->children[i]);
    }
    for (i = 0; i < array->n_buffers; i++) {
        free((void *)array->buffers[i]);
    }
    free(array->children);
    free((void *)array->buffers);
    array->release = NULL;
    released++;
}

static struct ArrowArray *array_of(struct ArrowArray *array, int64_t length, int buffers, int children)
{
    int i;
    memset(array, 0, sizeof *array);
    array->length = length;
    array->n_buffers = buffers;
    array->n_children = children;
    array->buffers = (const void **)calloc((size_t)buffers, sizeof(void *));
    array->children = children > 0 ? (struct ArrowArray **)calloc((size_t)children, sizeof(struct ArrowArray *)) : NULL;
    for (i = 0; i < children; i++) {
        array->children[i] = (struct ArrowArray *)calloc(1, sizeof(struct ArrowArray));
    }
    array->release = free_array;
    return array;
}

static void make_table(struct ArrowArray *table, int64_t first, int64_t rows)
{
    int64_t *numbers = (int64_t *)malloc((size_t)rows * sizeof(int64_t));
    int32_t *offsets = (int32_t *)malloc((size_t)(rows + 1) * sizeof(int32_t));
    float *values = (float *)malloc((size_t)(rows * 3 + 1) * sizeof(float));
    int64_t i;
    int32_t end = 0;
    offsets[0] = 0;
    for (i = 0; i < rows; i++) {
        int64_t j;
        numbers[i] = first + i;
        for (j = 0; j < (first + i) % 4; j++) {
            values[end++] = (float)(first + i) + 0.25f * (float)j;
        }
        offsets[i + 1] = end;
    }
    array_of(table, rows, 1, 2);
    array_of(table->children[0], rows, 2, 0)->buffers[1] = numbers;
    array_of(table->children[1], rows, 2, 1)->buffers[1] = offsets;
    array_of(table->children[1]->children[0], end, 2, 0)->buffers[1] = values;
}

static int64_t count_back(const char *file)
{
    struct basketry_error *error = NULL;
    struct basketry_dataset *dataset = NULL;
    struct basketry_scan_options options;
    struct ArrowArrayStream stream;
    struct ArrowSchema schema;
    struct ArrowArray batch;
    const char *inputs[1];
    int64_t rows = 0;

    inputs[0] = file;
    MADE(dataset, basketry_dataset_open(inputs, 1, "tree=Events", &error));
    OK(basketry_dataset_schema(dataset, "number,pt", &schema, &error));
    HOLDS(schema.n_children == 2 && strcmp(schema.children[1]->format, "+L") == 0);
    schema.release(&schema);
    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    options.columns = "number,pt";
    options.batch_entries = 1000;
    options.threads = 2;
    OK(basketry_dataset_scan(dataset, &options, &stream, &error));
    /* The stream goes on without the data set. */
    basketry_dataset_free(dataset);
    for (;;) {
        const int64_t *numbers;
        const int64_t *offsets;
        const float *values;
        int64_t i;
        HOLDS(stream.get_next(&stream, &batch) == 0);
        if (batch.release == NULL) {
            break;
        }
        numbers = (const int64_t *)batch.children[0]->buffers[1] + batch.children[0]->offset;
        offsets = (const int64_t *)batch.children[1]->buffers[1] + batch.children[1]->offset;
        values = (const float *)batch.children[1]->children[0]->buffers[1] + batch.children[1]->children[0]->offset;
        for (i = 0; i < batch.length; i++) {
            HOLDS(numbers[i] == rows + i);
            HOLDS(offsets[i + 1] - offsets[i] == (rows + i) % 4);
            if ((rows + i) % 4 > 1) {
                HOLDS(values[offsets[i] + 1] == (float)(rows + i) + 0.25f);
            }
        }
        rows += batch.length;
        batch.release(&batch);
    }
    stream.release(&stream);
    return rows;
}

/* Reads the entries for which two conditions are true; their columns are not all among those that are read. */
static int64_t count_passing(const char *file)
{
    struct basketry_error *error = NULL;
    struct basketry_dataset *dataset = NULL;
    struct basketry_scan_options options;
    struct ArrowArrayStream stream;
    struct ArrowArray batch;
    int64_t rows = 0;

    MADE(dataset, basketry_dataset_open(&file, 1, "tree=Events", &error));
    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    options.columns = "number";
    options.batch_entries = 100;
    options.cut = "number % 3 == 1\nlen(pt) > 2";
    OK(basketry_dataset_scan(dataset, &options, &stream, &error));
    basketry_dataset_free(dataset);
    for (;;) {
        int64_t i;
        HOLDS(stream.get_next(&stream, &batch) == 0);
        if (batch.release == NULL) {
            break;
        }
        for (i = 0; i < batch.length; i++) {
            const int64_t number = ((const int64_t *)batch.children[0]->buffers[1])[batch.children[0]->offset + i];
            HOLDS(number % 3 == 1 && number % 4 == 3);
        }
        rows += batch.length;
        batch.release(&batch);
    }
    stream.release(&stream);
    return rows;
}

int main(int argc, char **argv)
{
    struct basketry_error *error = NULL;
    struct basketry_writer *writer = NULL;
    struct basketry_context *context = NULL;
    struct basketry_writer_options options;
    struct ArrowSchema schema;
    struct ArrowArray table;
    char settings[100];
    int64_t number;
    long entries;
    long at;
    size_t row;

    HOLDS(argc == 4);
    entries = strtol(argv[3], NULL, 10);
    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    sprintf(settings, "container=%s\noverwrite=true\ncluster=5000", argv[2]);
    options.settings = settings;
    MADE(writer, basketry_writer_new(argv[1], &options, NULL, &error));
    schema_of(&schema, "+s", "", 2);
    schema_of(schema.children[0], "l", "number", 0);
    schema_of(schema_of(schema.children[1], "+l", "pt", 1)->children[0], "f", "item", 0);
    number = basketry_writer_table_arrow(writer, "Events", &schema, NULL, &error);
    check(number == 0, &error, "basketry_writer_table_arrow");
    MADE(context, basketry_context_new(writer, number, &error));
    for (at = 0; at + 700 < entries; at += 700) {
        make_table(&table, at, 700);
        OK(basketry_context_fill_arrow(context, &table, &schema, &error));
        HOLDS(table.release == NULL);
    }
    make_table(&table, at, entries - at);
    row = 0;
    for (;;) {
        int done = basketry_context_try_fill_arrow(context, &table, &schema, &row, &error);
        check(done >= 0, &error, "basketry_context_try_fill_arrow");
        if (done == BASKETRY_OK) {
            break;
        }
    }
    HOLDS((long)row == entries - at);
    table.release(&table);
    schema.release(&schema);
    OK(basketry_context_finish(context, &error));
    basketry_context_free(context);
    OK(basketry_writer_finish(writer, NULL, &error));
    basketry_writer_free(writer);
    HOLDS(released > 0);
    HOLDS(count_back(argv[1]) == entries);
    /* Of twelve numbers it is 7 alone. */
    HOLDS(count_passing(argv[1]) == (entries + 4) / 12);
    return 0;
}
