/** Runs conversations on two engines and collects what differs without a reason. */
import type { Scope } from '../../../src/data/edge/testing/rig.ts';
import { compare, type Difference, isEndedBefore, type Reason } from './compare.ts';
import { anyConversation, type Conversation, type Exchange } from './exchange.ts';
import { type Outcome, Side } from './side.ts';

export interface Sides {
  readonly oracle: Pick<Side, 'hold'>;
  readonly own: Pick<Side, 'hold'>;
}

export interface Report {
  exchanges: number;
  /** Exchanges that came to the service. */
  accepted: number;
  /** How often each reason was used. */
  readonly excused: Map<string, number>;
}

/** Conversations under way at a time, on connections of their own. */
const AT_ONCE = 16;

export async function openSides(t: Scope, engine: 'node' | 'own'): Promise<Sides> {
  return { oracle: await Side.open(t, 'node'), own: await Side.open(t, engine) };
}

/** Conversations from `seed` on, until they had `count` exchanges. Throws at the first difference that no reason excuses. */
export async function runDifferential(
  sides: Sides,
  reasons: readonly Reason[],
  seed: number,
  count: number,
): Promise<Report> {
  const report: Report = { exchanges: 0, accepted: 0, excused: new Map() };
  let next = seed;
  const lane = async (): Promise<void> => {
    while (report.exchanges < count) await runOne(sides, reasons, anyConversation(next++), report);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  return report;
}

async function runOne(
  sides: Sides,
  reasons: readonly Reason[],
  conversation: Conversation,
  report: Report,
): Promise<void> {
  const [oracle, own] = await Promise.all([sides.oracle.hold(conversation), sides.own.hold(conversation)]);
  // Where one connection ended earlier, the exchange that ended it differs.
  for (const [i, exchange] of conversation.exchanges.slice(0, Math.min(oracle.length, own.length)).entries()) {
    const [expected, got] = [oracle[i] as Outcome, own[i] as Outcome];
    if (isEndedBefore(conversation.exchanges[i - 1], exchange, expected)) return;
    report.exchanges++;
    if (expected.seen !== undefined) report.accepted++;
    const difference = compare(exchange, expected, got);
    if (difference === null) continue;
    const reason = reasons.find(
      ({ kinds, applies }) => kinds.includes(difference.kind) && applies(exchange, difference),
    );
    if (reason === undefined) throw new Error(explain(conversation, exchange, difference));
    report.excused.set(reason.name, (report.excused.get(reason.name) ?? 0) + 1);
  }
}

function explain({ seed }: Conversation, exchange: Exchange, difference: Difference): string {
  const { stream, head, trailers, bodyBytes, isReset } = exchange;
  const bytes = Buffer.concat([...exchange.opening, ...exchange.rest]).toString('hex');
  return [
    `seed ${seed}, stream ${stream}: ${difference.kind}`,
    `head ${JSON.stringify(head)}`,
    `body ${bodyBytes}, trailers ${JSON.stringify(trailers)}${isReset ? ', reset' : ''}`,
    `oracle: ${difference.oracle}`,
    `own:    ${difference.own}`,
    `bytes:  ${bytes.length > 4_000 ? `${bytes.slice(0, 4_000)}…` : bytes}`,
  ].join('\n');
}
