/** One run of the schedule: a backup to the folder and the store of the settings, and older ones deleted there. Runs in a thread (backup-worker.ts). */
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { messageOf } from '../../base/errors.ts';
import { Secret } from '../../base/secret.ts';
import type { Settings } from '../../config/schema.ts';
import type { MadeBackup } from '../../control/backups/state.ts';
import { createBackup, PARTIAL } from './create.ts';
import { adviceFor, readPassphrase } from './encryption.ts';
import { BackupError } from './format.ts';
import { checkBackup } from './restore.ts';
import { S3Store } from './s3.ts';
import { type BackupSource, sourceOf } from './source.ts';
import { makeWorkFolder } from './work-folder.ts';

/** Plain data: it goes to a thread. */
export interface BackupTask {
  readonly source: BackupSource;
  readonly folder: string | null;
  readonly s3: Settings['backup']['s3'];
  readonly keep: number;
  readonly passphraseFile: string | null;
  /** Several servers may share a folder or a bucket: each deletes its own backups alone. */
  readonly serverId: string;
  /** Also restore it, to a temporary folder. */
  readonly check: boolean;
  /** When the last scheduled backup was made that succeeded. */
  readonly last: number | null;
  readonly now: number;
}

export interface TaskDone {
  readonly made: MadeBackup;
  readonly checked: boolean;
  /** Files that the settings name and that are not in the backup. */
  readonly leftOut: readonly string[];
}

export function isBackupOn({ backup }: Settings): boolean {
  return backup.folder !== null || backup.s3.bucket !== null;
}

export type TaskTime = Pick<BackupTask, 'now' | 'check' | 'last'>;

export function taskOf(
  settings: Settings,
  about: { readonly settingsFile: string | null; readonly version: string; readonly serverId: string },
  when: TaskTime,
): BackupTask {
  const { folder, s3, keep, passphrase_file: passphraseFile } = settings.backup;
  const source = sourceOf(settings, about.settingsFile, about.version);
  return { source, folder, s3, keep, passphraseFile, serverId: about.serverId, ...when };
}

/** Throws BackupError; what was made until then stays. */
export async function runTask(task: BackupTask): Promise<TaskDone> {
  const { source, folder, passphraseFile, now, check } = task;
  const began = performance.now();
  const passphrase = passphraseFile === null ? undefined : readPassphrase(passphraseFile);
  const store = storeOf(task.s3);
  const work = makeWorkFolder(source.dataDir, 'backup-upload-');
  try {
    const name = nameOf(task.serverId, now);
    if (folder !== null) removePartial(folder, task.serverId);
    const file = join(folder ?? work, name);
    const { bytes, leftOut } = await createBackup(source, { file, passphrase, now });
    // Before all that may fail: a store that is away must not fill the disk, one attempt after the other.
    if (folder !== null)
      for (const old of expired(readdirSync(folder), name, task)) rmSync(join(folder, old), { force: true });
    if (check) checkBackup({ file, passphrase, now }, source.dataDir);
    if (store !== undefined) await upload(store, { name, file, bytes });
    if (store !== undefined) await removeExpired(store, name, task);
    const places = [...(folder === null ? [] : [resolve(folder)]), ...(store === undefined ? [] : [store.place])];
    const tookMs = performance.now() - began;
    const made = { at: now, name, bytes, tookMs, encrypted: passphrase !== undefined, places };
    return { made, checked: check, leftOut };
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

async function upload(
  store: S3Store,
  { name, file, bytes }: { readonly name: string; readonly file: string; readonly bytes: number },
): Promise<void> {
  await store.put(name, file);
  const stored = (await store.list()).find((object) => object.name === name);
  if (stored?.size === bytes) return;
  throw new BackupError(
    `the store took the upload of ${name}, and lists ${stored === undefined ? 'no such object' : `${stored.size} bytes of it`}. Check backup.s3.bucket and backup.s3.prefix.`,
  );
}

async function removeExpired(store: S3Store, made: string, task: BackupTask): Promise<void> {
  const names = (await store.list()).map(({ name }) => name);
  for (const old of expired(names, made, task)) await store.remove(old);
}

function storeOf(s3: BackupTask['s3']): S3Store | undefined {
  const { endpoint, bucket, prefix, region, access_key_file: accessFile, secret_key_file: secretFile } = s3;
  if (endpoint === null || bucket === null || accessFile === null || secretFile === null) return undefined;
  const secretKey = new Secret(readKeyFile(secretFile));
  return new S3Store({ endpoint, bucket, prefix, region, accessKey: readKeyFile(accessFile), secretKey });
}

function readKeyFile(file: string): string {
  let text: string;
  try {
    text = readFileSync(file, 'utf8').trim();
  } catch (cause) {
    throw new BackupError(
      `the key file ${file} of [backup.s3] can't be read: ${messageOf(cause)}. ${adviceFor(cause)}`,
      {
        cause,
      },
    );
  }
  if (/^\S{1,500}$/.test(text)) return text;
  throw new BackupError(`${file} of [backup.s3] has no key in it. Write the key alone, without spaces.`);
}

/** Sorts by time. */
function nameOf(serverId: string, now: number): string {
  const at = new Date(now).toISOString().replaceAll(/[:-]|\.\d{3}/g, '');
  return `culvert-${serverId.slice(0, 8)}-${at}.culvert`;
}

/**
 * All but the one just made and the newest beside it. The file of an attempt that failed goes with the next one: attempts come every quarter of an
 * hour, and would soon take the place of all backups of earlier days.
 */
function expired(
  names: readonly string[],
  made: string,
  { serverId, keep, last, now }: Pick<BackupTask, 'serverId' | 'keep' | 'last' | 'now'>,
): string[] {
  const own = new RegExp(`^culvert-${serverId.slice(0, 8)}-\\d{8}T\\d{6}Z\\.culvert$`);
  const others = names
    .filter((name) => own.test(name) && name !== made)
    .sort()
    .toReversed();
  // Of a clock that was ahead: the first to go, or they would outlive all that are made from now on.
  const ahead = others.filter((name) => name > made);
  const before = others.filter((name) => name < made);
  const failed = last === null || last > now ? [] : before.filter((name) => name > nameOf(serverId, last));
  const succeeded = before.filter((name) => !failed.includes(name));
  return [...failed, ...[...succeeded, ...ahead].slice(keep - 1)];
}

/** Of a server that was killed. */
function removePartial(folder: string, serverId: string): void {
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch (cause) {
    // Not made here: a disk may not be mounted.
    throw new BackupError(`backup.folder ${folder} can't be used: ${messageOf(cause)}. Mount its disk or create it.`, {
      cause,
    });
  }
  const begin = `culvert-${serverId.slice(0, 8)}-`;
  for (const name of names) {
    if (name.startsWith(begin) && name.endsWith(PARTIAL)) rmSync(join(folder, name), { force: true });
  }
}
