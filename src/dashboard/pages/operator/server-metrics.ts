/** The server's metrics as rows of tables. Pure: tested without a browser. */
import { type Drop, RECORD_DROPS, RELAY_DROPS, VISITOR_DROPS } from '../../../base/codes/drops.ts';
import type { Schemas } from '../../api/types.ts';
import { bytesText, countText, spanText } from '../../parts/format.ts';
import { byLabel, figure, type Metrics } from './exposition.ts';

/** The counts of refusals as rows of a table. */
export interface DropRow {
  readonly key: string;
  readonly words: string;
  readonly setting: string | undefined;
  readonly count: number;
}

type Edge = Pick<Schemas['EdgeCounts'], 'dropped'> & {
  readonly inspector: Pick<Schemas['EdgeCounts']['inspector'], 'dropped'>;
  readonly relays: Pick<Schemas['EdgeCounts']['relays'], 'dropped'>;
};

/** What came most often first. */
export function dropRows({ dropped, inspector, relays }: Edge): readonly DropRow[] {
  return [
    ...rowsOf('visitors', dropped, VISITOR_DROPS),
    ...rowsOf('records', inspector.dropped, RECORD_DROPS),
    ...rowsOf('datagrams', relays.dropped, RELAY_DROPS),
  ].sort((one, other) => other.count - one.count);
}

/** A reason of a newer server is shown by its name. */
function rowsOf(
  of: string,
  counts: Readonly<Record<string, number>>,
  drops: Readonly<Record<string, Drop>>,
): readonly DropRow[] {
  return Object.entries(counts).map(([reason, count]) => ({
    key: `${of} ${reason}`,
    words: drops[reason]?.text ?? reason,
    setting: drops[reason]?.setting,
    count,
  }));
}

/** What waits on the server, out of its metrics. */
interface Queue {
  readonly title: string;
  readonly now: string;
  readonly about: string;
  /** It should be looked at. */
  readonly isLong: boolean;
}

export function queuesOf(metrics: Metrics): readonly Queue[] {
  const of = (name: string, label?: readonly [string, string]): number => figure(metrics, `culvert_${name}`, label);
  const used = of('window_used_bytes');
  const budget = of('window_budget_bytes');
  const mailSeconds = of('mail_oldest_seconds');
  const lines = ['ready', 'delayed', 'parked', 'sending'].map((state) => of('webhook_lines', ['state', state]));
  return [
    {
      title: 'Outgoing mail',
      now: countText(of('mail_waiting')),
      about: mailSeconds > 0 ? `the oldest for ${spanText(mailSeconds * 1000)}` : 'for the mail server',
      isLong: mailSeconds > 600,
    },
    queue(of('passwords_waiting'), { title: 'Password checks', about: 'of logins and visitors', longFrom: 100 }),
    queue(of('reports_waiting'), {
      title: 'Reports',
      about: 'counters and events waiting for the database',
      longFrom: 1000,
    }),
    queue(of('inspector_waiting'), {
      title: 'Request records',
      about: "waiting for the inspector's file",
      longFrom: 5000,
    }),
    queue(of('inspector_store_waiting_batches'), { title: 'Disk batches', about: 'of request records', longFrom: 100 }),
    queue(
      lines.reduce((sum, one) => sum + one, 0),
      { title: 'Webhook receivers', about: 'with deliveries for a tunnel', longFrom: Infinity },
    ),
    queue(of('agent_handshakes'), {
      title: 'Agents connecting',
      about: 'not authenticated yet',
      longFrom: 500,
    }),
    {
      title: 'Stream buffers',
      now: bytesText(used),
      about: `of ${bytesText(budget)} (agents.limits.max_buffered_mb)`,
      isLong: budget > 0 && used / budget > 0.9,
    },
  ];
}

interface Line {
  readonly title: string;
  readonly about: string;
  /** From this length on the queue needs attention. */
  readonly longFrom: number;
}

function queue(count: number, { title, about, longFrom }: Line): Queue {
  return { title, now: countText(count), about, isLong: count > longFrom };
}

/** The jobs of the server's clock, out of its metrics: those that failed or are late first. */
export interface Job {
  readonly name: string;
  readonly runs: number;
  readonly failures: number;
  readonly lateMs: number;
  /** Undefined before its first run has ended. */
  readonly tookMs: number | undefined;
}

export function jobsOf(metrics: Metrics): readonly Job[] {
  const of = (name: string): ReadonlyMap<string, number> => byLabel(metrics, `culvert_job_${name}`, 'job');
  const [failures, late, took] = [of('failures_total'), of('late_seconds'), of('duration_seconds')];
  const jobs = [...of('runs_total')].map(([name, runs]) => {
    const seconds = took.get(name);
    return {
      name,
      runs,
      failures: failures.get(name) ?? 0,
      lateMs: (late.get(name) ?? 0) * 1000,
      tookMs: seconds === undefined ? undefined : seconds * 1000,
    };
  });
  return jobs.sort((one, other) => other.failures - one.failures || other.lateMs - one.lateMs);
}
