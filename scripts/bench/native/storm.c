/* storm: visitors that show wrong passwords to an HTTP Basic gate, each a different one, at a fixed rate, from many addresses.
 *
 *   gcc -O2 -o storm storm.c
 *   ./storm PORT HOST RATE ADDRESSES SECONDS
 *
 * Each address (127.1.x.y) has one connection and one request under way at most; who has none asks next. At the end prints
 * "sent N 401 N 429 N 503 N other N cpu SECONDS": what the edge answered, and what this program cost.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define TICK_MS 10

struct visitor { int fd, waits, have; char in[8192]; };

static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + t.tv_nsec / 1e9; }

static int dial(int port, int i) {
  struct sockaddr_in from = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7f010000u + 256 + i)};
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;
  if (fd < 0 || bind(fd, (void *)&from, sizeof from) || connect(fd, (void *)&to, sizeof to)) { perror("storm: connect"); exit(1); }
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  fcntl(fd, F_SETFL, O_NONBLOCK);
  return fd;
}

static void base64(const char *text, char *out) {
  static const char set[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  size_t length = strlen(text);
  for (size_t i = 0; i < length; i += 3) {
    unsigned v = (unsigned char)text[i] << 16 | (i + 1 < length ? (unsigned char)text[i + 1] << 8 : 0) | (i + 2 < length ? (unsigned char)text[i + 2] : 0);
    *out++ = set[v >> 18];
    *out++ = set[v >> 12 & 63];
    *out++ = i + 1 < length ? set[v >> 6 & 63] : '=';
    *out++ = i + 2 < length ? set[v & 63] : '=';
  }
  *out = 0;
}

/* A whole answer with a Content-Length is in `in`: its status and its bytes; 0: not yet. */
static int answer(struct visitor *v, int *bytes) {
  v->in[v->have] = 0;
  char *end = strstr(v->in, "\r\n\r\n"), *length = strcasestr(v->in, "\r\ncontent-length:");
  if (!end || !length) return 0;
  *bytes = end + 4 - v->in + atoi(length + 17);
  return v->have < *bytes ? 0 : atoi(v->in + 9);
}

int main(int argc, char **argv) {
  if (argc != 6) { fprintf(stderr, "usage: storm PORT HOST RATE ADDRESSES SECONDS\n"); return 2; }
  int port = atoi(argv[1]), rate = atoi(argv[3]), count = atoi(argv[4]);
  double seconds = atof(argv[5]);
  struct rlimit files;
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  struct visitor *visitors = calloc(count, sizeof *visitors);
  int ep = epoll_create1(0);
  for (int i = 0; i < count; i++) {
    visitors[i].fd = dial(port, i);
    struct epoll_event e = {.events = EPOLLIN, .data.u32 = i};
    epoll_ctl(ep, EPOLL_CTL_ADD, visitors[i].fd, &e);
  }
  long sent = 0, wrong = 0, limited = 0, busy = 0, other = 0;
  double start = now();
  unsigned salt = (unsigned)(start * 1e6);
  int next = 0;
  for (double t = start; t < start + seconds; t = now()) {
    for (int tries = 0; sent < (t - start) * rate && tries < count; tries++, next = (next + 1) % count) {
      struct visitor *v = &visitors[next];
      if (v->waits) continue;
      char plain[64], shown[128], request[512];
      snprintf(plain, sizeof plain, "preview:guess-%u-%ld", salt, sent);
      base64(plain, shown);
      int length = snprintf(request, sizeof request, "GET /small HTTP/1.1\r\nHost: %s\r\nAuthorization: Basic %s\r\n\r\n", argv[2], shown);
      if (send(v->fd, request, length, MSG_NOSIGNAL) != length) { fprintf(stderr, "storm: send: %s\n", strerror(errno)); return 1; }
      v->waits = 1;
      sent++;
    }
    struct epoll_event events[256];
    int n = epoll_wait(ep, events, 256, TICK_MS);
    for (int e = 0; e < n; e++) {
      struct visitor *v = &visitors[events[e].data.u32];
      ssize_t got = recv(v->fd, v->in + v->have, sizeof v->in - 1 - v->have, 0);
      if (got < 0 && errno == EAGAIN) continue;
      if (got <= 0) { fprintf(stderr, "storm: the edge has closed a connection\n"); return 1; }
      v->have += got;
      int bytes = 0, status = answer(v, &bytes);
      if (status == 0) continue;
      v->have = v->waits = 0;
      *(status == 401 ? &wrong : status == 429 ? &limited : status == 503 ? &busy : &other) += 1;
    }
    /* Answers come one by one; to be woken for each would be most of what this costs. */
    struct timespec rest = {.tv_nsec = TICK_MS * 1000000L};
    nanosleep(&rest, NULL);
  }
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  double cpu = used.ru_utime.tv_sec + used.ru_stime.tv_sec + (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
  printf("sent %ld 401 %ld 429 %ld 503 %ld other %ld cpu %.3f\n", sent, wrong, limited, busy, other, cpu);
  return 0;
}
