/**
 * The metrics of the whole server in Prometheus' text format, for operators. Bounded whatever customers do: no label is of a tunnel, an
 * organization or a visitor; certificates are named up to a thousand. docs/monitoring.md has alerts.
 */
import type { EdgeStats, ThreadFigures } from '../../plane/edge-stats.ts';
import type { NodeLoad } from '../../plane/node-load.ts';
import type { RelayStats } from '../../plane/relays.ts';
import type { DescriptorFigures } from '../../base/process/descriptor-watch.ts';
import type { ProcessFigures } from '../../base/process/process-watch.ts';
import type { JobTime } from '../core/job-times.ts';
import type { ServerFigures } from './metrics.ts';
import { byLabel, type Exposition, MetricSheet, type Values } from '../core/http/metric-sheet.ts';

/** `version`: of the server. */
export function exposeServer(figures: ServerFigures, version: string): Promise<Exposition> {
  const sheet = new MetricSheet();
  sheet.gauge('culvert_build_info', 'Always 1; what runs is in the labels', [
    [{ version, node: process.versions.node }, 1],
  ]);
  writeProcess(sheet, threadsOf(figures), figures.process);
  writeDescriptors(sheet, figures.descriptors);
  writeEdge(sheet, figures.edge);
  writeLoad(sheet, figures.edge.load, figures.passwordsWaiting);
  writeRelays(sheet, figures.edge.relays);
  writeRecords(sheet, figures);
  writeQueues(sheet, figures);
  writeCertificates(sheet, figures);
  writeJobs(sheet, figures.jobs);
  writeHealth(sheet, figures);
  return sheet.page();
}

/** Threads by name: `control` (API, database, dashboard) and `data` (visitors, agents); one for both where `server.data_threads` is 0. */
type Threads = ReadonlyArray<readonly [name: string, figures: ThreadFigures]>;

function threadsOf({ process: control, edge }: ServerFigures): Threads {
  const data = edge.threads.map((figures, index) => [index === 0 ? 'data' : `data-${index + 1}`, figures] as const);
  return [['control', control], ...data];
}

function writeProcess(sheet: MetricSheet, threads: Threads, { memory, cpuSeconds, ...rest }: ProcessFigures): void {
  const delay = 'culvert_event_loop_delay';
  const since = 'since the last scrape';
  const each = (value: (figures: ThreadFigures) => number): Values =>
    threads.map(([thread, figures]) => [{ thread }, value(figures)]);
  sheet.gauge(
    `${delay}_p50_seconds`,
    `How late the event loop of a thread comes to its work, the median ${since}`,
    each(({ loop }) => loop.p50Ms / 1_000),
  );
  sheet.gauge(
    `${delay}_p99_seconds`,
    `The same, of the latest hundredth, ${since}`,
    each(({ loop }) => loop.p99Ms / 1_000),
  );
  sheet.gauge(
    `${delay}_max_seconds`,
    `The same, at its latest ${since}`,
    each(({ loop }) => loop.maxMs / 1_000),
  );
  sheet.gauge(
    'culvert_event_loop_busy_ratio',
    `Share of the time in which the event loop of a thread had work, ${since}`,
    each(({ loop }) => loop.busyShare),
  );
  const pauses = threads.flatMap(([thread, { collections }]) =>
    Object.entries(collections).map(([kind, of]) => ({ labels: { thread, kind }, ...of })),
  );
  sheet.counter(
    'culvert_gc_pauses_total',
    'Runs of the garbage collector, by thread and kind',
    pauses.map(({ labels, count }) => [labels, count]),
  );
  sheet.counter(
    'culvert_gc_pause_seconds_total',
    'Time that the garbage collector took, by thread and kind',
    pauses.map(({ labels, seconds }) => [labels, seconds]),
  );
  sheet.gauge('culvert_process_resident_memory_bytes', 'Memory of the process', memory.resident);
  sheet.gauge(
    'culvert_process_heap_used_bytes',
    'Heap that objects of a thread take',
    each((of) => of.memory.heapUsed),
  );
  sheet.gauge(
    'culvert_process_heap_bytes',
    'Heap that is reserved for a thread',
    each((of) => of.memory.heapTotal),
  );
  sheet.gauge(
    'culvert_process_external_memory_bytes',
    'Buffers of a thread outside its heap',
    each((of) => of.memory.external),
  );
  sheet.gauge(
    'culvert_process_open_sockets',
    'TCP connections of all kinds that are open',
    each(({ sockets }) => sockets),
  );
  sheet.counter('culvert_process_cpu_seconds_total', 'Processor time of all threads', cpuSeconds);
  sheet.gauge('culvert_process_start_time_seconds', 'When the process began, since the epoch', rest.startedAtSeconds);
}

