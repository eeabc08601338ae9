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
import { serviceAt, servicesOf } from '../local/route-spec.ts';
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
  /** Of the service's route; null: the tunnel has none. */
  readonly route: string | null;
  /** What a refusal of its service means was reported. */
  isAdvised: boolean;
}

export class Watch {
  readonly ring: RequestRing;
  readonly tally = new PageTally();
  readonly clock: Clock;
  readonly #floor: TapFloor;
  readonly #allowance = new Allowance();
  #services: ReadonlyMap<LocalTarget, Watched> = new Map();
  #tunnels: ReadonlyMap<string, Pick<Watched, 'spec' | 'tally'>> = new Map();

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
    const tunnels = specs.map((spec) => {
      const tally = this.find(spec.name)?.tally ?? new TunnelTally(this.clock.monotonic());
      return { spec, tally };
    });
    const services = tunnels.flatMap(({ spec, tally }) =>
      servicesOf(spec).map(({ target, path: route }) => {
        const isAdvised = this.#services.get(target)?.isAdvised ?? false;
        return [target, { spec, tally, route, isAdvised }] as const;
      }),
    );
    this.#tunnels = new Map(tunnels.map((tunnel) => [tunnel.spec.name, tunnel]));
    this.#services = new Map(services);
  }

  /** A stream was joined with a connection to `target`. `onAdvice`: its service has refused a request, and says why; at most once per target. */
  joined(target: LocalTarget, onAdvice?: (code: AdviceCode) => void): WatchedConnection | null {
    const found = this.#services.get(target);
    if (found === undefined) return null;
    const { spec, tally, route } = found;
    const { clock } = this;
    const since = clock.monotonic();
    const refused =
      onAdvice === undefined || found.isAdvised
        ? {}
        : { onRefused: (record: RequestRecord) => this.#refused(found, record, onAdvice) };
    const subject = { tunnel: spec.name, route, tally, replayOf: null, ...refused };
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
    const found = this.#services.get(target);
    if (found === undefined || !looksOn(found.spec)) return;
    const { spec, tally, route } = found;
    const tap = new StreamTap(this.#floor, { tunnel: spec.name, route, tally, replayOf: null, agoMs });
    for (const part of bytes) tap.request(part, 0, part.length);
    tap.unreached(fault.code === REPLY.timeout ? 504 : 502, fault.text);
  }

  #refused(watched: Watched, record: RequestRecord, onAdvice: (code: AdviceCode) => void): void {
    if (watched.isAdvised) return;
    const code = adviceOf(record);
    // It gets a name of its own already, which it does not take either.
    if (code === undefined || (code === 'host_header' && hasOwnHost(watched))) return;
    watched.isAdvised = true;
    onAdvice(code);
  }

  /** A tap for the one request of a replay of `record`. */
  tapReplay({ tunnel, route, id }: RequestRecord, onEnd: () => void): StreamTap {
    return new StreamTap(this.#floor, { tunnel, route, tally: null, replayOf: id, onEnd });
  }

  /** The service that `record` went to; undefined: the tunnel or its route is gone. */
  serviceOf({ tunnel, route }: RequestRecord): LocalTarget | undefined {
    const spec = this.find(tunnel)?.spec;
    return spec === undefined ? undefined : serviceAt(spec, route);
  }

  /** The tunnel's settings and numbers; undefined: there is none of this name. */
  find(name: string): { readonly spec: TunnelSpec; readonly tally: TunnelTally } | undefined {
    return this.#tunnels.get(name);
  }

  tunnels(): { readonly spec: TunnelSpec; readonly tally: TunnelTally }[] {
    return [...this.#tunnels.values()];
  }

  close(): void {
    this.#allowance.close();
  }
}

/** Whether the service gets a host that is not the visitors'. */
function hasOwnHost({ spec, route }: Watched): boolean {
  const { upstream } = spec.routes?.find(({ path }) => path === route) ?? spec;
  return upstream?.host !== undefined;
}

/** Whether requests of the tunnel are shown and counted. */
function looksOn({ protocol, inspect }: TunnelSpec): boolean {
  return protocol !== 'tcp' && inspect !== false;
}
