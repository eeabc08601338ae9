/**
 * What the page knows: which tunnels there are, how many connections and requests each had, and the latest requests. serve.ts tells it of
 * each connection to a service; stream-tap.ts fills in what passes on it; the routes read. Made once per agent, only where the page is on.
 */
import { type Clock, systemClock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { Throttle } from '../../base/limits/throttle.ts';
import { REPLY } from '../../wire/preamble.ts';
import type { LocalFault } from '../local/local.ts';
import type { LocalTarget } from '../local/target.ts';
import type { TunnelSpec } from '../tunnel.ts';
import type { AdviceCode } from '../../wire/advice-codes.ts';
import { adviceOf } from './advice.ts';
import type { RequestRecord } from './request-record.ts';
import { Allowance } from './tap/allowance.ts';
import { RequestRing } from './request-ring.ts';
import { StreamTap } from './tap/stream-tap.ts';
import { PageTally, TunnelTally } from './metrics/tally.ts';
import { TapFloor } from './tap/tap-floor.ts';

/** A fault of the tap comes with every stream, if it comes. */
const FAULT_LOG_MS = 60_000;

/** One connection to a service, as serve.ts sees it. */
export interface WatchedConnection {
  /** Wants to see the bytes; null: does not. */
  readonly tap: StreamTap | null;
  /** Call once, when it is over. */
  close(): void;
}

/** Why a service was not reached, and how long that took. */
export interface Miss {
  readonly fault: LocalFault;
  readonly agoMs: number;
}

interface Watched {
  readonly spec: TunnelSpec;
  readonly tally: TunnelTally;
  /** What a refusal of its service means was reported. */
  isAdvised: boolean;
}

export class Watch {
  readonly ring: RequestRing;
  readonly tally = new PageTally();
  readonly clock: Clock;
  readonly #floor: TapFloor;
  readonly #allowance = new Allowance();
  #tunnels: ReadonlyMap<LocalTarget, Watched> = new Map();

  /** `specs` with the very targets that their tunnels have. */
  constructor(specs: readonly TunnelSpec[], options: { log: Logger; clock?: Clock; ring?: RequestRing }) {
    const { log, clock = systemClock, ring = new RequestRing() } = options;
    const throttle = new Throttle(FAULT_LOG_MS, () => clock.monotonic());
    this.clock = clock;
    this.ring = ring;
    this.#floor = new TapFloor({
      clock,
      ring,
      allowance: this.#allowance,
      tally: this.tally,
      onFault: (error) => {
        const pass = throttle.pass();
        if (pass !== undefined)
          log.error({ cause: messageOf(error), err: error, ...pass }, "a stream can't be shown in the local inspector");
      },
    });
    this.replace(specs);
  }

  /** Looks on at these from now on. Numbers of a tunnel that stays, also with other settings, go on. */
  replace(specs: readonly TunnelSpec[]): void {
    const found = specs.map((spec) => {
      const tally = this.find(spec.name)?.tally ?? new TunnelTally(this.clock.monotonic());
      const isAdvised = this.#tunnels.get(spec.target)?.isAdvised ?? false;
      return [spec.target, { spec, tally, isAdvised }] as const;
    });
    this.#tunnels = new Map(found);
  }

  /** A stream was joined with a connection to `target`. `onAdvice`: its service has refused a request, and says why; at most once per target. */
  joined(target: LocalTarget, onAdvice?: (code: AdviceCode) => void): WatchedConnection | null {
    const found = this.#tunnels.get(target);
    if (found === undefined) return null;
    const { spec, tally } = found;
    const { clock } = this;
    const since = clock.monotonic();
    const refused =
      onAdvice === undefined || found.isAdvised
        ? {}
        : { onRefused: (record: RequestRecord) => this.#refused(found, record, onAdvice) };
    const subject = { tunnel: spec.name, tally, replayOf: null, ...refused };
    const tap = looksOn(spec) ? new StreamTap(this.#floor, subject) : null;
    tally.openConnections++;
    tally.totalConnections++;
    return {
      tap,
      close: () => {
        const now = clock.monotonic();
        tally.openConnections--;
        tally.connections.mark(now, now - since);
        tap?.closed();
      },
    };
  }

  /** `target` could not be reached for a stream on which `bytes` had come, `agoMs` after it was first dialled: no `joined` for it. */
  missed(target: LocalTarget, bytes: readonly Buffer[], { fault, agoMs }: Miss): void {
    const found = this.#tunnels.get(target);
    if (found === undefined || !looksOn(found.spec)) return;
    const { spec, tally } = found;
    const tap = new StreamTap(this.#floor, { tunnel: spec.name, tally, replayOf: null, agoMs });
    for (const part of bytes) tap.request(part, 0, part.length);
    tap.unreached(fault.code === REPLY.timeout ? 504 : 502, fault.text);
  }

  #refused(watched: Watched, record: RequestRecord, onAdvice: (code: AdviceCode) => void): void {
    if (watched.isAdvised) return;
    const code = adviceOf(record);
    // It gets a name of its own already, which it does not take either.
    if (code === undefined || (code === 'host_header' && watched.spec.upstream?.host !== undefined)) return;
    watched.isAdvised = true;
    onAdvice(code);
  }

  /** A tap for the one request of a replay of `record`. */
  tapReplay(tunnel: string, replayOf: string, onEnd: () => void): StreamTap {
    return new StreamTap(this.#floor, { tunnel, tally: null, replayOf, onEnd });
  }

  /** The tunnel's settings and numbers; undefined: there is none of this name. */
  find(name: string): { readonly spec: TunnelSpec; readonly tally: TunnelTally } | undefined {
    for (const found of this.#tunnels.values()) if (found.spec.name === name) return found;
    return undefined;
  }

  tunnels(): { readonly spec: TunnelSpec; readonly tally: TunnelTally }[] {
    return [...this.#tunnels.values()];
  }

  close(): void {
    this.#allowance.close();
  }
}

/** Whether requests of the tunnel are shown and counted. */
function looksOn({ protocol, inspect }: TunnelSpec): boolean {
  return protocol !== 'tcp' && inspect !== false;
}
