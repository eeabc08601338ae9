/** A storm: load on a server by a neighbour, an attacker, an operator or a disk, while visitors of another tenant send requests. */
import type { StormName } from './names.ts';

export interface Storm {
  readonly name: StormName;
  readonly title: string;
  /** Length of its windows, if the usual one is too short. */
  readonly seconds?: number;
  /** Upper limit of its rounds. */
  readonly rounds?: number;
  /** Until its work in the background is done. */
  readonly settleMs?: number;
  /** Runs before the first round. */
  prepare?(): Promise<void>;
  /** Runs for so many seconds at most; resolves to its result in a few words. Throws when it had no effect. */
  run(seconds: number): Promise<string>;
  /** Runs after the last round, also when a step before it has failed. */
  finish?(): Promise<void>;
}
