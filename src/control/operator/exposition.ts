/**
 * The metrics of the whole server in Prometheus' text format, for operators. Bounded whatever customers do: no label is of a tunnel, an
 * organization or a visitor; certificates are named up to a thousand. docs/monitoring.md has alerts.
 */
import type { EdgeStats, ThreadFigures } from '../../plane/edge-stats.ts';
import type { NodeLoad } from '../../plane/node-load.ts';
import type { RelayStats } from '../../plane/relays.ts';
import type { DescriptorFigures } from '../../base/process/descriptor-watch.ts';
import type { ProcessFigures } from '../../base/process/process-watch.ts';
import { lastOf } from '../backups/verdict.ts';
import type { JobTime } from '../core/job-times.ts';
import { DURATION_BUCKETS } from '../metrics/latency/totals.ts';
import type { ServerFigures } from './metrics.ts';
import { byLabel, type Exposition, MetricSheet, type Values } from '../core/http/metric-sheet.ts';

/** `version`: of the server. */
export function exposeServer(figures: ServerFigures, version: string): Promise<Exposition> {
  return serverSheet(figures, version).page();
}

/** The same before it is text. */
export function serverSheet(figures: ServerFigures, version: string): MetricSheet {
  const sheet = new MetricSheet();
  sheet.gauge('culvert_build_info', 'Build of the server (in the labels); always 1', [
    [{ version, node: process.versions.node }, 1],
  ]);
  writeProcess(sheet, threadsOf(figures), figures.process);
  writeDescriptors(sheet, figures.descriptors);
  writeEdge(sheet, figures.edge);
  sheet.histogram('culvert_request_duration_seconds', 'Duration of requests of all tunnels since the start', {
    limits: DURATION_BUCKETS,
    rows: [[{}, figures.durations]],
  });
  writeLoad(sheet, figures.edge.load, figures.passwordsWaiting);
  writeRelays(sheet, figures.edge.relays);
  writeRecords(sheet, figures);
  writeQueues(sheet, figures);
  writeCertificates(sheet, figures);
  writeJobs(sheet, figures.jobs);
  writeHealth(sheet, figures);
  writeBackups(sheet, figures);
  writeLogs(sheet, figures);
  return sheet;
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
    `Median event loop delay of a thread ${since}`,
    each(({ loop }) => loop.p50Ms / 1_000),
  );
  sheet.gauge(
    `${delay}_p99_seconds`,
    `99th percentile of the event loop delay of a thread ${since}`,
    each(({ loop }) => loop.p99Ms / 1_000),
  );
  sheet.gauge(
    `${delay}_max_seconds`,
    `Maximum event loop delay of a thread ${since}`,
    each(({ loop }) => loop.maxMs / 1_000),
  );
  sheet.gauge(
    'culvert_event_loop_busy_ratio',
    `Share of time that the event loop of a thread was busy ${since}`,
    each(({ loop }) => loop.busyShare),
  );
  const pauses = threads.flatMap(([thread, { collections }]) =>
    Object.entries(collections).map(([kind, of]) => ({ labels: { thread, kind }, ...of })),
  );
  sheet.counter(
    'culvert_gc_pauses_total',
    'Garbage collector runs, by thread and kind',
    pauses.map(({ labels, count }) => [labels, count]),
  );
  sheet.counter(
    'culvert_gc_pause_seconds_total',
    'Time spent in garbage collection, by thread and kind',
    pauses.map(({ labels, seconds }) => [labels, seconds]),
  );
  sheet.gauge('culvert_process_resident_memory_bytes', 'Resident memory of the process', memory.resident);
  sheet.gauge(
    'culvert_process_heap_used_bytes',
    'Heap used by a thread',
    each((of) => of.memory.heapUsed),
  );
  sheet.gauge(
    'culvert_process_heap_bytes',
    'Heap allocated for a thread',
    each((of) => of.memory.heapTotal),
  );
  sheet.gauge(
    'culvert_process_external_memory_bytes',
    'Memory of a thread outside its heap, such as buffers',
    each((of) => of.memory.external),
  );
  sheet.gauge(
    'culvert_process_open_sockets',
    'Open TCP connections of all kinds',
    each(({ sockets }) => sockets),
  );
  sheet.counter('culvert_process_cpu_seconds_total', 'CPU time of all threads', cpuSeconds);
  sheet.gauge('culvert_process_start_time_seconds', 'Start time of the process, as Unix time', rest.startedAtSeconds);
}

