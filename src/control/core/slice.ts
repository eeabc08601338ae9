/**
 * A slice: one feature with its routes, rules, jobs and handlers of events. control/open.ts lists all slices, from the ground up: in this
 * order they are opened, mounted, and handle events. No slice knows one that stands above it.
 */
import type { Handler } from '../db/events.ts';
import type { Tx } from '../db/tx.ts';
import type { Core } from './core.ts';
import type { Drain } from './drains.ts';
import type { Api, ApiSettings } from './http/context.ts';
import type { ErrorPages } from './http/errors.ts';
import type { Job } from './jobs.ts';
import type { PendingKind } from './pending-rows.ts';
import type { ForgetStep } from './retention.ts';

/** The service of a slice that stands below. */
export type Use = <S>(slice: Slice<S, never>) => S;

/** A part of a large change, in the order of the slices. */
export interface DrainOf {
  readonly kind: PendingKind;
  readonly drain: Drain;
}

/** `S`: its service. `O`: the options that it reads. */
export interface Slice<S, O = object> {
  readonly name: string;
  service(core: Core, use: Use, options: O): S;
  /** Middleware that stands before the bounds on bodies. */
  before?(api: Api, service: S): void;
  routes?(api: Api, service: S, http: ApiSettings & { readonly use: Use }): void;
  /** For addresses that a person's browser is sent to. */
  readonly errorPages?: ErrorPages;
  on?(service: S): ReadonlyArray<Handler<Tx>>;
  drains?(service: S): readonly DrainOf[];
  jobs?(service: S): readonly Job[];
  /** What its tables forget. Slices above go first: their rows name those below. */
  readonly forget?: readonly ForgetStep[];
}

type Open = Slice<unknown, never>;

/** The open slices of a program. */
export class Slices {
  readonly #services = new Map<Open, unknown>();
  readonly #use: Use = (slice) => this.use(slice);

  /** Opens the slices in their order. Throws when one uses another that stands after it. */
  constructor(core: Core, list: readonly Slice<unknown>[], options: object = {}) {
    for (const slice of list) this.#services.set(slice, slice.service(core, this.#use, options));
  }

  /** The service of an open slice. */
  use<S>(slice: Slice<S, never>): S {
    if (!this.#services.has(slice)) {
      throw new Error(`The slice ${slice.name} is not open. List it in control/open.ts, before those that use it.`);
    }
    return this.#services.get(slice) as S;
  }

  mountBefore(api: Api): void {
    for (const [slice, service] of this.#services) (slice as Slice<unknown>).before?.(api, service);
  }

  mount(api: Api, settings: ApiSettings): void {
    const http = { ...settings, use: this.#use };
    for (const [slice, service] of this.#services) (slice as Slice<unknown>).routes?.(api, service, http);
  }

  errorPages(): readonly ErrorPages[] {
    return [...this.#services.keys()].flatMap(({ errorPages }) => errorPages ?? []);
  }

  handlers(): ReadonlyArray<Handler<Tx>> {
    return this.#all((slice, service) => slice.on?.(service));
  }

  drains(): readonly DrainOf[] {
    return this.#all((slice, service) => slice.drains?.(service));
  }

  jobs(): readonly Job[] {
    return this.#all((slice, service) => slice.jobs?.(service));
  }

  forgetSteps(): readonly ForgetStep[] {
    return [...this.#services.keys()].toReversed().flatMap(({ forget }) => forget ?? []);
  }

  #all<T>(of: (slice: Slice<unknown>, service: unknown) => readonly T[] | undefined): readonly T[] {
    return [...this.#services].flatMap(([slice, service]) => of(slice as Slice<unknown>, service) ?? []);
  }
}