function writeDescriptors(sheet: MetricSheet, { limit, used, lacks }: DescriptorFigures): void {
  sheet.gauge('culvert_process_open_fds', 'File descriptors in use: files and sockets', used);
  if (limit !== null) sheet.gauge('culvert_process_max_fds', 'File descriptors that the process may have', limit);
  sheet.counter(
    'culvert_process_fd_shortage_seconds_total',
    'Seconds in which no file descriptor was free, so that new connections were closed at once',
    lacks,
  );
}

function writeEdge(sheet: MetricSheet, { connections: now, dropped, answered, holds }: EdgeStats): void {
  const entering = Math.max(0, now.open - now.http - now.tcp);
  sheet.gauge(
    'culvert_visitor_connections',
    'Connections of visitors that are open; entering: in a TLS handshake, or before it',
    byLabel('state', { http: now.http, tcp: now.tcp, entering }),
  );
  sheet.gauge(
    'culvert_visitor_addresses',
    'Addresses (IPv6: /64 networks) that visitors are connected from',
    now.addresses,
  );
  sheet.counter(
    'culvert_visitor_connections_admitted_total',
    'Connections of visitors that were admitted',
    now.admitted,
  );
  sheet.counter(
    'culvert_visitor_dropped_total',
    'Visitors that were refused or cut, by reason',
    byLabel('reason', dropped),
  );
  sheet.counter(
    'culvert_visitor_answered_total',
    'Requests that the edge answered by itself, by code',
    byLabel('code', answered),
  );
  sheet.gauge('culvert_visitor_held', 'Visitors that wait for an agent to come back', holds.waiting);
  sheet.gauge('culvert_visitor_held_bytes', 'What they have sent, kept meanwhile', holds.bytes);
  sheet.counter(
    'culvert_visitor_held_total',
    'Visitors that waited for an agent to come back, by how the wait ended',
    byLabel('end', holds.ended),
  );
}

function writeLoad(sheet: MetricSheet, load: NodeLoad, passwordsWaiting: number): void {
  const { agents, windows, traffic, reports } = load;
  sheet.gauge('culvert_agent_sessions', 'Agents that are connected', agents.sessions);
  sheet.gauge('culvert_agent_streams', 'Streams that are open on the sessions of agents', agents.streams);
  sheet.gauge('culvert_agent_tunnels', 'Tunnels that agents serve', agents.tunnels);
  sheet.gauge('culvert_agent_handshakes', 'Sockets of agents that have shown no valid token yet', agents.handshakes);
  sheet.counter(
    'culvert_agent_refused_total',
    'Sockets of agents that were refused before the handshake',
    agents.refused,
  );
  sheet.gauge('culvert_window_used_bytes', 'Receive windows of streams beyond their beginning', windows.usedBytes);
  sheet.gauge(
    'culvert_window_budget_bytes',
    'What those may come to (agents.limits.max_buffered_mb)',
    windows.budgetBytes,
  );
  sheet.counter('culvert_node_requests_total', 'Requests and connections that all tunnels carried', traffic.requests);
  sheet.counter('culvert_node_bytes_in_total', 'Bytes from visitors to services', traffic.bytesIn);
  sheet.counter('culvert_node_bytes_out_total', 'Bytes from services to visitors', traffic.bytesOut);
  sheet.gauge('culvert_reports_waiting', 'Counters and events on their way to the control plane', reports.waiting);
  sheet.counter('culvert_reports_dropped_total', 'Counters and events that were given up', reports.dropped);
  sheet.gauge(
    'culvert_passwords_waiting',
    'Passwords that wait to be computed, of log-ins and of visitors',
    byLabel('of', { log_ins: passwordsWaiting, visitors: load.passwordsWaiting }),
  );
}

