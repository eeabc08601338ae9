/* origin: the service behind every proxy of the benchmark. One thread, epoll, no allocation per request, so that what
 * is measured is the proxy and not this program.
 *
 *   gcc -O2 -o origin origin.c
 *   ./origin ADDRESS PORT          prints "ready" when it listens; ends at SIGTERM
 *
 *   GET /small       200 bytes
 *   GET /64k         65,536 bytes
 *   GET /bytes/N     N bytes, written as fast as the reader takes them
 *   GET /events      text/event-stream, chunked: an event every 20 ms that carries CLOCK_MONOTONIC in nanoseconds
 *
 * Request bodies with a Content-Length are thrown away, and answered after their end. "Connection: close" is honoured. It trusts its requests: it serves a
 * benchmark on this machine only. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { HEAD_MAX = 16384, FILL = 262144, EVENTS = 512, TICK_MS = 20 };

struct conn {
  int fd;
  int want_write;           /* EPOLLOUT is armed */
  int close_after;          /* the request asked for Connection: close */
  int streaming;            /* an event stream: written by the tick */
  int have;                 /* bytes in `in` */
  uint64_t skip;            /* bytes of the request body still to throw away … */
  char owed[64];            /* … and the path to answer then */
  const char *out;          /* response bytes still to be written … */
  size_t out_left;
  uint64_t fill_left;       /* … then so many bytes of filler */
  struct conn *next, *prev; /* among the event streams */
  char own[160];            /* the head of a /bytes response, or one event */
  char in[HEAD_MAX];
};

static char small[2][1024], page[2][66048], filler[FILL];
static size_t small_len[2], page_len[2];
static int ep;
static struct conn *streams;

static size_t fixed(char *to, size_t body, int close_it) {
  int n = sprintf(to, "HTTP/1.1 200 OK\r\nServer: origin\r\nContent-Type: text/plain\r\nContent-Length: %zu\r\n%s\r\n", body,
                  close_it ? "Connection: close\r\n" : "");
  memset(to + n, 'x', body);
  return n + body;
}

static void want(struct conn *c, int writing) {
  if (c->want_write == writing) return;
  c->want_write = writing;
  struct epoll_event e = {.events = EPOLLIN | (writing ? EPOLLOUT : 0), .data.ptr = c};
  epoll_ctl(ep, EPOLL_CTL_MOD, c->fd, &e);
}

static void drop(struct conn *c) {
  if (c->streaming) {
    if (c->prev) c->prev->next = c->next; else streams = c->next;
    if (c->next) c->next->prev = c->prev;
  }
  close(c->fd);
  free(c);
}

/* 1: all written, 0: goes on when the socket is writable, -1: the peer is gone. Writes one piece of filler at most: a
 * reader that keeps up would otherwise hold this thread for ever, and the other connections would measure that. */
static int put(struct conn *c) {
  while (c->out_left || c->fill_left) {
    int filling = !c->out_left;
    size_t n = c->out_left ? c->out_left : c->fill_left < FILL ? c->fill_left : FILL;
    ssize_t w = send(c->fd, filling ? filler : c->out, n, MSG_NOSIGNAL);
    if (w < 0 && errno != EAGAIN) return -1;
    if (w > 0 && filling) c->fill_left -= w;
    if (w > 0 && !filling) { c->out += w; c->out_left -= w; }
    if (w < 0 || (filling && c->fill_left)) { want(c, 1); return 0; }
  }
  want(c, 0);
  return 1;
}

static void begin_stream(struct conn *c) {
  c->streaming = 1;
  c->next = streams;
  c->prev = NULL;
  if (streams) streams->prev = c;
  streams = c;
  /* X-Accel-Buffering: nginx passes the events on at once, as a deployed event stream would ask it to. */
  c->out = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\nX-Accel-Buffering: no\r\n"
           "Transfer-Encoding: chunked\r\n\r\n";
  c->out_left = strlen(c->out);
}

static void choose(struct conn *c, const char *path) {
  if (!strncmp(path, "/64k", 4)) {
    c->out = page[c->close_after]; c->out_left = page_len[c->close_after];
  } else if (!strncmp(path, "/bytes/", 7)) {
    c->fill_left = strtoull(path + 7, NULL, 10);
    c->out_left = sprintf(c->own, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %llu\r\n%s\r\n",
                          (unsigned long long)c->fill_left, c->close_after ? "Connection: close\r\n" : "");
    c->out = c->own;
  } else if (!strncmp(path, "/events", 7)) {
    begin_stream(c);
  } else {
    c->out = small[c->close_after]; c->out_left = small_len[c->close_after];
  }
}

/* -1: the connection is done with. */
static int answer(struct conn *c, const char *path) {
  choose(c, path);
  int r = put(c);
  return r < 0 || (r == 1 && c->close_after && !c->streaming) ? -1 : 0;
}

