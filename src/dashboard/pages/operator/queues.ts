/** What waits on the server, out of its metrics. Pure. */
import { spanText, bytesText, countText } from '../../parts/format.ts';
import { figure, type Metrics } from './exposition.ts';

export interface Queue {
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
    queue(of('passwords_waiting'), { title: 'Passwords to check', about: 'of logins and of visitors', longFrom: 100 }),
    queue(of('reports_waiting'), {
      title: 'Reports',
      about: 'counters and events on their way to the database',
      longFrom: 1000,
    }),
    queue(of('inspector_waiting'), {
      title: 'Records of requests',
      about: 'on their way to the file of the inspector',
      longFrom: 5000,
    }),
    queue(of('inspector_store_waiting_batches'), { title: 'Batches for the disk', about: 'of records', longFrom: 100 }),
    queue(
      lines.reduce((sum, one) => sum + one, 0),
      { title: 'Webhook receivers', about: 'with deliveries for a tunnel', longFrom: Infinity },
    ),
    queue(of('agent_handshakes'), {
      title: 'Agents connecting',
      about: 'without a verified key yet',
      longFrom: 500,
    }),
    {
      title: 'Buffers of streams',
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
