/** What waits on the server, out of its metrics. Pure. */
import { spanText, bytesText, countText } from '../../parts/words.ts';
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
      title: 'Letters',
      now: countText(of('mail_waiting')),
      about: mailSeconds > 0 ? `the oldest for ${spanText(mailSeconds * 1000)}` : 'for the mail server',
      isLong: mailSeconds > 600,
    },
    queue('Passwords to check', of('passwords_waiting'), 'of log-ins and of visitors', 100),
    queue('Reports', of('reports_waiting'), 'counters and events on their way to the database', 1000),
    queue('Records of requests', of('inspector_waiting'), 'on their way to the file of the inspector', 5000),
    queue('Batches for the disk', of('inspector_store_waiting_batches'), 'of records', 100),
    queue(
      'Webhook receivers',
      lines.reduce((sum, one) => sum + one, 0),
      'with deliveries for a tunnel',
      Infinity,
    ),
    queue('Agents at the door', of('agent_handshakes'), 'that have shown no good key yet', 500),
    {
      title: 'Buffers of streams',
      now: bytesText(used),
      about: `of ${bytesText(budget)} (agents.limits.max_buffered_mb)`,
      isLong: budget > 0 && used / budget > 0.9,
    },
  ];
}

function queue(title: string, count: number, about: string, longFrom: number): Queue {
  return { title, now: countText(count), about, isLong: count > longFrom };
}