/* Answers every complete request in `in`; -1 closes. */
static int serve(struct conn *c) {
  for (;;) {
    if (c->skip) {
      uint64_t n = c->skip < (uint64_t)c->have ? c->skip : (uint64_t)c->have;
      memmove(c->in, c->in + n, c->have - n);
      c->have -= n; c->skip -= n;
    }
    if (!c->skip && *c->owed) {
      int r = answer(c, c->owed);
      *c->owed = 0;
      if (r < 0) return -1;
    }
    if (c->skip || c->out_left || c->fill_left || c->streaming) return 0;
    char *end = memmem(c->in, c->have, "\r\n\r\n", 4);
    if (!end) return c->have == HEAD_MAX ? -1 : 0;
    end[2] = 0;
    char *length = strcasestr(c->in, "\r\ncontent-length:"), *path = strchr(c->in, ' ');
    c->skip = length ? strtoull(length + 17, NULL, 10) : 0;
    c->close_after = strcasestr(c->in, "\r\nconnection: close") != NULL;
    if (!path) return -1;
    int used = end + 4 - c->in;
    if (c->skip) snprintf(c->owed, sizeof c->owed, "%.63s", path + 1);
    else if (answer(c, path + 1) < 0) return -1;
    memmove(c->in, c->in + used, c->have - used);
    c->have -= used;
  }
}

static void tick(void) {
  for (struct conn *c = streams, *next; c; c = next) {
    next = c->next;
    if (c->out_left) continue; /* a reader that does not keep up misses events */
    struct timespec t;
    char event[64];
    clock_gettime(CLOCK_MONOTONIC, &t);
    int n = sprintf(event, "data: %lld\n\n", t.tv_sec * 1000000000LL + t.tv_nsec);
    c->out = c->own;
    c->out_left = sprintf(c->own, "%x\r\n%s\r\n", n, event);
    if (put(c) < 0) drop(c);
  }
}

static int readable(struct conn *c) {
  static char waste[FILL];
  int full = c->have == HEAD_MAX;
  if (c->skip > FILL && !c->have) {
    ssize_t body = recv(c->fd, waste, sizeof waste, 0);
    if (body < 0 && errno == EAGAIN) return 0;
    if (body > 0) c->skip -= body;
    return body > 0 ? 0 : -1;
  }
  ssize_t n = full || c->streaming ? recv(c->fd, waste, 4096, 0) : recv(c->fd, c->in + c->have, HEAD_MAX - c->have, 0);
  if (n < 0 && errno == EAGAIN) return 0;
  if (n <= 0 || full) return -1;
  if (c->streaming) return 0;
  c->have += n;
  return serve(c);
}

static void accept_all(int listener) {
  int fd, one = 1;
  while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    struct conn *c = calloc(1, sizeof *c);
    if (!c) { close(fd); continue; }
    c->fd = fd;
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = c};
    epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e);
  }
}

int main(int argc, char **argv) {
  if (argc != 3) { fprintf(stderr, "usage: origin ADDRESS PORT\n"); return 2; }
  struct rlimit files;
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  signal(SIGPIPE, SIG_IGN);
  memset(filler, 'x', sizeof filler);
  for (int i = 0; i < 2; i++) { small_len[i] = fixed(small[i], 200, i); page_len[i] = fixed(page[i], 65536, i); }

  int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), one = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[2]))};
  if (inet_pton(AF_INET, argv[1], &at.sin_addr) != 1 || bind(listener, (void *)&at, sizeof at) || listen(listener, 4096)) {
    perror("origin"); return 1;
  }
  int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
  struct itimerspec every = {{0, TICK_MS * 1000000}, {0, TICK_MS * 1000000}};
  timerfd_settime(timer, 0, &every, NULL);
  ep = epoll_create1(0);
  struct epoll_event e = {.events = EPOLLIN, .data.ptr = &listener};
  epoll_ctl(ep, EPOLL_CTL_ADD, listener, &e);
  e.data.ptr = &timer;
  epoll_ctl(ep, EPOLL_CTL_ADD, timer, &e);
  printf("ready\n");
  fflush(stdout);

  static struct epoll_event ready[EVENTS];
  for (;;) {
    int n = epoll_wait(ep, ready, EVENTS, -1), ticked = 0;
    for (int i = 0; i < n; i++) {
      if (ready[i].data.ptr == &listener) { accept_all(listener); continue; }
      if (ready[i].data.ptr == &timer) { uint64_t count; ticked = read(timer, &count, sizeof count) > 0; continue; }
      struct conn *c = ready[i].data.ptr;
      int r = 0;
      if (ready[i].events & EPOLLOUT) {
        r = put(c);
        if (r == 1) r = c->close_after && !c->streaming ? -1 : serve(c);
      }
      if (r >= 0 && ready[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) r = readable(c);
      if (r < 0) drop(c);
    }
    if (ticked) tick(); /* after the loop: a dropped stream must not be among the events still to be looked at */
  }
}
