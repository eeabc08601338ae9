/**
 * Notices that the file of the database was deleted or replaced under a running server: its descriptor goes on working, and all that is stored is
 * lost with the process. What the server has is saved beside it once. Called by server/start.ts through the Store.
 */
import { type BigIntStats, statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { codeOf } from '../../../base/errors.ts';

const LOOK_MS = 2_000;

export interface WatchedFile {
  readonly file: string;
  /** Called once. */
  readonly onGone: (what: 'deleted' | 'replaced') => void;
  /** How often the file is looked at, milliseconds. */
  readonly lookMs?: number;
}

/** Looks at the file, as it is now, every two seconds; returns the stop. A file that can't be looked at for other reasons counts as there. */
export function watchFile({ file, onGone, lookMs = LOOK_MS }: WatchedFile): () => void {
  const first = statSync(file, { bigint: true });
  let isBusy = false;
  const timer = setInterval(() => {
    // A disk that hangs must not fill the pool of threads.
    if (isBusy) return;
    isBusy = true;
    void whatOf(file, first).then((what) => {
      isBusy = false;
      if (what === undefined || stopped) return;
      stop();
      onGone(what);
    });
  }, lookMs);
  timer.unref();
  let stopped = false;
  const stop = (): void => {
    stopped = true;
    clearInterval(timer);
  };
  return stop;
}

async function whatOf(file: string, first: BigIntStats): Promise<'deleted' | 'replaced' | undefined> {
  try {
    const { dev, ino } = await stat(file, { bigint: true });
    return dev === first.dev && ino === first.ino ? undefined : 'replaced';
  } catch (error) {
    return codeOf(error) === 'ENOENT' ? 'deleted' : undefined;
  }
}
