/* datagrams: small UDP datagrams by the hundred thousand a second, sent and received many at a time, so that the load leaves the processors to
 * what is measured.
 *
 *   gcc -O2 -o datagrams datagrams.c
 *   ./datagrams sink PORT                                  counts what comes to 127.0.0.1:PORT
 *   ./datagrams echo PORT                                  the same, and sends each one back
 *   ./datagrams send ADDRESS PORT RATE SIZE FLOWS SECONDS  sends at a fixed rate from so many ports by turns, and counts what comes back
 *
 * The first two print "ready", and at SIGTERM "received N bytes N cpu SECONDS". The third prints at its end "sent N refused N late N echoed N cpu SECONDS":
 * refused are those that this machine's own socket did not take, late those that were not tried. Each sleeps between two turns rather than being woken for each datagram.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { BATCH = 64, LONGEST = 2048, BUFFER = 16 << 20, REST_US = 250, LINGER_MS = 500 };
static volatile sig_atomic_t stop;
static void on_stop(int s) { (void)s; stop = 1; }
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + t.tv_nsec / 1e9; }
static void rest(void) { struct timespec t = {.tv_nsec = REST_US * 1000L}; nanosleep(&t, NULL); }
static void die(const char *what) { perror(what); exit(1); }

static double cpu(void) {
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  return used.ru_utime.tv_sec + used.ru_stime.tv_sec + (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

static struct mmsghdr messages[BATCH];
static struct iovec pieces[BATCH];
static struct sockaddr_in sources[BATCH];
static unsigned char bytes[BATCH][LONGEST];

static void ready_messages(int with_source) {
  memset(messages, 0, sizeof messages);
  for (int i = 0; i < BATCH; i++) {
    pieces[i] = (struct iovec){bytes[i], LONGEST};
    messages[i].msg_hdr = (struct msghdr){.msg_iov = &pieces[i], .msg_iovlen = 1};
    if (!with_source) continue;
    messages[i].msg_hdr.msg_name = &sources[i];
    messages[i].msg_hdr.msg_namelen = sizeof sources[i];
  }
}

static int open_socket(void) {
  int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0), size = BUFFER;
  if (fd < 0) die("datagrams: socket");
  /* Past the machine's limit where this is root's; else as much as it gives. */
  if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size)) setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
  if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof size)) setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
  return fd;
}

/* Takes all that is there; the number of datagrams. */
static long drain(int fd, int echo, long *total) {
  long received = 0;
  for (;;) {
    ready_messages(echo);
    int n = recvmmsg(fd, messages, BATCH, 0, NULL);
    if (n <= 0) return received; /* nothing there, or an earlier refusal */
    received += n;
    for (int i = 0; i < n; i++) { *total += messages[i].msg_len; pieces[i].iov_len = messages[i].msg_len; }
    for (int done = 0; echo && done < n;) {
      int sent = sendmmsg(fd, messages + done, n - done, 0);
      done += sent > 0 ? sent : 1;
    }
    if (n < BATCH) return received;
  }
}

static int receive(int port, int echo) {
  int fd = open_socket();
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  if (bind(fd, (void *)&at, sizeof at)) die("datagrams: bind");
  printf("ready\n"); fflush(stdout);
  long received = 0, total = 0;
  while (!stop) { received += drain(fd, echo, &total); rest(); }
  received += drain(fd, echo, &total);
  printf("received %ld bytes %ld cpu %.3f\n", received, total, cpu());
  return 0;
}

static int send_all(char **argv) {
  int port = atoi(argv[3]), size = atoi(argv[5]), flows = atoi(argv[6]);
  double rate = atof(argv[4]), seconds = atof(argv[7]);
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};
  if (inet_pton(AF_INET, argv[2], &to.sin_addr) != 1 || size < 1 || size > LONGEST || flows < 1) { fprintf(stderr, "datagrams: bad arguments\n"); return 2; }
  int *fds = malloc(flows * sizeof *fds);
  for (int i = 0; i < flows; i++) {
    fds[i] = open_socket();
    if (connect(fds[i], (void *)&to, sizeof to)) die("datagrams: connect");
  }
  long sent = 0, refused = 0, echoed = 0, total = 0, debt = 0;
  int next = 0;
  double start = now(), last = start;
  for (double t = start; !stop && t < start + seconds; rest(), t = now()) {
    /* What this program itself came too late for is not sent in one piece later: that would be another load. */
    long due = (long)((t - start) * rate) - sent - refused - debt;
    if (due > rate / 50) { debt += due - (long)(rate / 50); due = (long)(rate / 50); }
    while (due > 0) {
      int n = due < BATCH ? due : BATCH;
      ready_messages(0);
      for (int i = 0; i < n; i++) pieces[i].iov_len = size;
      int went = sendmmsg(fds[next], messages, n, 0);
      sent += went > 0 ? went : 0;
      refused += n - (went > 0 ? went : 0);
      due -= n;
      next = (next + 1) % flows;
    }
    for (int i = 0; i < flows; i++) echoed += drain(fds[i], 0, &total);
    last = t;
  }
  for (double t = now(); t < last + LINGER_MS / 1e3; t = now()) {
    for (int i = 0; i < flows; i++) echoed += drain(fds[i], 0, &total);
    rest();
  }
  printf("sent %ld refused %ld late %ld echoed %ld cpu %.3f\n", sent, refused, debt, echoed, cpu());
  return 0;
}

int main(int argc, char **argv) {
  signal(SIGTERM, on_stop); signal(SIGINT, on_stop);
  if (argc == 3 && !strcmp(argv[1], "sink")) return receive(atoi(argv[2]), 0);
  if (argc == 3 && !strcmp(argv[1], "echo")) return receive(atoi(argv[2]), 1);
  if (argc == 8 && !strcmp(argv[1], "send")) return send_all(argv);
  fprintf(stderr, "usage: datagrams sink PORT | echo PORT | send ADDRESS PORT RATE SIZE FLOWS SECONDS\n");
  return 2;
}
