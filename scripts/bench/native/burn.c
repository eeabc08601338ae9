/* burn: uses processor time, one process for each share of a processor.
 *
 *   gcc -O2 -o burn burn.c
 *   ./burn SECONDS SHARE:NICE...        e.g. burn 8 0.95:0 0.4:19
 *
 * Within each period of 10 ms a process runs until it has had its share of the time since it began, then sleeps; after a wait
 * for a processor it catches up. Prints "burnt SECONDS", of all together.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PERIOD 0.010

static double clock_of(clockid_t id) { struct timespec t; clock_gettime(id, &t); return t.tv_sec + t.tv_nsec / 1e9; }

static void burn(double seconds, double share, int nice) {
  setpriority(PRIO_PROCESS, 0, nice);
  double start = clock_of(CLOCK_MONOTONIC), elapsed;
  volatile uint64_t spin = 0;
  for (long period = 1; (elapsed = clock_of(CLOCK_MONOTONIC) - start) < seconds; period++) {
    while (clock_of(CLOCK_PROCESS_CPUTIME_ID) < share * elapsed && elapsed < seconds) {
      for (int i = 0; i < 2000; i++) spin += i;
      elapsed = clock_of(CLOCK_MONOTONIC) - start;
    }
    while (period * PERIOD <= elapsed) period++;
    double rest = start + period * PERIOD - clock_of(CLOCK_MONOTONIC);
    struct timespec sleep = {.tv_nsec = rest > 0 ? rest * 1e9 : 0};
    nanosleep(&sleep, NULL);
  }
  exit(0);
}

int main(int argc, char **argv) {
  if (argc < 2) { fprintf(stderr, "usage: burn SECONDS SHARE:NICE...\n"); return 2; }
  for (int i = 2; i < argc; i++) {
    char *nice = strchr(argv[i], ':');
    if (!fork()) burn(atof(argv[1]), atof(argv[i]), nice ? atoi(nice + 1) : 0);
  }
  while (wait(NULL) > 0);
  struct rusage used;
  getrusage(RUSAGE_CHILDREN, &used);
  printf("burnt %.2f\n", used.ru_utime.tv_sec + used.ru_stime.tv_sec + (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6);
  return 0;
}
