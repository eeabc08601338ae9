/**
 * What the server has acknowledged about the things of one kind, and what of it was read back. A thing is changed once between two restarts, so that
 * each acknowledged write leaves a trace of its own: a created thing is there, a deleted one is not, a renamed one has its name.
 */
import type { Kind } from './kinds.ts';

export type Listed = Readonly<Record<string, unknown>>;

interface Known {
  /** Acknowledged; undefined: not known, or of no interest. */
  name: string | undefined;
  /** It was read back since the last change: it may be changed again. */
  isRead: boolean;
}

export class Ledger {
  readonly kind: Kind;
  readonly #present = new Map<string, Known>();
  readonly #gone = new Set<string>();
  /** A change is under way, or its response was lost: either outcome is right. */
  readonly #open = new Set<string>();
  #unread = 0;

  constructor(kind: Kind) {
    this.kind = kind;
  }

  get size(): number {
    return this.#present.size + this.#open.size;
  }

  /** Acknowledged writes that were not read back yet. */
  get unread(): number {
    return this.#unread;
  }

  created(id: string): void {
    this.#present.set(id, { name: undefined, isRead: false });
    this.#unread++;
  }

  /** A thing that may be changed now, longest known first; until it is settled nothing is expected of it. */
  take(): string | undefined {
    for (const [id, { isRead }] of this.#present) {
      if (!isRead) continue;
      this.#present.delete(id);
      this.#open.add(id);
      return id;
    }
    return undefined;
  }

  deleted(id: string): void {
    this.#open.delete(id);
    this.#gone.add(id);
    this.#unread++;
  }

  renamed(id: string, name: string): void {
    this.#open.delete(id);
    this.#present.set(id, { name, isRead: false });
    this.#unread++;
  }

  /** Compares with the server's list; what is lost, in words. Things whose creation or change had no response are taken as they are found. */
  readBack(list: readonly Listed[]): string[] {
    // A revoked key stays in the list, and is gone all the same.
    const there = list.filter(({ revoked }) => revoked !== true);
    const listed = new Map(there.map((each) => [String(each[this.kind.id]), each]));
    const lost: string[] = [];
    for (const [id, known] of this.#present) {
      const found = listed.get(id);
      if (found === undefined) lost.push(`${this.kind.name}: ${id} was created and is missing`);
      else if (known.name !== undefined && found['name'] !== known.name)
        lost.push(`${this.kind.name}: ${id} was renamed to ${known.name} and is called ${String(found['name'])}`);
      known.isRead = true;
    }
    for (const id of this.#gone) if (listed.has(id)) lost.push(`${this.kind.name}: ${id} was deleted and is there`);
    for (const [id, { isDefault }] of listed) {
      if (isDefault === true || this.#present.has(id) || this.#gone.has(id)) continue;
      this.#present.set(id, { name: undefined, isRead: true });
    }
    this.#open.clear();
    this.#unread = 0;
    return lost;
  }
}
