/**
 * Errors about files for the operator, in one line: which file, why, and what to do. For whatever runs once at a start or in a command.
 */
import { accessSync, constants, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { codeOf, messageOf } from '../errors.ts';

/** Why, and what to do. */
interface Reason {
  readonly why: string;
  readonly next: string;
}

export interface FileFault {
  /** What failed, with the file in it, e.g. `/x/serve.lock can't be locked`. */
  readonly doing: string;
  readonly file: string;
  /** What to do about a damaged file; it is the caller's to know. */
  readonly damaged?: string;
  /** What to do where another place would help, e.g. `set data_dir to another folder`. */
  readonly elsewhere?: string;
}

/** Says all that there is to say. */
export class FileError extends Error {}

/** The error to throw for `cause`, whose code it keeps. */
export function fileFault(cause: unknown, fault: FileFault): FileError {
  const { why, next } = reasonOf(cause, fault);
  const error = new FileError(oneLine(`${fault.doing}: ${why}. ${next}`.trimEnd()), { cause });
  const code = codeOf(cause);
  return code === undefined ? error : Object.assign(error, { code });
}

export function oneLine(text: string): string {
  return text.replace(/\s*\n\s*/g, ' ');
}

function reasonOf(cause: unknown, { file, damaged = '', elsewhere }: FileFault): Reason {
  const or = elsewhere === undefined ? '.' : `, or ${elsewhere}.`;
  // SQLite does not say why it may not write, the system does.
  const said = codeOf(cause) ?? '';
  const code = /^SQLITE_(CANTOPEN|READONLY)/.test(said) ? (denialOf(file) ?? said) : said;
  if (/^(ENOSPC|EDQUOT|SQLITE_FULL|SQLITE_IOERR_SHMSIZE)$/.test(code)) {
    return { why: 'its disk is full', next: 'Free some space on it, then try again.' };
  }
  if (code === 'EROFS' || code.startsWith('SQLITE_READONLY')) {
    return { why: 'its file system is read-only', next: `Make it writable${or}` };
  }
  if (code === 'EACCES' || code === 'EPERM')
    return { why: denied(file), next: `Change the owner or the permissions${or}` };
  if (code === 'EISDIR') return { why: 'it is a folder, not a file', next: `Move it away${or}` };
  if (code === 'ENOTDIR' || code === 'EEXIST') {
    return { why: 'a file is in the place of a folder', next: `Move it away${or}` };
  }
  if (/^SQLITE_(CORRUPT|NOTADB)/.test(code)) return { why: `it is damaged (${messageOf(cause)})`, next: damaged };
  if (code === 'EIO' || code.startsWith('SQLITE_IOERR')) {
    return { why: `its disk failed (${code})`, next: 'Check the disk and the kernel log.' };
  }
  if (/^SQLITE_(BUSY|LOCKED)/.test(code)) {
    return { why: 'another program has locked it', next: 'Stop that program, then try again.' };
  }
  if (code === 'EMFILE' || code === 'ENFILE') {
    return { why: 'too many files are open', next: 'Raise LimitNOFILE of the unit, or `ulimit -n`.' };
  }
  return { why: messageOf(cause), next: elsewhere === undefined ? '' : `Fix this${or}` };
}

/** EACCES or EROFS where this user may not write to the file or make one beside it. */
function denialOf(file: string): string | undefined {
  for (const path of [file, dirname(file)]) {
    try {
      accessSync(path, constants.W_OK);
    } catch (error) {
      const code = codeOf(error);
      if (code === 'EACCES' || code === 'EROFS') return code;
    }
  }
  return undefined;
}

function denied(file: string): string {
  const me = process.getuid?.();
  const owner = ownerOf(file);
  const who = me === undefined ? 'this user' : `the user ${userName(me)}`;
  return `${who} has no access to it${owner === undefined ? '' : `; ${owner.path} belongs to ${userName(owner.uid)}`}`;
}

/** Of the file, or of the nearest folder above it that is there and can be seen. */
function ownerOf(file: string): { readonly path: string; readonly uid: number } | undefined {
  for (let path = file; ; path = dirname(path)) {
    try {
      return { path, uid: statSync(path).uid };
    } catch {
      if (path === dirname(path)) return undefined;
    }
  }
}

/** As sudo takes it: the name, or `#` and the number for a user who has none here. */
export function userName(uid: number): string {
  try {
    for (const line of readFileSync('/etc/passwd', 'utf8').split('\n')) {
      const [name = '', , id] = line.split(':');
      if (Number(id) === uid && name !== '') return name;
    }
  } catch {
    // Users may be kept elsewhere: the number does as well.
  }
  return `'#${uid}'`;
}
