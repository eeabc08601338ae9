/** What becomes of a settings file that is there already: never replaced without a question when its settings are others. */
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { checkServerConfig } from '../../config/load.ts';
import { ConfigError } from '../../config/toml.ts';

/** `edited`: by hand, or written by a setup with other arguments. A replacement needs its owner's word. */
export type ConfigState = 'missing' | 'same' | 'sample' | 'edited';

export function stateOf(existing: string | undefined, wanted: string): ConfigState {
  if (existing === undefined) return 'missing';
  if (existing === wanted || sameSettings(existing, wanted)) return 'same';
  return isSample(existing) ? 'sample' : 'edited';
}

function sameSettings(one: string, other: string): boolean {
  const settings = settingsOf(one);
  return settings !== undefined && isDeepStrictEqual(settings, settingsOf(other));
}

function settingsOf(text: string): unknown {
  try {
    return checkServerConfig(text, 'settings').settings;
  } catch (error) {
    if (error instanceof ConfigError) return undefined;
    throw error;
  }
}

/** What the install script and the packages write, and nothing else: no one has set anything yet. */
const SAMPLE: ReadonlySet<string> = new Set([
  'data_dir = "/var/lib/culvert"',
  'signup = "closed"',
  'mode = "none"',
  'default = "enterprise"',
]);

function isSample(text: string): boolean {
  return text
    .split('\n')
    .map((line) => line.replace(/#.*$/, '').trim())
    .filter((line) => line !== '' && !/^\[[\w.]+\]$/.test(line))
    .every((line) => SAMPLE.has(line));
}

export function readIfThere(file: string): string | undefined {
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** In one step. The group of the server may read it; without one, all may: no secret is in it yet. */
export function writeConfig(file: string, text: string, group: Owner | undefined): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o755 });
  const next = `${file}.new`;
  writeFileSync(next, text, { mode: group === undefined ? 0o644 : 0o640 });
  if (group !== undefined && process.getuid?.() === 0) chownSync(next, 0, group.gid);
  renameSync(next, file);
}

/** A file that only root may read, as a copy of root's is, gets the group of the server; so does its folder. True when one of them did. */
export function letServerRead(file: string, group: Owner | undefined): boolean {
  if (group === undefined || process.getuid?.() !== 0) return false;
  const changed = [openTo(group.gid, dirname(file), 0o5), openTo(group.gid, file, 0o4)];
  return changed.includes(true);
}

/** `bits`: what the group needs, as the last digit of a mode. */
function openTo(gid: number, path: string, bits: number): boolean {
  const { mode, uid, gid: current } = statSync(path);
  const others = mode & bits;
  const ofGroup = (mode >> 3) & bits;
  // Another owner or group is a choice of the administrator.
  if (uid !== 0 || others === bits || (current !== 0 && current !== gid) || (current === gid && ofGroup === bits))
    return false;
  chownSync(path, 0, gid);
  chmodSync(path, (mode & 0o7777) | (bits << 3));
  return true;
}

/** Lines of both texts: `-` of the first alone, `+` of the second alone. */
export function differences(before: string, after: string): string[] {
  const [a, b] = [before.trimEnd().split('\n'), after.trimEnd().split('\n')];
  const common = longestCommon(a, b);
  const out: string[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    const [left, right] = [a[i], b[j]];
    if (left !== undefined && left === right) [i, j] = [i + 1, j + 1];
    else if (left !== undefined && (right === undefined || at(common, i + 1, j) >= at(common, i, j + 1))) {
      out.push(`- ${left}`);
      i++;
    } else {
      out.push(`+ ${right}`);
      j++;
    }
  }
  return out.filter((line) => !/^[-+]\s*(#.*)?$/.test(line));
}

function longestCommon(a: readonly string[], b: readonly string[]): number[][] {
  const table = Array.from({ length: a.length + 1 }, () => Array<number>(b.length + 1).fill(0));
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      const row = table[i];
      if (row === undefined) continue;
      row[j] = a[i] === b[j] ? at(table, i + 1, j + 1) + 1 : Math.max(at(table, i + 1, j), at(table, i, j + 1));
    }
  }
  return table;
}

const at = (table: readonly number[][], i: number, j: number): number => table[i]?.[j] ?? 0;
