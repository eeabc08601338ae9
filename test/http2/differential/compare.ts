/**
 * The verdict on two outcomes of one exchange. The engine under test may refuse more than the oracle, for a named reason; it never accepts more, and
 * what both accept is the same at the service and at the visitor.
 */
import { type Exchange, isMisjudged } from './exchange.ts';
import type { Outcome } from './side.ts';

export type Kind = 'looser' | 'stricter' | 'milder' | 'head' | 'request' | 'answer' | 'hangs';

export interface Difference {
  readonly kind: Kind;
  readonly oracle: string;
  readonly own: string;
}

export interface Reason {
  readonly name: string;
  readonly kinds: readonly Kind[];
  readonly because: string;
  readonly applies: (exchange: Exchange, difference: Difference) => boolean;
}

/** What differs first, or null. */
export function compare(exchange: Exchange, oracle: Outcome, own: Outcome): Difference | null {
  const differs = (kind: Kind, of: (outcome: Outcome) => string): Difference | null =>
    of(oracle) === of(own) ? null : { kind, oracle: of(oracle), own: of(own) };
  if (oracle.end === 'hangs' || own.end === 'hangs') return { kind: 'hangs', oracle: oracle.end, own: own.end };
  if (oracle.seen === undefined && own.seen !== undefined)
    return { kind: 'looser', oracle: describe(oracle), own: describe(own) };
  if (oracle.seen !== undefined && own.seen === undefined)
    return { kind: 'stricter', oracle: describe(oracle), own: describe(own) };
  if (own.seen === undefined)
    return differs(scope(own) > scope(oracle) ? 'stricter' : 'milder', (of) => String(scope(of)));
  const head = differs('head', ({ seen }) => seen?.head ?? '');
  // What these bring besides depends on who was faster.
  if (head !== null || exchange.isReset || exchange.isEarly || own.seen.isRefused === true) return head;
  return differs('request', requestOf) ?? differs('answer', answerOf);
}

/**
 * The oracle's connection has ended for the exchange before this one: node:http2 ends it with INTERNAL_ERROR where a body has another length than
 * announced, and says so behind an answer or a reset of that stream. From here on there is nothing to compare.
 */
export function isEndedBefore(before: Exchange | undefined, exchange: Exchange, oracle: Outcome): boolean {
  // Cut, it is where the GOAWAY could not be read any more.
  const isEnded = oracle.end === 'goaway 2' || oracle.end === 'cut';
  return isEnded && before !== undefined && isMisjudged(before) && !isMisjudged(exchange);
}

/** Of one that was cut the bytes that came before are chance. */
function requestOf({ seen }: Outcome): string {
  if (seen === undefined) return '';
  return seen.end === 'whole' ? `${seen.bodyBytes} bytes, whole, trailers ${seen.trailers}` : seen.end;
}

/** The same of a request that is refused behind its head: what came before the reset, a 100 perhaps, is chance. */
function answerOf({ seen, heads, bodyBytes, end }: Outcome): string {
  const isChance = seen?.end === 'cut' && /^reset [1-9]/.test(end);
  return JSON.stringify(isChance ? { end } : { heads, bodyBytes, end });
}

/** How much a refusal takes: an answer or a reset one stream, the rest the connection. */
function scope(outcome: Outcome): number {
  return outcome.end === 'whole' || outcome.end.startsWith('reset') ? 1 : 2;
}

function describe({ seen, heads, bodyBytes, end }: Outcome): string {
  return JSON.stringify({ seen, heads, bodyBytes, end });
}
