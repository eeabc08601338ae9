/**
 * Memory that all exports of a server share, in events. While there is room, each organization takes what it needs. Without room, those that hold
 * more than their fair share drop events for those that hold less, so that one destination that is down never costs other organizations events.
 */

/** A queue that uses a share. */
export interface Yielding {
  readonly held: number;
  /** Drops and counts some of what it holds, and gives the room back. False: all of it is under way. */
  yield(): boolean;
}

export class ExportRoom {
  readonly #max: number;
  readonly #shares = new Set<ExportShare>();
  #held = 0;
  /** Gave way last: it probably can again, and finding another one takes time. */
  #giver: ExportShare | undefined;

  constructor(max: number) {
    this.#max = max;
  }

  get left(): number {
    return this.#max - this.#held;
  }

  /** For one organization. It counts while it has queues. */
  share(): ExportShare {
    return new ExportShare(this);
  }

  /** Called by a share, as all below. */
  join(share: ExportShare): void {
    this.#shares.add(share);
  }

  leave(share: ExportShare): void {
    this.#shares.delete(share);
    if (this.#giver === share) this.#giver = undefined;
  }

  take(share: ExportShare): boolean {
    if (this.left <= 0 && !this.#makeRoomFor(share)) return false;
    this.#held++;
    return true;
  }

  give(count: number): void {
    this.#held -= count;
  }

  #makeRoomFor(share: ExportShare): boolean {
    const fair = Math.max(1, Math.floor(this.#max / this.#shares.size));
    if (share.held >= fair) return false;
    const gives = (one: ExportShare): boolean => one.held > fair && one.yield();
    if (this.#giver !== undefined && gives(this.#giver)) return true;
    this.#giver = [...this.#shares].find(gives);
    return this.#giver !== undefined;
  }
}

export class ExportShare {
  readonly #room: ExportRoom;
  readonly #queues = new Set<Yielding>();
  #held = 0;

  constructor(room: ExportRoom) {
    this.#room = room;
  }

  get held(): number {
    return this.#held;
  }

  join(queue: Yielding): void {
    this.#queues.add(queue);
    this.#room.join(this);
  }

  leave(queue: Yielding): void {
    this.#queues.delete(queue);
    if (this.#queues.size === 0) this.#room.leave(this);
  }

  /** Room for one event. */
  take(): boolean {
    if (!this.#room.take(this)) return false;
    this.#held++;
    return true;
  }

  give(count: number): void {
    this.#held -= count;
    this.#room.give(count);
  }

  /** The longest queue first: it is the one whose destination is dead. */
  yield(): boolean {
    return [...this.#queues].sort((a, b) => b.held - a.held).some((queue) => queue.yield());
  }
}
