/** What the taps of an agent have in common, and whose stream each looks on at. Made by watch.ts, used by stream-tap.ts. */
import type { Clock } from '../../../base/clock.ts';
import { Head } from '../../../http1/head.ts';
import type { Allowance } from './allowance.ts';
import { PlainAnswer } from './plain-head.ts';
import type { RequestRecord } from '../request-record.ts';
import type { RequestRing } from '../request-ring.ts';
import type { PageTally, TunnelTally } from '../metrics/tally.ts';

/** The edge's own limits can be raised, and it adds fields; a head beyond these only is not shown. */
export const HEAD_LIMITS = { headBytes: 131_072, fields: 512, targetBytes: 65_536 };

/** What all taps of an agent share. One thread: a parsed head is read before the next is parsed. */
export class TapFloor {
  readonly clock: Clock;
  readonly ring: RequestRing;
  readonly allowance: Allowance;
  readonly tally: PageTally;
  readonly onFault: (error: unknown) => void;
  readonly head = new Head(HEAD_LIMITS);
  readonly plain = new PlainAnswer();

  constructor(parts: Omit<TapFloor, 'head' | 'plain'>) {
    this.clock = parts.clock;
    this.ring = parts.ring;
    this.allowance = parts.allowance;
    this.tally = parts.tally;
    this.onFault = parts.onFault;
  }
}

/** Whose stream it is. */
export interface TapSubject {
  /** Name of the tunnel. */
  readonly tunnel: string;
  /** Path of its route; null: the tunnel has none. */
  readonly route?: string | null;
  /** Null: what passes is no visitor's, and not counted. */
  readonly tally: TunnelTally | null;
  /** The record whose request is sent again; such a one is always kept. */
  readonly replayOf: string | null;
  /** The request began so many milliseconds before the tap is shown it; none: now. */
  readonly agoMs?: number;
  /** The service has refused a request (400, 403), and this is kept of it; none: it is not looked at. */
  readonly onRefused?: (record: RequestRecord) => void;
  /** The one request of a replay was answered, or can't be any more. */
  readonly onEnd?: (record: RequestRecord | null) => void;
}
