/**
 * The tunnels that an agent has now: those of its command line or file, those that programs started by its API, without those that were stopped
 * there. A reload of the file changes the first kind alone.
 */
import type { Agent } from '../../agent/agent.ts';
import type { TunnelList } from '../../agent/inspect/started-tunnels.ts';
import type { RelaySpec } from '../../agent/relay/spec.ts';
import type { TunnelSpec } from '../../agent/tunnel.ts';

export interface ListDeps {
  readonly agent: () => Pick<Agent, 'reload'>;
  /** The page looks on at these from now on. */
  readonly watch: (tunnels: readonly TunnelSpec[]) => void;
}

export class RunningTunnels implements TunnelList {
  readonly #deps: ListDeps;
  #settled: readonly TunnelSpec[];
  #relays: readonly RelaySpec[];
  #started: readonly TunnelSpec[] = [];
  readonly #stopped = new Set<string>();

  constructor(tunnels: readonly TunnelSpec[], relays: readonly RelaySpec[], deps: ListDeps) {
    this.#settled = tunnels;
    this.#relays = relays;
    this.#deps = deps;
  }

  get names(): readonly string[] {
    return this.#tunnels.map(({ name }) => name);
  }

  get others(): readonly string[] {
    return this.#relays.map(({ name }) => name);
  }

  add(spec: TunnelSpec): void {
    this.#change([...this.#started, spec], this.#stopped);
  }

  remove(name: string): void {
    const settled = this.#settled.some((spec) => spec.name === name) ? [name] : [];
    this.#change(
      this.#started.filter((spec) => spec.name !== name),
      new Set([...this.#stopped, ...settled]),
    );
  }

  /** The file was read again. A name in it that a program has started stays the program's. */
  replace(tunnels: readonly TunnelSpec[], relays: readonly RelaySpec[]): void {
    this.#settled = tunnels;
    this.#relays = relays;
    this.#stopped.clear();
    this.#apply();
  }

  get #tunnels(): readonly TunnelSpec[] {
    const own = new Set(this.#started.map(({ name }) => name));
    return [...this.#settled.filter(({ name }) => !own.has(name) && !this.#stopped.has(name)), ...this.#started];
  }

  /** All or nothing: an agent that refuses the change keeps what it had. */
  #change(started: readonly TunnelSpec[], stopped: ReadonlySet<string>): void {
    const before = this.#started;
    const wasStopped = [...this.#stopped];
    this.#started = started;
    for (const name of stopped) this.#stopped.add(name);
    try {
      this.#apply();
    } catch (error) {
      this.#started = before;
      this.#stopped.clear();
      for (const name of wasStopped) this.#stopped.add(name);
      throw error;
    }
  }

  #apply(): void {
    const tunnels = this.#tunnels;
    this.#deps.watch(tunnels);
    this.#deps.agent().reload({ tunnels, relays: this.#relays });
  }
}
