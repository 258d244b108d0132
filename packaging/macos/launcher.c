/* The application's own program: runs our Python in this process, so that macOS sees SAPO Desktop, and not Python. */
#include <dlfcn.h>
#include <limits.h>
#include <mach-o/dyld.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PYTHON "/Resources/payload/python"
#define LIBRARY "/lib/libpython3.11.dylib"

typedef int (*run_python)(int, char **);

static int fail(const char *what) {
    fprintf(stderr, "SAPO Desktop is damaged (%s): install it again.\n", what);
    return 1;
}

int main(int argc, char **argv) {
    char program[PATH_MAX], home[PATH_MAX + sizeof PYTHON], library[sizeof home + sizeof LIBRARY], given[PATH_MAX];
    uint32_t size = sizeof given;
    if (_NSGetExecutablePath(given, &size) != 0 || realpath(given, program) == NULL) return fail("its own path");
    setenv("SAPO_DESKTOP_PROGRAM", program, 1);
    for (int up = 0; up < 2; up++) { /* from Contents/MacOS/sapo-desktop to Contents */
        char *slash = strrchr(program, '/');
        if (slash == NULL) return fail(program);
        *slash = '\0';
    }
    snprintf(home, sizeof home, "%s%s", program, PYTHON);
    snprintf(library, sizeof library, "%s%s", home, LIBRARY);

    unsetenv("PYTHONPATH");
    unsetenv("PYTHONSTARTUP");
    setenv("PYTHONHOME", home, 1);
    setenv("PYTHONNOUSERSITE", "1", 1);
    setenv("PYTHONSAFEPATH", "1", 1);
    setenv("PYTHONDONTWRITEBYTECODE", "1", 1); /* an additional file would break the signature */

    void *python = dlopen(library, RTLD_NOW | RTLD_GLOBAL);
    if (python == NULL) return fail(dlerror());
    run_python run = (run_python)dlsym(python, "Py_BytesMain");
    char **words = calloc((size_t)argc + 3, sizeof *words);
    if (run == NULL || words == NULL) return fail("Py_BytesMain");
    words[0] = argv[0];
    words[1] = "-m";
    words[2] = "sapo_desktop";
    for (int word = 1; word < argc; word++) words[word + 2] = argv[word];
    return run(argc + 2, words);
}
