/* slow-disk: a slow disk. Preloaded into a process, it sleeps before each fsync and fdatasync.
 *
 *   gcc -O2 -shared -fPIC -o slow-disk.so slow-disk.c -ldl
 *   SLOW_DISK_FILE=FILE LD_PRELOAD=./slow-disk.so culvert serve
 *
 * FILE holds the milliseconds, as text; it is read at each call, so that it can be changed while the process runs. No file: none.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static void wait_for_disk(void) {
  const char *path = getenv("SLOW_DISK_FILE");
  int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (fd < 0) return;
  char text[16] = "";
  ssize_t n = read(fd, text, sizeof text - 1);
  close(fd);
  long ms = n > 0 ? atol(text) : 0;
  struct timespec left = {ms / 1000, ms % 1000 * 1000000};
  while (ms > 0 && nanosleep(&left, &left) && errno == EINTR);
}

typedef int (*sync_call)(int);

int fsync(int fd) {
  static sync_call real;
  if (!real) real = (sync_call)dlsym(RTLD_NEXT, "fsync");
  wait_for_disk();
  return real(fd);
}

int fdatasync(int fd) {
  static sync_call real;
  if (!real) real = (sync_call)dlsym(RTLD_NEXT, "fdatasync");
  wait_for_disk();
  return real(fd);
}
