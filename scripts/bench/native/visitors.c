/* visitors: kept connections, each of which sends a small request at a fixed pace, whatever becomes of the one before.
 *
 *   gcc -O2 -o visitors visitors.c
 *   ./visitors PORT HOST CONNECTIONS INTERVAL_MS WARM_SECONDS SECONDS GRACE_SECONDS [FIELDS]
 *
 * Latency is counted from the instant at which a request was due, so that a stall counts for each request that it held up and not
 * for the first alone. All latencies of SECONDS are kept and sorted: no histogram. A visitor with a request under way sends the next
 * one after the response, and dials again after a close. A request is lost without a response GRACE_SECONDS after the end, and with
 * another status than 200. FIELDS: a file of header lines; each request takes the next.
 * Prints one line of JSON; `late_us` is the longest delay of this program itself, `cpu` its processor seconds;
 * `worst_at` says when the worst request was due, in seconds.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { IN_MAX = 8192, FIELDS_MAX = 4096, TIMER = UINT32_MAX };

/* `due`, `begun`: how many of this visitor's requests have had their turn, and were sent or given up. */
struct visitor { int fd, waits, have; long due, begun; char in[IN_MAX]; };

static struct visitor *all;
static int port, count, ep, fields_count;
static const char *host;
static char *fields[FIELDS_MAX];
static int64_t start, step, from, worst, worst_due;
static uint32_t *latencies;
static long measured, ok, refused, cut, next_field, statuses[600];

static int64_t now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1000000000LL + t.tv_nsec; }

/* When the request with this number of this visitor is due: the visitors follow each other evenly. */
static int64_t due_at(int i, long k) { return start + (k * count + i) * step; }

static int dial(int i) {
  struct visitor *v = &all[i];
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;
  if (fd < 0) { perror("visitors: socket"); exit(1); }
  if (connect(fd, (void *)&to, sizeof to)) { close(fd); return -1; }
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  fcntl(fd, F_SETFL, O_NONBLOCK);
  struct epoll_event e = {.events = EPOLLIN, .data.u32 = i};
  epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e);
  v->fd = fd; v->have = v->waits = 0;
  return 0;
}

/* The latest request of this visitor has failed. */
static void lose(int i) {
  if (due_at(i, all[i].begun - 1) >= from) cut++;
  all[i].waits = 0;
}

static void hang_up(int i) {
  close(all[i].fd);
  all[i].fd = -1;
  if (all[i].waits) lose(i);
}

static void ask(int i) {
  struct visitor *v = &all[i];
  while (!v->waits && v->begun < v->due) {
    v->begun++;
    if (v->fd < 0 && dial(i)) { lose(i); continue; }
    char request[4096];
    const char *field = fields_count ? fields[next_field++ % fields_count] : "";
    int length = snprintf(request, sizeof request, "GET /small HTTP/1.1\r\nHost: %s\r\n%s%s\r\n", host, field, *field ? "\r\n" : "");
    v->waits = 1;
    if (send(v->fd, request, length, MSG_NOSIGNAL) != length) hang_up(i);
  }
}

/* A whole response with a Content-Length is there: its status, and its bytes; 0: not yet. */
static int response(struct visitor *v, int *bytes) {
  v->in[v->have] = 0;
  char *end = strstr(v->in, "\r\n\r\n"), *length = strcasestr(v->in, "\r\ncontent-length:");
  if (!end || !length || length > end) return 0;
  *bytes = end + 4 - v->in + atoi(length + 17);
  return v->have < *bytes ? 0 : atoi(v->in + 9);
}

static void hear(int i) {
  struct visitor *v = &all[i];
  if (v->fd < 0) return;
  ssize_t got = recv(v->fd, v->in + v->have, IN_MAX - 1 - v->have, 0);
  if (got < 0 && errno == EAGAIN) return;
  if (got <= 0) { hang_up(i); ask(i); return; }
  v->have += got;
  int bytes = 0, status = response(v, &bytes);
  if (!status) { if (v->have == IN_MAX - 1) { hang_up(i); ask(i); } return; }
  if (!v->waits) { fprintf(stderr, "visitors: a response without a request\n"); exit(1); }
  int64_t due = due_at(i, v->begun - 1);
  if (due >= from) {
    statuses[status < 600 ? status : 0]++;
    if (status == 200) ok++; else refused++;
    int64_t took = now() - due;
    if (took > worst) { worst = took; worst_due = due; }
    latencies[measured++] = took / 1000;
  }
  v->have = v->waits = 0;
  ask(i);
}

