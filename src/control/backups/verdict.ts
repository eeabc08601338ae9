/** Whether backups are as the settings want them: for the health check, `culvert doctor` and metrics. */
import { HOUR_MS } from '../../base/clock.ts';
import type { BackupState, MadeBackup } from './state.ts';

/** A large one takes its time, and a server that was off makes up for it after its start. */
const GRACE_MS = HOUR_MS;

export interface BackupVerdict {
  /** `late`: older than `backup.every`. */
  readonly kind: 'off' | 'ok' | 'failed' | 'late';
  /** Of the last scheduled backup, or of the last one where none are scheduled; null: there is none. */
  readonly ageMs: number | null;
  /** Why the last one failed. */
  readonly reason: string | null;
}

/** The backup that counts: one that a user makes does not stand in for the schedule, whose files and stores may have failed. */
export function lastOf({ lastSuccess, lastScheduled }: BackupState, everyMs: number | null): MadeBackup | null {
  return everyMs === null ? lastSuccess : lastScheduled;
}

/** `everyMs`: null where no backups are scheduled. `upMs`: how long the server runs. */
export function verdictOf(
  state: BackupState,
  { everyMs, upMs, now }: { readonly everyMs: number | null; readonly upMs: number; readonly now: number },
): BackupVerdict {
  const { lastFailure } = state;
  const last = lastOf(state, everyMs);
  const ageMs = last === null ? null : now - last.at;
  if (everyMs === null) return { kind: 'off', ageMs, reason: null };
  if (lastFailure !== null && lastFailure.at > (last?.at ?? 0))
    return { kind: 'failed', ageMs, reason: lastFailure.reason };
  const isLate = upMs > GRACE_MS && (ageMs === null || ageMs > everyMs + GRACE_MS);
  return { kind: isLate ? 'late' : 'ok', ageMs, reason: null };
}
