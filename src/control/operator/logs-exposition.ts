/** Metrics of what leaves the server about its requests: entries of data nodes, lines of the access log. */
import { byLabel, type MetricSheet } from '../core/http/metric-sheet.ts';
import type { ServerFigures } from './metrics.ts';

export function writeLogs(
  sheet: MetricSheet,
  { edge: { access }, accessLog, exports, serverExport }: ServerFigures,
): void {
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
