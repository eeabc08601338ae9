/**
 * A slice: one feature with its routes, rules and handlers of events. control/open.ts lists all slices, from the ground up: in this order
 * they are opened, mounted and handle events. What is no slice yet is in control/parts/.
 */
import type { Api } from './http/context.ts';
import type { Handler } from '../db/events.ts';
import type { Store, Tx } from '../db/tx.ts';
import type { Drains } from './drains.ts';

/** What slices take of the core (control/parts/core.ts). */
export interface Core {
  readonly store: Store;
  /** Large changes in slices of rows. */
  readonly drains: Drains;
}

/** `S`: its service. */
export interface Slice<S> {
  readonly name: string;
  /** Opens the service. `use` gives that of a slice that stands before this one. */
  service(core: Core, use: Slices['use']): S;
  routes?(api: Api, service: S): void;
  on?(service: S): ReadonlyArray<Handler<Tx>>;
}

/** The open slices of a program. */
export class Slices {
  readonly #services = new Map<Slice<unknown>, unknown>();

  /** Opens the slices in their order. Throws when one uses another that stands after it. */
  constructor(core: Core, list: readonly Slice<unknown>[]) {
    const use = <S>(slice: Slice<S>): S => this.use(slice);
    for (const slice of list) this.#services.set(slice, slice.service(core, use));
  }

  /** The service of an open slice. */
  use<S>(slice: Slice<S>): S {
    if (!this.#services.has(slice)) {
      throw new Error(`The slice ${slice.name} is not open. List it in control/open.ts, before those that use it.`);
    }
    return this.#services.get(slice) as S;
  }

  mount(api: Api): void {
    for (const [slice, service] of this.#services) slice.routes?.(api, service);
  }

  handlers(): ReadonlyArray<Handler<Tx>> {
    return [...this.#services].flatMap(([slice, service]) => slice.on?.(service) ?? []);
  }
}
