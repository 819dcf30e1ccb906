/* The command `basketry` of the Python package: it loads the package's compiled half, beside which pip has put it, and runs the command that
 * is in there. No interpreter starts. Where the compiled half is not found, or an argument names a URL that only Python's fsspec can open,
 * `python -m basketry` does the work. tools/wheel_command.py compiles it into the wheel. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef VERSION
#error "the version of the package is missing"
#endif
#define MODULE "_core.abi3.so"

typedef int command_of(int argc, char **argv, const char *module);

/* Whether a file of the package, or of what pip says of it, is in a folder of packages. */
static int has(const char *packages, const char *name, char *found) {
  int length = snprintf(found, PATH_MAX, "%s/%s", packages, name);
  return length > 0 && length < PATH_MAX && access(found, R_OK) == 0;
}

/* Takes the module of a folder of packages, if it is of this version. */
static int module_in(const char *packages, char *module) {
  char about[PATH_MAX];
  return has(packages, "basketry-" VERSION ".dist-info/METADATA", about) && has(packages, "basketry/" MODULE, module);
}

/* Looks through the folders `pythonX.Y` of a library folder. */
static int module_below(const char *libraries, char *module) {
  static const char *const kinds[] = {"site-packages", "dist-packages"};
  DIR *folder = opendir(libraries);
  if (!folder) return 0;
  int found = 0;
  for (struct dirent *entry; !found && (entry = readdir(folder));) {
    if (strncmp(entry->d_name, "python", 6) != 0) continue;
    for (int kind = 0; kind < 2 && !found; kind++) {
      char packages[PATH_MAX];
      int length = snprintf(packages, sizeof packages, "%s/%s/%s", libraries, entry->d_name, kinds[kind]);
      found = length > 0 && length < (int)sizeof packages && module_in(packages, module);
    }
  }
  closedir(folder);
  return found;
}

/* Finds the module from the folder of this program: the places that pip gives programs and packages. */
static int find_module(const char *programs, char *module) {
  static const char *const libraries[] = {"/../lib", "/../lib64", "/../local/lib", "/../../lib"};
  char folder[PATH_MAX];
  for (int place = 0; place < 4; place++) {
    int length = snprintf(folder, sizeof folder, "%s%s", programs, libraries[place]);
    if (length > 0 && length < (int)sizeof folder && module_below(folder, module)) return 1;
  }
  /* pip install --target */
  int length = snprintf(folder, sizeof folder, "%s/..", programs);
  return length > 0 && length < (int)sizeof folder && module_in(folder, module);
}

/* Whether an argument names a URL of a kind that the command itself does not open. */
static int needs_python(int argc, char **argv) {
  static const char *const own[] = {"http", "https", "s3", "root", "roots", "xroot", "xroots", "file"};
  for (int place = 1; place < argc; place++) {
    const char *end = strstr(argv[place], "://");
    if (!end) continue;
    const char *start = end;
    while (start > argv[place] && ((start[-1] >= 'a' && start[-1] <= 'z') || (start[-1] >= '0' && start[-1] <= '9'))) start--;
    size_t length = (size_t)(end - start);
    int known = length == 0;
    for (size_t kind = 0; kind < sizeof own / sizeof *own; kind++)
      known |= strlen(own[kind]) == length && memcmp(own[kind], start, length) == 0;
    /* As in simplecache::https://... */
    int chained = start > argv[place] && start[-1] == ':';
    if (!known || chained) return 1;
  }
  return 0;
}

/* Becomes `python -m basketry`: the interpreter beside this program, or the first one on the path. */
static int by_python(const char *programs, int argc, char **argv) {
  char beside[PATH_MAX];
  int length = snprintf(beside, sizeof beside, "%s/python3", programs);
  char **words = calloc((size_t)argc + 3, sizeof *words);
  if (!words || length < 0 || length >= (int)sizeof beside) return 2;
  words[0] = access(beside, X_OK) == 0 ? beside : "python3";
  words[1] = "-m";
  words[2] = "basketry";
  for (int place = 1; place < argc; place++) words[place + 2] = argv[place];
  execvp(words[0], words);
  fprintf(stderr, "basketry: finds neither the package basketry " VERSION " beside itself nor %s\n", words[0]);
  return 2;
}

int main(int argc, char **argv) {
  char programs[PATH_MAX], module[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", programs, sizeof programs - 1);
  if (length < 0) length = 0;
  programs[length] = 0;
  char *name = strrchr(programs, '/');
  if (name) *name = 0;
  if (!name || needs_python(argc, argv) || !find_module(programs, module)) return by_python(programs, argc, argv);
  void *core = dlopen(module, RTLD_NOW | RTLD_LOCAL);
  command_of *command = core ? (command_of *)dlsym(core, "basketry_command") : NULL;
  if (!command) {
    fprintf(stderr, "basketry: %s\n", dlerror());
    return by_python(programs, argc, argv);
  }
  return command(argc, argv, module);
}