function writeDescriptors(sheet: MetricSheet, { limit, used, lacks }: DescriptorFigures): void {
  sheet.gauge('culvert_process_open_fds', 'Open file descriptors: files and sockets', used);
  if (limit !== null) sheet.gauge('culvert_process_max_fds', 'Maximum number of open file descriptors', limit);
  sheet.counter(
    'culvert_process_fd_shortage_seconds_total',
    'Seconds without a free file descriptor, in which new connections were closed immediately',
    lacks,
  );
}

function writeEdge(sheet: MetricSheet, { connections: now, dropped, answered, holds }: EdgeStats): void {
  const entering = Math.max(0, now.open - now.http - now.tcp);
  sheet.gauge(
    'culvert_visitor_connections',
    'Open visitor connections; entering: in a TLS handshake, or before it',
    byLabel('state', { http: now.http, tcp: now.tcp, entering }),
  );
  sheet.gauge('culvert_visitor_addresses', 'Addresses (IPv6: /64 networks) of open visitor connections', now.addresses);
  sheet.counter('culvert_visitor_connections_admitted_total', 'Accepted visitor connections', now.admitted);
  sheet.counter(
    'culvert_visitor_dropped_total',
    'Refused and closed visitor connections, by reason',
    byLabel('reason', dropped),
  );
  sheet.counter('culvert_visitor_answered_total', 'Responses from the edge itself, by code', byLabel('code', answered));
  sheet.gauge('culvert_visitor_held', 'Visitors that are waiting for an agent to reconnect', holds.waiting);
  sheet.gauge('culvert_visitor_held_bytes', 'Buffered data of visitors that are waiting for an agent', holds.bytes);
  sheet.counter(
    'culvert_visitor_held_total',
    'Visitors that waited for an agent to reconnect, by outcome',
    byLabel('end', holds.ended),
  );
}

function writeLoad(sheet: MetricSheet, load: NodeLoad, passwordsWaiting: number): void {
  const { agents, windows, traffic, reports } = load;
  sheet.gauge('culvert_agent_sessions', 'Connected agents', agents.sessions);
  sheet.gauge('culvert_agent_streams', 'Open streams of agent sessions', agents.streams);
  sheet.gauge('culvert_agent_tunnels', 'Tunnels served by agents', agents.tunnels);
  sheet.gauge('culvert_agent_handshakes', 'Agent connections that have not sent a valid token yet', agents.handshakes);
  sheet.counter('culvert_agent_refused_total', 'Agent connections refused before the handshake', agents.refused);
  sheet.gauge('culvert_window_used_bytes', 'Receive windows of streams above their initial size', windows.usedBytes);
  sheet.gauge(
    'culvert_window_budget_bytes',
    'Limit of culvert_window_used_bytes (agents.limits.max_buffered_mb)',
    windows.budgetBytes,
  );
  sheet.counter('culvert_node_requests_total', 'Requests and connections of all tunnels', traffic.requests);
  sheet.counter('culvert_node_bytes_in_total', 'Bytes from visitors to services', traffic.bytesIn);
  sheet.counter('culvert_node_bytes_out_total', 'Bytes from services to visitors', traffic.bytesOut);
  sheet.gauge('culvert_reports_waiting', 'Counters and events waiting for the control plane', reports.waiting);
  sheet.counter('culvert_reports_dropped_total', 'Counters and events that were dropped', reports.dropped);
  sheet.gauge(
    'culvert_passwords_waiting',
    'Passwords waiting to be checked, of logins and of visitors',
    byLabel('of', { log_ins: passwordsWaiting, visitors: load.passwordsWaiting }),
  );
}

function writeRelays(sheet: MetricSheet, relays: RelayStats): void {
  const { attached, onStream } = relays;
  sheet.gauge(
    'culvert_relays',
    'Private networks served by agents, by path between server and agent',
    byLabel('path', { udp: Math.max(0, attached - onStream), stream: onStream }),
  );
  sheet.gauge('culvert_relay_flows', 'Active addresses and ports of clients of private networks', relays.flows);
  sheet.counter(
    'culvert_relay_packets_total',
    'Forwarded datagrams of private networks: in, from clients; out, to clients',
    byLabel('direction', { in: relays.packetsIn, out: relays.packetsOut }),
  );
  sheet.counter(
    'culvert_relay_bytes_total',
    'Bytes of forwarded datagrams of private networks',
    byLabel('direction', { in: relays.bytesIn, out: relays.bytesOut }),
  );
  sheet.counter(
    'culvert_relay_dropped_total',
    'Dropped datagrams of private networks, by reason',
    byLabel('reason', relays.dropped),
  );
}

