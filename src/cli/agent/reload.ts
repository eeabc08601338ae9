/**
 * Reads the settings file of `culvert start` again, on SIGHUP and when it changes. A file with a mistake changes nothing: the agent goes on with what it had,
 * and the mistake is reported once.
 */
import { statSync } from 'node:fs';
import type { Agent } from '../../agent/agent.ts';
import type { AgentEvent } from '../../agent/events.ts';
import type { RelaySpec } from '../../agent/relay/spec.ts';
import type { TunnelSpec } from '../../agent/tunnel.ts';
import { codeOf, messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { AgentSettings } from '../../config/agent.ts';

/** One tunnel or relay of the file. */
export interface Entry {
  readonly name: string;
  /** Its settings as text: the same text means that nothing changed. */
  readonly print: string;
  readonly tunnel?: TunnelSpec;
  readonly relay?: RelaySpec;
}

export interface ReadSettings {
  readonly settings: AgentSettings;
  readonly entries: readonly Entry[];
}

export interface Reloadable {
  /** @throws ConfigError or ExitError */
  read(): ReadSettings;
  /** Files that may have settings, whether they are there or not. */
  readonly files: readonly string[];
}

/**
 * How often files are looked at. By their state, and not by events of the system: those are lost on network drives and in containers,
 * and an editor that replaces a file takes the watched one away.
 */
const LOOK_MS = 500;
/** A file is read once it was the same for so many looks; one that is gone, which may be about to be written anew, for so many. */
const STEADY_LOOKS = 1;
const GONE_LOOKS = 10;

export interface ReloadDeps {
  readonly agent: Pick<Agent, 'reload'>;
  readonly log: Logger;
  readonly emit: (event: AgentEvent) => void;
  /** The settings are in force, with these tunnels. */
  readonly onLoaded: (settings: AgentSettings, tunnels: readonly TunnelSpec[]) => void;
}

export class Reloader {
  readonly #source: Reloadable;
  readonly #deps: ReloadDeps;
  #current: ReadSettings;
  #timer: NodeJS.Timeout | undefined;
  #seen: string;
  #pending: { readonly state: string; looks: number } | undefined;

  constructor(source: Reloadable, first: ReadSettings, deps: ReloadDeps) {
    this.#source = source;
    this.#current = first;
    this.#deps = deps;
    this.#seen = stateOf(source.files);
    this.#timer = setInterval(() => this.#look(), LOOK_MS).unref();
  }

  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Reads the files now. */
  reload(): void {
    this.#seen = stateOf(this.#source.files);
    this.#pending = undefined;
    const { agent, log, emit, onLoaded } = this.#deps;
    const before = this.#current;
    try {
      const next = kept(before, this.#source.read());
      refuseOtherServer(before.settings, next.settings);
      const change = changeOf(before, next);
      const tunnels = next.entries.flatMap(({ tunnel }) => tunnel ?? []);
      const relays = next.entries.flatMap(({ relay }) => relay ?? []);
      this.#current = next;
      onLoaded(next.settings, tunnels);
      agent.reload({ tunnels, relays });
      emit({ kind: 'settings_reloaded', ...change });
      log.info(change, 'settings reloaded');
    } catch (error) {
      const reason = messageOf(error);
      emit({ kind: 'settings_rejected', reason });
      log.error({ cause: reason }, 'settings not reloaded: the agent goes on with those from before');
    }
  }

  #look(): void {
    const state = stateOf(this.#source.files);
    if (state === this.#seen) {
      this.#pending = undefined;
      return;
    }
    if (this.#pending?.state !== state) {
      this.#pending = { state, looks: 0 };
      return;
    }
    this.#pending.looks++;
    if (this.#pending.looks >= (isGone(this.#seen, state) ? GONE_LOOKS : STEADY_LOOKS)) this.reload();
  }
}

const ABSENT = '-';

/** Which versions of the files are there. */
function stateOf(files: readonly string[]): string {
  return files.map(oneState).join(' ');
}

function oneState(file: string): string {
  try {
    const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
    return stats === undefined ? ABSENT : `${stats.ino}:${stats.size}:${stats.mtimeNs}`;
  } catch (error) {
    return codeOf(error) ?? ABSENT; // its folder may not be searched, say: a change all the same
  }
}

function isGone(before: string, now: string): boolean {
  const had = before.split(' ');
  return now.split(' ').some((state, at) => state === ABSENT && had[at] !== ABSENT);
}

/** The next settings, with the very specs of entries that did not change. */
function kept(before: ReadSettings, next: ReadSettings): ReadSettings {
  const known = new Map(before.entries.map((entry) => [entry.name, entry]));
  const entries = next.entries.map((entry) => {
    const old = known.get(entry.name);
    return old?.print === entry.print ? old : entry;
  });
  return { settings: next.settings, entries };
}

function changeOf(before: ReadSettings, next: ReadSettings): Record<'added' | 'changed' | 'removed', string[]> {
  const [old, now] = [before, next].map(({ entries }) => new Map(entries.map((entry) => [entry.name, entry]))) as [
    Map<string, Entry>,
    Map<string, Entry>,
  ];
  return {
    added: [...now.keys()].filter((name) => !old.has(name)),
    changed: [...now].filter(([name, entry]) => old.has(name) && old.get(name) !== entry).map(([name]) => name),
    removed: [...old.keys()].filter((name) => !now.has(name)),
  };
}

/** A session and its key belong to one server. */
function refuseOtherServer(before: AgentSettings, next: AgentSettings): void {
  if (before.server.href === next.server.href) return;
  throw new Error(`server: ${next.server.href} is another server. Restart the agent`);
}