static int ascending(const void *a, const void *b) { uint32_t x = *(uint32_t *)a, y = *(uint32_t *)b; return (x > y) - (x < y); }

static double at(double part) { return measured ? latencies[(long)(part * (measured - 1))] : 0; }

static void read_fields(const char *path) {
  FILE *file = fopen(path, "r");
  if (!file) { perror(path); exit(1); }
  char *line = NULL;
  size_t size = 0;
  for (ssize_t n; fields_count < FIELDS_MAX && (n = getline(&line, &size, file)) > 1;) {
    line[strcspn(line, "\r\n")] = 0;
    fields[fields_count++] = strdup(line);
  }
  fclose(file);
}

static int under_way(void) { for (int i = 0; i < count; i++) if (all[i].waits) return 1; return 0; }

int main(int argc, char **argv) {
  if (argc < 8) { fprintf(stderr, "usage: visitors PORT HOST CONNECTIONS INTERVAL_MS WARM_SECONDS SECONDS GRACE_SECONDS [FIELDS]\n"); return 2; }
  port = atoi(argv[1]); host = argv[2]; count = atoi(argv[3]);
  step = atof(argv[4]) * 1e6 / count;
  double warm = atof(argv[5]), seconds = atof(argv[6]), grace = atof(argv[7]);
  if (argc > 8) read_fields(argv[8]);
  signal(SIGPIPE, SIG_IGN);
  prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
  all = calloc(count, sizeof *all);
  ep = epoll_create1(0);
  for (int i = 0; i < count; i++) if (dial(i)) { perror("visitors: connect"); return 1; }
  start = now() + 1000000;
  from = start + warm * 1e9;
  int64_t end = from + seconds * 1e9, until = end + grace * 1e9, late = 0;
  latencies = malloc(((end - start) / step + count + 1) * sizeof *latencies);
  int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
  struct epoll_event e = {.events = EPOLLIN, .data.u32 = TIMER};
  epoll_ctl(ep, EPOLL_CTL_ADD, timer, &e);
  long turn = 0, due = 0;
  for (int64_t t = now(); t < end || (under_way() && t < until); t = now()) {
    for (; start + turn * step <= t && start + turn * step < end; turn++) {
      if (start + turn * step >= from) { due++; if (t - start - turn * step > late) late = t - start - turn * step; }
      all[turn % count].due++;
      ask(turn % count);
    }
    int64_t next = start + turn * step < end ? start + turn * step : t < end ? end : until;
    struct itimerspec when = {.it_value = {next / 1000000000, next % 1000000000}};
    timerfd_settime(timer, TFD_TIMER_ABSTIME, &when, NULL);
    struct epoll_event events[256];
    int n = epoll_wait(ep, events, 256, -1);
    for (int k = 0; k < n; k++) {
      uint64_t ticks;
      if (events[k].data.u32 != TIMER) hear(events[k].data.u32);
      else if (read(timer, &ticks, sizeof ticks) < 0) continue;
    }
  }
  qsort(latencies, measured, sizeof *latencies, ascending);
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  double cpu = used.ru_utime.tv_sec + used.ru_stime.tv_sec + (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
  printf("{\"due\":%ld,\"ok\":%ld,\"refused\":%ld,\"cut\":%ld,\"silent\":%ld,", due, ok, refused, cut, due - ok - refused - cut);
  printf("\"p50_us\":%.0f,\"p99_us\":%.0f,\"max_us\":%.0f,\"late_us\":%.0f,\"worst_at\":%.2f,\"cpu\":%.3f,\"statuses\":{", at(0.5), at(0.99), at(1), late / 1e3, (worst_due - from) / 1e9, cpu);
  for (int i = 0, some = 0; i < 600; i++) if (statuses[i]) printf("%s\"%d\":%ld", some++ ? "," : "", i, statuses[i]);
  printf("}}\n");
  return 0;
}