function writeRecords(sheet: MetricSheet, { edge: { inspector }, records, feed }: ServerFigures): void {
  sheet.counter('culvert_inspector_recorded_total', 'Recorded requests', inspector.recorded);
  sheet.counter(
    'culvert_inspector_dropped_total',
    'Requests that were not recorded, by reason',
    byLabel('reason', inspector.dropped),
  );
  sheet.gauge('culvert_inspector_waiting', 'Request records waiting for the control plane', inspector.waiting);
  sheet.gauge(
    'culvert_inspector_held_bytes',
    'Memory of request records waiting for the control plane',
    inspector.heldBytes,
  );
  writeStore(sheet, records);
  sheet.gauge('culvert_feed_subscribers', 'Open live feeds', feed.subscribers);
  sheet.counter('culvert_feed_sent_total', 'Messages sent to live feeds', feed.sent);
  sheet.counter('culvert_feed_left_out_total', 'Messages omitted because of rate limits', feed.notSent);
  sheet.gauge('culvert_feed_waiting_bytes', 'Data waiting for readers of live feeds', feed.waitingBytes);
  sheet.counter('culvert_feed_cut_total', 'Live feeds closed because their clients read too slowly', feed.tooSlow);
}

function writeStore(sheet: MetricSheet, records: ServerFigures['records']): void {
  const store = 'culvert_inspector_store';
  sheet.counter(`${store}_records_total`, 'Stored request records', records.stored);
  sheet.counter(
    `${store}_lost_total`,
    'Request records that were lost before they reached the disk, by reason',
    byLabel('reason', records.lost),
  );
  sheet.gauge(`${store}_waiting_batches`, 'Batches of request records waiting for the disk', records.waitingBatches);
  sheet.gauge(
    `${store}_waiting_bytes`,
    'Size of batches of request records waiting for the disk',
    records.waitingBytes,
  );
  sheet.gauge(`${store}_waiting_reads`, 'Queries of request records in the queue', records.waitingReads);
  sheet.counter(
    `${store}_refused_reads_total`,
    'Queries of request records refused because too many were running',
    records.refusedReads,
  );
  sheet.gauge(
    `${store}_longest_hold_seconds`,
    'Longest time that an operation held the file of request records since the start',
    records.longestHoldMs / 1_000,
  );
  sheet.counter(
    `${store}_thread_ends_total`,
    'Unexpected exits of the thread that stores request records',
    records.threadEnds,
  );
}

function writeQueues(sheet: MetricSheet, { mail, changes, webhooks, files }: ServerFigures): void {
  sheet.gauge('culvert_mail_waiting', 'Emails waiting for the mail server', mail.waiting);
  sheet.gauge('culvert_mail_oldest_seconds', 'Age of the oldest waiting email', mail.oldestMs / 1_000);
  sheet.gauge(
    'culvert_pending_changes',
    'Deletions and other large changes in effect whose rows are still being processed',
    changes.waiting,
  );
  sheet.gauge('culvert_pending_changes_oldest_seconds', 'Age of the oldest pending change', changes.oldestMs / 1_000);
  sheet.counter('culvert_pending_changes_rows_total', 'Processed rows of large changes', changes.rows);
  sheet.gauge(
    'culvert_webhook_lines',
    'Webhook receivers with deliveries to forward, by what they wait for: a place, a time, the tunnel, the service',
    byLabel('state', webhooks.lines),
  );
  sheet.counter(
    'culvert_webhook_tries_total',
    'Webhook deliveries sent to tunnels, by outcome',
    byLabel('outcome', webhooks.tries),
  );
  sheet.counter(
    'culvert_webhook_refused_total',
    'Webhook deliveries that receivers refused, by reason',
    byLabel('reason', webhooks.refused),
  );
  sheet.gauge('culvert_webhook_readers', 'API requests waiting for a webhook delivery', webhooks.readers);
  sheet.gauge('culvert_database_bytes', 'Size of the database files', byLabel('file', files));
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
    'Time until an ACME certificate expires, for those that expire first; negative: expired',
    certificates.first.map(({ name, state, expiresAt }) => [{ name, state }, left(expiresAt)]),
  );
  sheet.gauge(
    'culvert_certificates_not_named',
    'ACME certificates that are not listed by name, because they expire later',
    certificates.more,
  );
  sheet.gauge('culvert_certificates', 'ACME certificates, by state', byLabel('state', certificates.byState));
}

