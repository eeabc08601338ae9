/** Programs of the system that tests use as clients. A test that needs one that is not there says so and is skipped. */
import { spawn, spawnSync } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Where a program lies in the folders of PATH, or undefined. A path stands for itself. */
export function findProgram(name: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  const places = name.includes('/') ? [name] : folders.map((folder) => join(folder, name));
  return places.find(canBeRun);
}

function canBeRun(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false; // not there, or not for this user
  }
}

/** A reason to skip, or false: for the `skip` option of a test. */
export function missing(...programs: string[]): string | false {
  const absent = programs.filter((name) => findProgram(name) === undefined);
  return absent.length > 0 && `not installed: ${absent.join(', ')}`;
}

/** Namespaces and their links need root and iproute2. */
export function noNamespaces(): string | false {
  if (process.getuid?.() !== 0) return 'network namespaces need root';
  const without = missing('ip');
  if (without !== false) return without;
  const probe = `culvert-probe-${process.pid}`;
  const { status, stderr } = spawnSync('ip', ['netns', 'add', probe], { encoding: 'utf8' });
  if (status !== 0) return `no network namespaces here: ${stderr.trim()}`;
  spawnSync('ip', ['netns', 'del', probe]);
  return false;
}

/** Runs a program to its end. It is killed after `timeoutMs`. */
export function run(command: readonly string[], timeoutMs = 60_000): Promise<Outcome> {
  const [file = '', ...args] = command;
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      clearTimeout(timer);
      resolve({ code, stdout, stderr });
    });
  });
}
