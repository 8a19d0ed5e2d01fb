#pragma once

// What the C library of Linux declares only with _GNU_SOURCE, which the importer of Swift does not define. No header is included, as
// this module would then own what that one declares.

#ifdef __linux__
int pipe2(int ends[2], int flags);
// The first argument is a posix_spawn_file_actions_t.
int posix_spawn_file_actions_addclosefrom_np(void *actions, int first);
int posix_spawn_file_actions_addchdir_np(void *actions, const char *path);
#endif
