// Calling the C compiler: posix_spawn, no shell.
#include "cli/build.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

Words build_compiler(Arena *a)
{
    Words words = {0};
    const char *cc = getenv("CC");
    if (cc)
        options_split(a, cc, &words);
    if (words.n == 0)
        VEC_PUSH(a, &words, "cc");
    return words;
}

const char *build_find_program(Arena *a, const char *name)
{
    if (strchr(name, '/'))
        return access(name, X_OK) == 0 ? name : NULL;
    const char *path = getenv("PATH");
    char *list = arena_strdup(a, path ? path : "/usr/local/bin:/usr/bin:/bin"), *rest = list;
    for (char *dir; (dir = strsep(&rest, ":"));) {
        const char *full = arena_printf(a, "%s/%s", *dir ? dir : ".", name);
        if (access(full, X_OK) == 0)
            return full;
    }
    return NULL;
}

static char *read_all(Arena *a, int fd)
{
    VEC(char) text = {0};
    char block[4096];
    ssize_t n;
    while ((n = read(fd, block, sizeof block)) > 0 || (n < 0 && errno == EINTR))
        for (ssize_t k = 0; k < n; k++)
            VEC_PUSH(a, &text, block[k]);
    VEC_PUSH(a, &text, 0);
    return text.at;
}

int build_run(Arena *a, const Words *command, const char **output)
{
    int pipe_ends[2], status = 0;
    pid_t pid;
    char **argv = ARENA_ARRAY(a, char *, command->n + 1);
    for (int k = 0; k < command->n; k++)
        argv[k] = arena_strdup(a, command->at[k]);
    *output = "";
    if (pipe2(pipe_ends, O_CLOEXEC) != 0)
        return 127;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDERR_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    int failed = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(pipe_ends[1]);
    if (!failed) {
        *output = read_all(a, pipe_ends[0]);
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
            ;
    } else {
        *output = strerror(failed);
    }
    close(pipe_ends[0]);
    return failed ? 127 : WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
