/** One function per check of health.ts: from what is known to a status, and messages for the public and for operators. */
import { DAY_MS, HOUR_MS } from '../../base/clock.ts';
import type { DescriptorFigures } from '../../base/process/descriptor-watch.ts';
import { sizeText } from '../../base/process/disk-space.ts';
import type { NodePulse } from '../../plane/link.ts';
import type { DatabaseState } from '../db/tx.ts';
import type { RecordStats } from '../db/usage/records.ts';
import type { Keys } from '../core/secrets/keys.ts';
import type { DiskState } from './disk-watch.ts';
import type { BackupStatus } from '../backups/service.ts';
import { verdictOf } from '../backups/verdict.ts';
import type { JobTime } from '../core/job-times.ts';

export interface Check {
  readonly name: string;
  readonly status: 'ok' | 'warn' | 'fail';
  /** Public: without a path, a host, a version or a figure of what the server has. */
  readonly detail: string;
  /** For those who run the server. */
  readonly full: string;
  /** What they can do; empty when there is nothing to do. */
  readonly next: string;
}

/** Certificates by ACME may live for six days. */
const ACME_WARN_MS = 2 * DAY_MS;
/** Others are renewed by hand, or a month before their end. */
const WARN_MS = 14 * DAY_MS;
const MAIL_WARN_MS = 10 * 60_000;
const JOB_LATE_MS = 5 * 60_000;
/** The server logs a lower limit at its start. */
const FEW_DESCRIPTORS = 4_096;
const DESCRIPTORS_NEAR = 0.9;

type ForOperators = Partial<Pick<Check, 'full' | 'next'>>;
const ok = (name: string, detail: string, full = detail): Check => ({ name, status: 'ok', detail, full, next: '' });
const warn = (name: string, detail: string, { full = detail, next = '' }: ForOperators): Check => ({
  ...{ name, status: 'warn', detail, full, next },
});
const fail = (name: string, detail: string, { full = detail, next = '' }: ForOperators): Check => ({
  ...{ name, status: 'fail', detail, full, next },
});
const seconds = (ms: number): string => `${Math.round(ms / 1_000)} s`;

const DATABASE = {
  failed: {
    detail: 'The database is read-only: its disk is full or faulty.',
    next: 'Free space, or replace the disk.',
  },
  slow: { detail: 'The disk does not confirm writes.', next: 'Check the disk.' },
  locked: { detail: 'Another program has locked the database.', next: 'Stop that program.' },
  damaged: { detail: 'The database is damaged.', next: 'Restore it.' },
  gone: { detail: 'The database file is missing.', next: 'Restore it.' },
} as const;

export function database({ kind, forMs, detail: known }: DatabaseState, dataDir: string): Check {
  const name = 'database';
  if (kind === 'ok') return ok(name, 'The database is writable.', `The database in ${dataDir} is writable.`);
  const { detail, next } = DATABASE[kind];
  if (known !== undefined) return fail(name, detail, { full: known });
  return fail(name, detail, { full: `${detail} It began ${seconds(forMs)} ago, in ${dataDir}.`, next });
}

export function diskSpace({ level, free, total, floor }: DiskState, dataDir: string): Check {
  const name = 'disk_space';
  const next = 'Free space.';
  if (level === 'silent')
    return fail(name, 'The disk does not respond.', { full: `The disk of ${dataDir} does not respond.` });
  const figures = `${sizeText(free)} of ${sizeText(total)} are free on the disk of ${dataDir}; recordings stop below ${sizeText(floor)}.`;
  if (level === 'low')
    return warn(name, 'The disk is nearly full: requests are not recorded.', { full: figures, next });
  if (level === 'critical') return fail(name, 'The disk is full: changes may fail.', { full: figures, next });
  return ok(name, 'The disk has space.', total === 0 ? 'The free space of the disk is unknown.' : figures);
}

export function dataNode(pulse: NodePulse | undefined): Check {
  const name = 'data_node';
  if (pulse !== undefined) return ok(name, 'Visitors and agents are served.');
  return fail(name, 'The part that serves visitors and agents does not respond.', {
    next: 'Read the log. If it goes on, restart the server.',
  });
}

export function keys(of: Pick<Keys, 'signing'>): Check {
  try {
    of.signing('access');
    of.signing('capability');
    return ok('keys', 'The signing keys are loaded.');
  } catch {
    return fail('keys', 'A signing key is missing.', { next: 'Restore the database with its seal.key.' });
  }
}

/** `unreadable`: keys of secrets that were set in the dashboard. */
export function settings(unreadable: ReadonlySet<string>): Check {
  const name = 'settings';
  if (unreadable.size === 0) return ok(name, 'All settings can be read.');
  return warn(name, "A setting of the dashboard can't be read.", {
    full: `Settings of the dashboard can't be decrypted and are ignored: ${[...unreadable].join(', ')}.`,
    next: 'Enter them again under Operator, Instance, or restore the seal.key of this database.',
  });
}

export function recording(isOn: boolean, { trouble, lost }: RecordStats): Check {
  const name = 'recording';
  if (!isOn) return ok(name, 'Recording is off.');
  if (trouble === undefined) return ok(name, 'Requests are recorded.');
  const all = Object.values(lost).reduce((sum, each) => sum + each, 0);
  const detail = 'Requests are not recorded.';
  const full = `${detail} The reason is "${trouble}"; ${all} records were lost since the start.`;
  return warn(name, detail, { full, next: 'See the log.' });
}

