/**
 * The request loads: small answers with kept connections, one at a time, 64 KB answers, and a new connection for every
 * request, each over http and, where it differs, https.
 */
import type { Load, RequestLoad } from '../load.ts';
import type { Column, Scenario, SubjectName } from '../subject.ts';

const PLAIN: readonly SubjectName[] = ['direct', 'nginx', 'haproxy', 'ssh', 'culvert', 'culvert-other'];
const TLS: readonly SubjectName[] = ['nginx-tls', 'culvert-tls', 'culvert-tls-other'];

const RPS: Column = { key: 'rps', head: 'req/s', digits: 0 };
const P50: Column = { key: 'p50', head: 'p50 us', digits: 0 };
const P99: Column = { key: 'p99', head: 'p99 us', digits: 0 };

/** Connections of the throughput loads: enough to keep every process busy, few enough for one wrk thread. */
const MANY = 64;

export function requestScenarios(load: Load, seconds: number): Scenario[] {
  const scenario = (
    name: string,
    title: string,
    options: { readonly subjects: readonly SubjectName[]; readonly load: Omit<RequestLoad, 'seconds'> },
  ): Scenario => ({
    name,
    title,
    subjects: options.subjects,
    columns: [RPS, P50, P99],
    unit: 'request',
    measure: (subject) => load.requests(subject, { ...options.load, seconds }),
  });
  return [
    scenario('small', `small GET, ${MANY} kept connections`, {
      subjects: PLAIN,
      load: { path: '/small', connections: MANY },
    }),
    scenario('tls', `small GET, ${MANY} kept connections, https to the visitor`, {
      subjects: TLS,
      load: { path: '/small', connections: MANY },
    }),
    scenario('one', 'small GET, one connection', { subjects: PLAIN, load: { path: '/small', connections: 1 } }),
    scenario('64k', `64 KB GET, ${MANY} kept connections`, {
      subjects: PLAIN,
      load: { path: '/64k', connections: MANY },
    }),
    scenario('close', 'a new connection per request, http', {
      subjects: PLAIN,
      load: { path: '/small', connections: MANY, close: true },
    }),
    scenario('close-tls', 'a new connection per request, https', {
      subjects: TLS,
      load: { path: '/small', connections: MANY, close: true },
    }),
  ];
}
