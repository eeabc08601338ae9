/**
 * Looks at the free space of the data folder's disk: logs when little is left, and keeps the reserve for a start on a full disk. Started by
 * server/start.ts; read by health.ts and metrics.ts.
 */
import type { Clock } from '../../base/clock.ts';
import { type DiskSpace, diskSpace, sizeText } from '../../base/process/disk-space.ts';
import type { Logger } from '../../base/log.ts';
import { criticalOf, floorOf, isBelow, type MinFree } from '../db/disk/floor.ts';
import { keepReserve, reserveSize } from '../db/disk/reserve.ts';

const LOOK_MS = 2_000;
/** A disk that has not said for so long how much is free does not respond. */
const SILENT_MS = 10_000;

/** `low`: nothing is recorded. `critical`: changes may soon fail. `silent`: the disk does not respond. */
export type DiskLevel = 'ok' | 'low' | 'critical' | 'silent';

export interface DiskState extends DiskSpace {
  readonly level: DiskLevel;
  /** Bytes that `low` begins below. */
  readonly floor: number;
}

export interface DiskWatchDeps {
  readonly dataDir: string;
  readonly minFree: MinFree;
  readonly clock: Clock;
  readonly log: Logger;
  /** Another disk, in tests. */
  readonly look?: (folder: string) => Promise<DiskSpace>;
}

export class DiskWatch {
  readonly #deps: DiskWatchDeps;
  #space: DiskSpace = { free: 0, total: 0 };
  #lookedAt: number;
  #looking: Promise<void> | undefined;
  #logged: DiskLevel = 'ok';
  #isReserveLogged = false;

  constructor(deps: DiskWatchDeps) {
    this.#deps = deps;
    this.#lookedAt = deps.clock.monotonic();
  }

  /** Looks now and every two seconds; returns the stop. */
  start(): () => void {
    void this.look();
    const timer = setInterval(() => void this.look(), LOOK_MS);
    timer.unref();
    return () => clearInterval(timer);
  }

  /** Never rejects. A look that the disk has not answered yet is waited for in place of another. */
  look(): Promise<void> {
    this.#logLevel();
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  /** As of the last look. */
  get state(): DiskState {
    return { ...this.#space, level: this.#level(), floor: floorOf(this.#space, this.#minFree) };
  }

  async #look(): Promise<void> {
    const { dataDir, clock, log, look = diskSpace } = this.#deps;
    try {
      this.#space = await look(dataDir);
      this.#lookedAt = clock.monotonic();
    } catch (error) {
      log.debug({ err: error }, 'could not read the free disk space');
      return;
    }
    this.#logLevel();
    if (this.#level() === 'ok') await this.#reserve();
  }

  async #reserve(): Promise<void> {
    const { dataDir, log } = this.#deps;
    if (this.#space.free < floorOf(this.#space, 'auto') + reserveSize(this.#space)) return;
    try {
      await keepReserve(dataDir, this.#space);
    } catch (error) {
      if (this.#isReserveLogged) return;
      this.#isReserveLogged = true;
      log.warn({ err: error }, 'could not write the reserve file for a start on a full disk');
    }
  }

  /** Without a floor of the settings the levels are still worth a warning. */
  get #minFree(): MinFree {
    return this.#deps.minFree === 0 ? 'auto' : this.#deps.minFree;
  }

  #level(): DiskLevel {
    if (this.#deps.clock.monotonic() - this.#lookedAt > SILENT_MS) return 'silent';
    if (isBelow(this.#space, criticalOf(this.#space, this.#minFree))) return 'critical';
    return isBelow(this.#space, floorOf(this.#space, this.#minFree)) ? 'low' : 'ok';
  }

  #logLevel(): void {
    const level = this.#level();
    if (level === this.#logged) return;
    this.#logged = level;
    const { dataDir, log } = this.#deps;
    const fields = { data_dir: dataDir, free: sizeText(this.#space.free), of: sizeText(this.#space.total) };
    if (level === 'ok') log.info(fields, 'the disk of data_dir has space again');
    else if (level === 'silent') log.error(fields, 'the disk of data_dir has not responded for ten seconds');
    else if (level === 'low') log.warn(fields, 'the disk of data_dir is nearly full: requests are not recorded');
    else
      log.error(
        fields,
        'the disk of data_dir is full: changes may fail, but visitors are served. Free some space on it',
      );
  }
}
