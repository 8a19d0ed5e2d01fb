#pragma once

// Functions that the C library of Linux declares only with _GNU_SOURCE, which Swift's importer does not define. This header includes no
// other header: the declarations of an included header would belong to this module.

#ifdef __linux__
int pipe2(int ends[2], int flags);
// The first argument is a posix_spawn_file_actions_t.
int posix_spawn_file_actions_addclosefrom_np(void *actions, int first);
int posix_spawn_file_actions_addchdir_np(void *actions, const char *path);
#endif