function writeRelays(sheet: MetricSheet, relays: RelayStats): void {
  const { attached, onStream } = relays;
  sheet.gauge(
    'culvert_relays',
    'Private networks that agents carry, by the way that datagrams take between server and agent',
    byLabel('path', { udp: Math.max(0, attached - onStream), stream: onStream }),
  );
  sheet.gauge('culvert_relay_flows', 'Addresses and ports that clients of private networks speak from', relays.flows);
  sheet.counter(
    'culvert_relay_packets_total',
    'Datagrams of private networks that were passed on: in, from clients; out, to them',
    byLabel('direction', { in: relays.packetsIn, out: relays.packetsOut }),
  );
  sheet.counter(
    'culvert_relay_bytes_total',
    'Bytes in those datagrams',
    byLabel('direction', { in: relays.bytesIn, out: relays.bytesOut }),
  );
  sheet.counter(
    'culvert_relay_dropped_total',
    'Datagrams of private networks that were dropped, by reason',
    byLabel('reason', relays.dropped),
  );
}

function writeRecords(sheet: MetricSheet, { edge: { inspector }, records, feed }: ServerFigures): void {
  sheet.counter('culvert_inspector_recorded_total', 'Requests that were recorded', inspector.recorded);
  sheet.counter(
    'culvert_inspector_dropped_total',
    'Requests that were not recorded, by reason',
    byLabel('reason', inspector.dropped),
  );
  sheet.gauge('culvert_inspector_waiting', 'Records on their way to the control plane', inspector.waiting);
  sheet.gauge('culvert_inspector_held_bytes', 'Memory that records take on their way', inspector.heldBytes);
  writeStore(sheet, records);
  sheet.gauge('culvert_feed_subscribers', 'Live feeds that are open', feed.subscribers);
  sheet.counter('culvert_feed_sent_total', 'Messages to live feeds', feed.sent);
  sheet.counter('culvert_feed_left_out_total', 'Messages that were left out because of the rates', feed.notSent);
  sheet.gauge('culvert_feed_waiting_bytes', 'What waits for the readers of live feeds', feed.waitingBytes);
  sheet.counter(
    'culvert_feed_cut_total',
    'Live feeds that were cut off because their clients did not read',
    feed.tooSlow,
  );
}

function writeStore(sheet: MetricSheet, records: ServerFigures['records']): void {
  const store = 'culvert_inspector_store';
  sheet.counter(`${store}_records_total`, 'Records that were stored', records.stored);
  sheet.counter(
    `${store}_lost_total`,
    'Records that were given up on their way to the disk, by reason',
    byLabel('reason', records.lost),
  );
  sheet.gauge(`${store}_waiting_batches`, 'Batches of records that wait for the disk', records.waitingBatches);
  sheet.gauge(`${store}_waiting_bytes`, 'What those hold', records.waitingBytes);
  sheet.gauge(`${store}_waiting_reads`, 'Questions about records that wait', records.waitingReads);
  sheet.counter(
    `${store}_refused_reads_total`,
    'Questions about records that were refused: too many at once',
    records.refusedReads,
  );
  sheet.gauge(
    `${store}_longest_hold_seconds`,
    'The longest that anything has held the file of the records since the start',
    records.longestHoldMs / 1_000,
  );
  sheet.counter(`${store}_thread_ends_total`, 'Times that the thread of the records ended unasked', records.threadEnds);
}

