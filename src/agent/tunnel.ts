/**
 * One tunnel of an agent: what the user asked for and what the server made of it. Changed by agent.ts only.
 */
import type { AdviceCode } from '../wire/advice-codes.ts';
import type { AgentCommand } from '../wire/agent-command.ts';
import type { Bound, Claim, Protocol } from '../wire/messages.ts';
import { type AskedNarrowing, flagOf } from '../wire/narrowing.ts';
import type { PathRouteForm } from '../wire/path-routes.ts';
import type { UpstreamForm } from '../wire/upstream-form.ts';
import type { AgentEvent, TunnelView } from './events.ts';
import { ADVICE } from './inspect/advice.ts';
import { type Need, type Refusal, Wanted } from './wanted.ts';
import type { LocalTarget } from './local/target.ts';
import { faultText, type RouteSpec, targetText } from './local/route-spec.ts';

export interface TunnelSpec {
  /** Unique within the agent. */
  readonly name: string;
  readonly protocol: Protocol;
  /** With routes: of `/`, else of the first one. */
  readonly target: LocalTarget;
  /** Several services, by path; undefined: the target takes all requests. */
  readonly routes?: readonly RouteSpec[] | undefined;
  readonly subdomain?: string | undefined;
  readonly project?: string | undefined;
  /** false: neither the server nor this agent's own page keeps what passes. */
  readonly inspect?: boolean | undefined;
  /** What the flags add in front of it. */
  readonly narrow?: AskedNarrowing | undefined;
  /** How the server writes requests to the service; undefined: as visitors do. */
  readonly upstream?: UpstreamForm | undefined;
  /** The command that brings it back, for the server to show. */
  readonly command?: AgentCommand | undefined;
}

export class Tunnel extends Wanted {
  readonly noun = 'tunnel';
  readonly spec: TunnelSpec;
  /** The tunnel with settings from before, which serves until the server has bound this one. */
  replaces: Tunnel | undefined;
  override readonly needs: readonly Need[];
  /** What its service's refusals mean. */
  advice: AdviceCode | undefined;
  #bound: Bound | undefined;
  #revision = 0;
  readonly #faults = new Map<LocalTarget, string>();

  /** `before`: the tunnel of this name, whose settings have changed. Its public name, also a random one, stays. */
  constructor(spec: TunnelSpec, random: () => number, before?: Tunnel) {
    super(random);
    this.spec = spec;
    this.needs = [
      ...(spec.upstream === undefined ? [] : [{ feature: 'upstream' as const, options: optionsOf(spec.upstream) }]),
      ...(spec.routes === undefined ? [] : [{ feature: 'routes' as const, options: 'routes' }]),
    ];
    if (before === undefined || !hasSamePlace(before.spec, spec)) return;
    this.#bound = before.#bound;
    this.#revision = before.#revision + 1;
    // One that was never bound serves nothing.
    this.replaces = before.replaces ?? before;
  }

  setBound(bound: Bound): void {
    this.#bound = bound;
    this.replaces = undefined;
    this.setOnline();
  }

  /** The claim; after the first `bound` it asks for the same tunnel, so that a random name survives a reconnect. */
  ask(ref: number): Claim {
    // A repeated label holds the project's suffix already; the server takes it off. A tcp tunnel has no label.
    const subdomain = this.spec.subdomain ?? (this.#bound?.subdomain || undefined);
    return {
      type: 'claim',
      ref,
      protocol: this.spec.protocol,
      target: targetText(this.spec),
      localPort: this.spec.target.port,
      ...(subdomain === undefined ? {} : { subdomain }),
      ...(this.spec.project === undefined ? {} : { project: this.spec.project }),
      ...(this.spec.inspect === false ? { inspect: false } : {}),
      ...(this.spec.narrow === undefined ? {} : { narrow: this.#narrow(this.spec.narrow) }),
      ...(this.spec.upstream === undefined ? {} : { upstream: this.spec.upstream }),
      ...(this.spec.routes === undefined ? {} : { routes: this.spec.routes.map(routeForm) }),
      ...(this.spec.command === undefined ? {} : { command: this.spec.command }),
      ...(this.#bound === undefined ? {} : { tunnelId: this.#bound.tunnelId }),
      ...(this.#revision === 0 ? {} : { revision: this.#revision }),
    };
  }

  /**
   * The refusal to be served by a server that does not apply all that the flags ask for: the tunnel would be open. `applied`: what it says that it
   * applies; undefined for one that does not say.
   */
  override lacking(applied: readonly string[] | undefined): Refusal | undefined {
    const missing = Object.keys(this.spec.narrow ?? {}).filter((name) => applied?.includes(name) !== true);
    if (missing.length === 0) return undefined;
    const flags = missing.map(flagOf).join(', ');
    const message = `The server does not support ${flags}: nothing was published. Upgrade the server, or leave out ${flags}.`;
    return { code: 'invalid_request', message };
  }

  /** A reconnect begins no new time. */
  #narrow(narrow: AskedNarrowing): AskedNarrowing {
    const endsAt = this.#bound?.ttlEndsAt;
    if (narrow.ttl === undefined || endsAt === undefined) return narrow;
    return { ...narrow, ttl: { ...narrow.ttl, ends_at: endsAt } };
  }

  /** The service for a stream; `route` as its preamble says it. */
  serviceOf(route: number | undefined): LocalTarget | undefined {
    const { routes, target } = this.spec;
    if (routes === undefined) return route === undefined ? target : undefined;
    return route === undefined ? undefined : routes[route]?.target;
  }

  has(target: LocalTarget): boolean {
    return this.spec.target === target || this.spec.routes?.some((route) => route.target === target) === true;
  }

  /** Whether one of its services can be reached has changed; answers what can't be. */
  faultWith(target: LocalTarget, fault: string | undefined): string | undefined {
    if (fault === undefined) this.#faults.delete(target);
    else this.#faults.set(target, fault);
    return faultText(this.spec, this.#faults);
  }

  targetEvent(): AgentEvent {
    return { kind: 'target', tunnel: this.view() };
  }

  offlineEvent(reason: string): AgentEvent {
    return { kind: 'tunnel_offline', tunnel: this.view(), reason };
  }

  refusedEvent({ code, message }: Refusal, final: boolean): AgentEvent {
    return { kind: 'tunnel_refused', tunnel: this.view(), code, message, final };
  }

  view(): TunnelView {
    return {
      name: this.spec.name,
      protocol: this.spec.protocol,
      target: targetText(this.spec),
      routes: this.spec.routes?.map(({ path, target }) => ({ path, target: target.text })),
      state: this.state,
      url: this.#bound?.url,
      tunnelId: this.#bound?.tunnelId,
      expiresAt: this.#bound?.expiresAt ?? null,
      reason: this.reason,
      fault: this.fault,
      advice: this.advice === undefined ? undefined : ADVICE[this.advice],
    };
  }
}

function routeForm({ path, upstream }: RouteSpec): PathRouteForm {
  return upstream === undefined ? { path } : { path, upstream };
}

/** Whether both ask for the same public name. */
function hasSamePlace(one: TunnelSpec, other: TunnelSpec): boolean {
  return one.protocol === other.protocol && one.subdomain === other.subdomain && one.project === other.project;
}

/** The options that made `form`. */
function optionsOf({ host, prefix, keepAliveMs }: UpstreamForm): string {
  const options = [
    ...(host === undefined ? [] : ['--host-header']),
    ...(prefix === undefined ? [] : ['--path-prefix']),
    ...(keepAliveMs === undefined ? [] : ['--upstream-keep-alive-timeout']),
  ];
  return options.join(', ');
}