export function certificates(
  pulse: NodePulse | undefined,
  acme: ReadonlyArray<{ readonly name: string; readonly expiresAt: number }>,
  now: number,
): Check {
  const own = [
    { name: 'of the edge (edge.tls)', expiresAt: pulse?.edgeEndsAt ?? null, warnMs: WARN_MS },
    { name: 'of the agent listener', expiresAt: pulse?.agentsEndsAt ?? null, warnMs: WARN_MS },
    ...acme.map(({ name, expiresAt }) => ({ name: `for ${name}`, expiresAt, warnMs: ACME_WARN_MS })),
  ];
  const ending = own.flatMap(({ name, expiresAt, warnMs }) =>
    expiresAt !== null && expiresAt - now < warnMs ? [{ name, expiresAt }] : [],
  );
  if (ending.length === 0) return ok('certificates', 'No certificate is about to expire.');
  const list = ending.map((one) => `${one.name} on ${new Date(one.expiresAt).toISOString()}`).join(', ');
  const isOver = ending.some(({ expiresAt }) => expiresAt <= now);
  const detail = isOver ? 'A certificate has expired.' : 'A certificate is about to expire.';
  const more = { full: `Certificates expire: ${list}.`, next: 'See culvert admin certificates.' };
  return isOver ? fail('certificates', detail, more) : warn('certificates', detail, more);
}

export function mail({ waiting, oldestMs }: { readonly waiting: number; readonly oldestMs: number }): Check {
  const name = 'mail';
  if (oldestMs < MAIL_WARN_MS) return ok(name, 'Emails are sent.', `${waiting} emails are waiting.`);
  const detail = 'Emails are not sent.';
  const full = `${detail} ${waiting} are waiting, the oldest for ${seconds(oldestMs)}.`;
  return warn(name, detail, { full, next: 'See mail.smtp_url and the log.' });
}

/** Undefined: no server runs in this process. */
export function fileDescriptors(figures: DescriptorFigures | undefined): Check {
  const name = 'file_descriptors';
  if (figures === undefined || figures.limit === null) return ok(name, 'The limit of open files is unknown.');
  const { limit, used, lacks } = figures;
  const full = `${used} of ${limit} file descriptors are in use; all were in use at ${lacks} checks since the start.`;
  const next = 'Raise LimitNOFILE of the unit, or `ulimit -n`.';
  if (used >= limit) return fail(name, 'No file descriptor is free: connections are refused.', { full, next });
  if (used >= limit * DESCRIPTORS_NEAR) return warn(name, 'File descriptors are nearly used up.', { full, next });
  if (limit < FEW_DESCRIPTORS) return warn(name, 'The limit of open files is low.', { full, next });
  return ok(name, 'File descriptors are free.', full);
}

/** Agents of an older minor version: they are served, and lack what came since. */
export function agents(versions: readonly string[], own: string): Check {
  const name = 'agents';
  const old = versions.filter((version) => isOlder(version, own));
  if (old.length === 0) return ok(name, 'No agent runs an older version.', `${versions.length} agents are connected.`);
  const counts = [...Map.groupBy(old, (version) => version)].map(([version, of]) => `${version}: ${of.length}`).sort();
  const full = `${old.length} of ${versions.length} agents are older than this server (${own}): ${counts.join(', ')}.`;
  return warn(name, 'Some agents run an older version.', { full, next: 'Update the program on their machines.' });
}

/** By major and minor number. What is no version is not compared. */
function isOlder(version: string, own: string): boolean {
  const [theirs, ours] = [numbersOf(version), numbersOf(own)];
  if (theirs === undefined || ours === undefined) return false;
  const [major, minor] = [theirs.major - ours.major, theirs.minor - ours.minor];
  return major < 0 || (major === 0 && minor < 0);
}

function numbersOf(version: string): { readonly major: number; readonly minor: number } | undefined {
  const match = /^(\d{1,6})\.(\d{1,6})\./.exec(version);
  return match === null ? undefined : { major: Number(match[1]), minor: Number(match[2]) };
}

export function jobs(list: readonly JobTime[]): Check {
  const name = 'jobs';
  const bad = list.filter(({ lastFailed, lateMs }) => lastFailed || lateMs > JOB_LATE_MS);
  if (bad.length === 0) return ok(name, 'Scheduled jobs run.');
  const detail = 'A scheduled job failed or is late.';
  return warn(name, detail, { full: `${detail} ${bad.map((job) => job.name).join(', ')}.`, next: 'See the log.' });
}

export function backups(status: BackupStatus, now: number): Check {
  const name = 'backups';
  const { kind, ageMs, reason } = verdictOf(status, { ...status, now });
  const age =
    ageMs === null
      ? 'There is no scheduled backup yet.'
      : `The newest scheduled backup is ${(ageMs / HOUR_MS).toFixed(1)} h old.`;
  switch (kind) {
    case 'off':
      return ok(
        name,
        'Scheduled backups are off.',
        'Scheduled backups are off. To turn them on, set backup.folder or [backup.s3].',
      );
    case 'failed':
      return warn(name, 'The last backup failed.', {
        full: `The last backup failed: ${reason ?? ''} ${age}`,
        next: 'Mend the reason; the server tries again.',
      });
    case 'late':
      return warn(name, 'The last backup is too old.', {
        full: `The last backup is too old. ${age}`,
        next: 'See the log.',
      });
    default:
      return ok(name, 'Backups are made.', `Backups are made. ${age}`);
  }
}

export function log({ lost, isLosing }: { readonly lost: number; readonly isLosing: boolean }): Check {
  const name = 'log';
  if (!isLosing) return ok(name, 'The log is writable.', `${lost} lines were lost since the start.`);
  const detail = "The log can't be written.";
  const full = `${detail} ${lost} lines were lost since the start.`;
  return warn(name, detail, { full, next: 'Free space on its disk, or start its reader again.' });
}