function writeQueues(sheet: MetricSheet, { mail, changes, webhooks, files }: ServerFigures): void {
  sheet.gauge('culvert_mail_waiting', 'Emails that wait for the mail server', mail.waiting);
  sheet.gauge('culvert_mail_oldest_seconds', 'How long the oldest of them has waited', mail.oldestMs / 1_000);
  sheet.gauge(
    'culvert_pending_changes',
    'Deletions and other large changes that apply already and whose rows follow in slices',
    changes.waiting,
  );
  sheet.gauge(
    'culvert_pending_changes_oldest_seconds',
    'How long ago the oldest of them was requested',
    changes.oldestMs / 1_000,
  );
  sheet.counter('culvert_pending_changes_rows_total', 'Rows of such changes that are done', changes.rows);
  sheet.gauge(
    'culvert_webhook_lines',
    'Webhook receivers with deliveries for a tunnel, by what they wait for: a place, a time, the tunnel, the service',
    byLabel('state', webhooks.lines),
  );
  sheet.counter(
    'culvert_webhook_tries_total',
    'Deliveries that were sent to tunnels, by what came of it',
    byLabel('outcome', webhooks.tries),
  );
  sheet.counter(
    'culvert_webhook_refused_total',
    'Deliveries that receivers refused, by why',
    byLabel('reason', webhooks.refused),
  );
  sheet.gauge('culvert_webhook_readers', 'Requests that are held until a webhook comes', webhooks.readers);
  sheet.gauge('culvert_database_bytes', 'Files of the data folder', byLabel('file', files));
}

function writeCertificates(sheet: MetricSheet, { now, certificates, edge }: ServerFigures): void {
  const { edgeEndsAt, agentsEndsAt } = edge.load.certificates;
  const left = (endsAt: number): number => (endsAt - now) / 1_000;
  const shown = [
    ['edge', edgeEndsAt],
    ['agents', agentsEndsAt],
  ] as const;
  sheet.gauge(
    'culvert_default_certificate_expiry_seconds',
    'Time until the default certificate expires, by listener',
    shown.flatMap(([listener, endsAt]) => (endsAt === null ? [] : [[{ listener }, left(endsAt)] as const])),
  );
  sheet.gauge(
    'culvert_certificate_expiry_seconds',
    'Time until a certificate by ACME ends, those that end first; below 0 it has ended',
    certificates.first.map(({ name, state, expiresAt }) => [{ name, state }, left(expiresAt)]),
  );
  sheet.gauge(
    'culvert_certificates_not_named',
    'Certificates that expire later than all that are listed by name',
    certificates.more,
  );
  sheet.gauge('culvert_certificates', 'Certificates by ACME, by state', byLabel('state', certificates.byState));
}

function writeJobs(sheet: MetricSheet, jobs: readonly JobTime[]): void {
  const perJob = (value: (job: JobTime) => number | null) =>
    jobs.flatMap((job) => {
      const is = value(job);
      return is === null ? [] : [[{ job: job.name }, is] as const];
    });
  sheet.gauge(
    'culvert_job_late_seconds',
    'How late a job of the clock last began, or is now',
    perJob(({ lateMs }) => lateMs / 1_000),
  );
  sheet.gauge(
    'culvert_job_duration_seconds',
    'How long its last run took',
    perJob(({ tookMs }) => (tookMs === null ? null : tookMs / 1_000)),
  );
  sheet.counter(
    'culvert_job_runs_total',
    'How often it began',
    perJob(({ runs }) => runs),
  );
  sheet.counter(
    'culvert_job_failures_total',
    'How often it failed',
    perJob(({ failures }) => failures),
  );
}

const RANK = { ok: 0, warn: 1, fail: 2 } as const;

function writeHealth(sheet: MetricSheet, { health, disk, lostLogLines }: ServerFigures): void {
  sheet.gauge(
    'culvert_health_check',
    'The checks of /health: 0 ok, 1 warn, 2 fail',
    health.checks.map(({ name, status }) => [{ check: name }, RANK[status]]),
  );
  sheet.gauge('culvert_disk_free_bytes', 'Free space on the disk of the data folder', disk.free);
  sheet.gauge('culvert_disk_bytes', 'Size of that disk; 0 where it does not say', disk.total);
  sheet.gauge(
    'culvert_disk_floor_bytes',
    'Free space below which nothing is recorded (inspector.min_free_mb)',
    disk.floor,
  );
  sheet.counter('culvert_log_lines_lost_total', 'Lines of the log that could not be written', lostLogLines);
}
