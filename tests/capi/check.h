/* What the test programs in C share: a call that fails ends the program with the error's message. */
#ifndef BASKETRY_TESTS_CHECK_H
#define BASKETRY_TESTS_CHECK_H

#include <basketry.h>
#include <stdio.h>
#include <stdlib.h>

static void check(int done, struct basketry_error **error, const char *what)
{
    if (!done) {
        fprintf(stderr, "%s: %s\n", what, *error ? basketry_error_message(*error) : "failed without a message");
        basketry_error_free(*error);
        exit(1);
    }
}

/* Calls a function that returns 0; `error` is its last argument. */
#define OK(call) check((call) == 0, &error, #call)
/* Calls a function that returns a handle. */
#define MADE(place, call) check(((place) = (call)) != NULL, &error, #call)
/* Ends the program unless something holds. */
#define HOLDS(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
            exit(1); \
        } \
    } while (0)

#endif
