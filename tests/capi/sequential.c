/* One thread fills a tree or an RNTuple from its own variables: numbers, arrays, a leaf list with a counter, a structure.
   Usage: sequential FILE CONTAINER ENTRIES */
#include "check.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct point {
    float x;
    float y;
};

struct event {
    int32_t run;
    int64_t number;
    double weight;
    unsigned char flag;
    int32_t nMuon;
    float Muon_pt[8];
    int16_t grid[2];
};

static struct basketry_column column(const char *name, const char *type, size_t offset)
{
    struct basketry_column made;
    memset(&made, 0, sizeof made);
    made.size = sizeof made;
    made.name = name;
    made.type = type;
    made.offset = offset;
    return made;
}

int main(int argc, char **argv)
{
    struct basketry_error *error = NULL;
    struct basketry_writer *writer = NULL;
    struct basketry_context *context = NULL;
    struct basketry_writer_options options;
    struct basketry_column columns[7];
    struct event event;
    char settings[200];
    int64_t table;
    uint64_t bytes = 0;
    long entries;
    long i;
    int j;

    HOLDS(argc == 4);
    entries = strtol(argv[3], NULL, 10);
    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    sprintf(settings, "container=%s, overwrite=true, compression=zstd:5", argv[2]);
    options.settings = settings;
    options.title = "a file of a C program";
    MADE(writer, basketry_writer_new(argv[1], &options, NULL, &error));

    columns[0] = column("run", "int", offsetof(struct event, run));
    columns[1] = column("number", "std::int64_t", offsetof(struct event, number));
    columns[2] = column("weight", "double", offsetof(struct event, weight));
    columns[3] = column("flag", "unsigned char", offsetof(struct event, flag));
    columns[4] = column("nMuon", "int", offsetof(struct event, nMuon));
    columns[5] = column("Muon_pt", "float[nMuon]", offsetof(struct event, Muon_pt));
    columns[6] = column("grid", "short[2]", offsetof(struct event, grid));
    table = basketry_writer_table(writer, "Events", columns, 7, NULL, &error);
    check(table == 0, &error, "basketry_writer_table");
    MADE(context, basketry_context_new(writer, table, &error));
    for (i = 0; i < entries; i++) {
        event.run = (int32_t)(i / 100);
        event.number = ((int64_t)1 << 40) + i;
        event.weight = 0.5 * (double)i;
        event.flag = (unsigned char)(i % 251);
        event.nMuon = (int32_t)(i % 5);
        for (j = 0; j < event.nMuon; j++) {
            event.Muon_pt[j] = (float)(i + j);
        }
        event.grid[0] = (int16_t)(i % 7);
        event.grid[1] = (int16_t)(-(i % 9));
        OK(basketry_context_fill(context, &event, &error));
    }
    OK(basketry_context_finish(context, &error));
    basketry_context_free(context);
    OK(basketry_writer_finish(writer, &bytes, &error));
    HOLDS(bytes > 0);
    basketry_writer_free(writer);
    printf("%s: %lu bytes, library %s\n", argv[1], (unsigned long)bytes, basketry_version());
    return 0;
}
