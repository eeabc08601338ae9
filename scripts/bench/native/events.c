/* events: reads event streams whose events carry the time at which they were written (origin.c, GET /events) and
 * tells how long the events took.
 *
 *   gcc -O2 -o events events.c
 *   ./events ADDRESS PORT STREAMS SECONDS HOST      prints {"events":N,"p50_us":…,"p99_us":…,"max_us":…}
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { STREAMS_MAX = 256, KEEP = 8192, SAMPLES = 1 << 20 };
struct stream { int have; char in[KEEP]; };
static struct stream streams[STREAMS_MAX];
static struct pollfd fds[STREAMS_MAX];
static double took[SAMPLES];
static int taken;

static long long now_ns(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1000000000LL + t.tv_nsec; }
static int by_size(const void *a, const void *b) { double x = *(const double *)a, y = *(const double *)b; return (x > y) - (x < y); }

/* Takes the complete events out of the buffer: "data: <nanoseconds>\n". */
static void take(struct stream *s, long long at) {
  char *from = s->in, *data, *end;
  s->in[s->have] = 0;
  while ((data = strstr(from, "data: ")) && (end = strchr(data, '\n'))) {
    if (taken < SAMPLES) took[taken++] = (at - atoll(data + 6)) / 1e3;
    from = end + 1;
  }
  s->have -= from - s->in;
  memmove(s->in, from, s->have);
}

int main(int argc, char **argv) {
  if (argc != 6) { fprintf(stderr, "usage: events ADDRESS PORT STREAMS SECONDS HOST\n"); return 2; }
  int count = atoi(argv[3]);
  if (count < 1 || count > STREAMS_MAX) { fprintf(stderr, "events: 1 to %d streams\n", STREAMS_MAX); return 2; }
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[2]))};
  if (inet_pton(AF_INET, argv[1], &to.sin_addr) != 1) { fprintf(stderr, "events: bad address\n"); return 2; }
  char request[512];
  int length = snprintf(request, sizeof request, "GET /events HTTP/1.1\r\nHost: %s\r\nAccept: text/event-stream\r\n\r\n", argv[5]);
  for (int i = 0; i < count; i++) {
    fds[i].fd = socket(AF_INET, SOCK_STREAM, 0);
    fds[i].events = POLLIN;
    if (connect(fds[i].fd, (void *)&to, sizeof to)) { perror("events: connect"); return 1; }
    if (send(fds[i].fd, request, length, 0) != length) { perror("events: send"); return 1; }
  }
  long long end = now_ns() + (long long)(atof(argv[4]) * 1e9);
  while (now_ns() < end) {
    if (poll(fds, count, 100) <= 0) continue;
    for (int i = 0; i < count; i++) {
      if (!fds[i].revents) continue;
      struct stream *s = &streams[i];
      ssize_t n = recv(fds[i].fd, s->in + s->have, KEEP - 1 - s->have, 0);
      long long at = now_ns();
      if (n <= 0) { fprintf(stderr, "events: stream %d ended\n", i); return 1; }
      s->have += n;
      take(s, at);
    }
  }
  if (!taken) { fprintf(stderr, "events: none came\n"); return 1; }
  qsort(took, taken, sizeof *took, by_size);
  printf("{\"events\":%d,\"p50_us\":%.1f,\"p99_us\":%.1f,\"max_us\":%.1f}\n", taken, took[taken / 2], took[(int)(taken * 0.99)], took[taken - 1]);
  return 0;
}