/** Without a value until there is one: an alert on age must not fire for a server that makes none. */
function writeBackups(sheet: MetricSheet, { now, backups }: ServerFigures): void {
  const { lastFailure, everyMs } = backups;
  const last = lastOf(backups, everyMs);
  if (last !== null) {
    sheet.gauge('culvert_backup_age_seconds', 'Age of the last backup', (now - last.at) / 1_000);
    sheet.gauge('culvert_backup_bytes', 'Size of the last backup', last.bytes);
    sheet.gauge('culvert_backup_duration_seconds', 'How long the last backup took', last.tookMs / 1_000);
  }
  if (last === null && lastFailure === null) return;
  const hasFailed = (lastFailure?.at ?? 0) > (last?.at ?? 0);
  sheet.gauge('culvert_backup_failed', '1 if the last scheduled backup failed', hasFailed ? 1 : 0);
}

function writeJobs(sheet: MetricSheet, jobs: readonly JobTime[]): void {
  const perJob = (value: (job: JobTime) => number | null) =>
    jobs.flatMap((job) => {
      const is = value(job);
      return is === null ? [] : [[{ job: job.name }, is] as const];
    });
  sheet.gauge(
    'culvert_job_late_seconds',
    'Delay of the last start of a scheduled job, or of one that is due',
    perJob(({ lateMs }) => lateMs / 1_000),
  );
  sheet.gauge(
    'culvert_job_duration_seconds',
    'Duration of the last run of a scheduled job',
    perJob(({ tookMs }) => (tookMs === null ? null : tookMs / 1_000)),
  );
  sheet.counter(
    'culvert_job_runs_total',
    'Runs of a scheduled job',
    perJob(({ runs }) => runs),
  );
  sheet.counter(
    'culvert_job_failures_total',
    'Failed runs of a scheduled job',
    perJob(({ failures }) => failures),
  );
}

const RANK = { ok: 0, warn: 1, fail: 2 } as const;

function writeHealth(sheet: MetricSheet, { health, disk, lostLogLines }: ServerFigures): void {
  sheet.gauge(
    'culvert_health_check',
    'Health checks: 0 ok, 1 warn, 2 fail',
    health.checks.map(({ name, status }) => [{ check: name }, RANK[status]]),
  );
  sheet.gauge('culvert_disk_free_bytes', 'Free space on the disk of the data folder', disk.free);
  sheet.gauge('culvert_disk_bytes', 'Size of the disk of the data folder; 0: unknown', disk.total);
  sheet.gauge(
    'culvert_disk_floor_bytes',
    'Free space below which requests are not recorded (inspector.min_free_mb)',
    disk.floor,
  );
  sheet.counter('culvert_log_lines_lost_total', 'Log lines that could not be written', lostLogLines);
}

/** What leaves the server about its requests: entries of data nodes, lines of the access log, exports. */
function writeLogs(sheet: MetricSheet, { edge: { access }, accessLog, exports, serverExport }: ServerFigures): void {
  sheet.gauge('culvert_access_log_waiting', 'Finished requests waiting for the control plane', access.waiting);
  sheet.counter(
    'culvert_access_log_lines_total',
    'Lines of the access log, by what became of them: lost, on the way to the control plane; dropped, for want of room or a writable file',
    byLabel('outcome', {
      written: accessLog?.written ?? 0,
      dropped: accessLog?.dropped ?? 0,
      lost: access.dropped,
    }),
  );
  sheet.counter(
    'culvert_access_log_rotation_failures_total',
    'Failed rotations of the access log',
    accessLog?.failedRotations ?? 0,
  );
  const of = Object.entries({ server: serverExport, customers: exports });
  sheet.gauge(
    'culvert_export_waiting',
    'Events waiting for a collector or a webhook, of the server and of its customers',
    of.map(([owner, stats]) => [{ owner }, stats?.waiting ?? 0]),
  );
  sheet.counter(
    'culvert_export_events_total',
    'Events for collectors and webhooks, by owner and outcome',
    of.flatMap(([owner, stats]) => [
      [{ owner, outcome: 'sent' }, stats?.sent ?? 0] as const,
      [{ owner, outcome: 'dropped' }, stats?.dropped ?? 0] as const,
    ]),
  );
}
