/* idle: visitors that have made one request each and then keep their connection open.
 *
 *   gcc -O2 -o idle idle.c
 *   ./idle PORT COUNT HOST         prints "open COUNT SECONDS" when all are open; ends at SIGTERM
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + t.tv_nsec / 1e9; }

/* Reads one response with a Content-Length of 200, whatever the pieces that it comes in. */
static int read_response(int fd) {
  char in[4096];
  int have = 0;
  for (;;) {
    ssize_t n = recv(fd, in + have, sizeof in - 1 - have, 0);
    if (n <= 0) return -1;
    have += n;
    in[have] = 0;
    char *end = strstr(in, "\r\n\r\n");
    if (end && in + have - (end + 4) >= 200) return strncmp(in, "HTTP/1.1 200", 12) ? -1 : 0;
  }
}

int main(int argc, char **argv) {
  if (argc != 4) { fprintf(stderr, "usage: idle PORT COUNT HOST\n"); return 2; }
  int count = atoi(argv[2]);
  struct rlimit files;
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[1])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  char request[512];
  int length = snprintf(request, sizeof request, "GET /small HTTP/1.1\r\nHost: %s\r\n\r\n", argv[3]);
  double start = now();
  for (int i = 0; i < count; i++) {
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0 || connect(fd, (void *)&to, sizeof to)) { perror("idle: connect"); return 1; }
    if (send(fd, request, length, 0) != length || read_response(fd)) { fprintf(stderr, "idle: no answer on connection %d\n", i); return 1; }
  }
  printf("open %d %.2f\n", count, now() - start);
  fflush(stdout);
  pause();
  return 0;
}
