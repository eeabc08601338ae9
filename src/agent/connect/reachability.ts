/**
 * Watches for the end of an outage. An agent that could not reach its server at all waits by back-off, up to 30 s; meanwhile a bare TCP connection
 * is tried every two seconds or so, and the first that succeeds ends the wait. So a path that comes back is used within seconds, however long it
 * was gone, and a server that answers but fails is still left alone for as long as back-off says. A proxy that answers 502, 503 or 504 can be
 * reached while the server behind it can't: there each probe costs one more try of the whole way. Used by agent.ts.
 */
import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { connect } from 'node:net';
import type { Cancel, Schedule } from '../schedule.ts';

/** Between two probes; half of it to one and a half times, so that agents that lost one server don't come in step. */
const PROBE_MS = 2_000;
/** A connection that is not there after this has lost its first packets too: the next probe has better chances. */
const CONNECT_MS = 3_000;

export interface Place {
  readonly host: string;
  readonly port: number;
}

/** No connection could be made: no name, no route, no listener, no answer, or a proxy without an upstream. The message is for people. */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError';
  readonly place: Place;

  constructor(message: string, place: Place, options?: ErrorOptions) {
    super(message, options);
    this.place = place;
  }
}

/** Resolves with whether a connection can be made; never rejects. */
export type Reach = (place: Place) => Promise<boolean>;

/** Probes one address until a connection can be made. */
export class ReachabilityProbe {
  readonly #schedule: Schedule;
  readonly #random: () => number;
  readonly #reach: Reach | undefined;
  #cancel: Cancel | undefined;
  /** Counts watches: an answer to an earlier one means nothing any more. */
  #watch = 0;

  /** `random` gives numbers in [0, 1). Without `reach` nothing is ever reached: back-off alone counts. */
  constructor(schedule: Schedule, random: () => number, reach?: Reach) {
    this.#schedule = schedule;
    this.#random = random;
    this.#reach = reach;
  }

  /** Calls back once when `place` can be reached, unless stopped before. */
  watch(place: Place, onReached: () => void): void {
    this.stop();
    const reach = this.#reach;
    if (reach !== undefined) this.#probe(() => reach(place), onReached);
  }

  stop(): void {
    this.#watch++;
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #probe(reach: () => Promise<boolean>, onReached: () => void): void {
    const watch = this.#watch;
    // The next probe is planned when the last is over: a slow name server gets one question at a time.
    this.#cancel = this.#schedule.after(Math.round(PROBE_MS * (0.5 + this.#random())), () => {
      void reach().then((reached) => {
        if (watch !== this.#watch) return;
        if (reached) onReached();
        else this.#probe(reach, onReached);
      });
    });
  }
}

type Resolve = (host: string) => Promise<LookupAddress[]>;

/** One probe: the name is resolved, a TCP connection is made and closed. Nothing is sent. An address that does not answer is left for the next. */
export async function canReach({ host, port }: Place, resolve: Resolve = addressesOf): Promise<boolean> {
  let addresses: LookupAddress[];
  try {
    addresses = await resolve(host);
  } catch {
    return false; // that there is no such name now is the answer
  }
  return new Promise((settled) => {
    const socket = connect({
      ...{ host, port, timeout: CONNECT_MS, autoSelectFamily: true },
      lookup: (_host, _options, found) => found(null, addresses),
    });
    const settle = (reached: boolean): void => {
      settled(reached);
      socket.destroy();
    };
    socket.once('connect', () => settle(true));
    socket.once('timeout', () => settle(false));
    socket.on('error', () => settle(false));
  });
}

function addressesOf(host: string): Promise<LookupAddress[]> {
  return lookup(host, { all: true });
}
