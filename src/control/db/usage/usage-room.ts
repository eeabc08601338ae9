/** Whether the disk has room for records. In the thread alone (usage-desk.ts): a disk that does not respond holds up nothing else. */
import { type DiskSpace, diskSpaceNow, sizeText } from '../../../base/process/disk-space.ts';
import { criticalOf, floorOf, isBelow, type MinFree } from '../disk/floor.ts';

/** Between two looks at the disk what is written is subtracted. */
const LOOK_MS = 1_000;
/** A record is written to the log and then to the file. */
const WRITTEN_TWICE = 2;

export class UsageRoom {
  readonly #folder: string;
  readonly #minFree: MinFree;
  readonly #look: (folder: string) => DiskSpace;
  #lookedAt = -Infinity;
  #space: DiskSpace = { free: 0, total: 0 };

  /** `look`: another disk, in tests. */
  constructor(folder: string, minFree: MinFree, look: (folder: string) => DiskSpace = diskSpaceNow) {
    this.#folder = folder;
    this.#minFree = minFree;
    this.#look = look;
  }

  /** Takes this room for a piece; false when it would leave less than the floor. */
  take(bytes: number): boolean {
    if (this.#minFree === 0) return true;
    const needed = bytes * WRITTEN_TWICE;
    const isStale = performance.now() - this.#lookedAt >= LOOK_MS;
    if (isStale || isBelow(this.#space, this.floor + needed)) this.#lookAgain();
    if (isBelow(this.#space, this.floor + needed)) return false;
    this.#space = { ...this.#space, free: this.#space.free - needed };
    return true;
  }

  /** As of the last `take`: so little is left that the main database may soon have none. */
  get isCritical(): boolean {
    return isBelow(this.#space, criticalOf(this.#space, this.#minFree));
  }

  get floor(): number {
    return floorOf(this.#space, this.#minFree);
  }

  /** What is wrong, for a log line. */
  get shortage(): string {
    return `only ${sizeText(this.#space.free)} free; recording stops below ${sizeText(this.floor)} (inspector.min_free_mb)`;
  }

  #lookAgain(): void {
    this.#space = this.#look(this.#folder);
    this.#lookedAt = performance.now();
  }
}
