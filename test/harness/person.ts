/**
 * A machine on which a user has logged in with `culvert login`, and the commands that they run there: in this process, where a start of the
 * program is not what is looked at. Of a server in a process of its own.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { run as runHere } from '../../src/cli/fixtures/in-process.ts';
import type { Ends } from './ends.ts';
import { culvertCommand, type SpawnedCulvert, type SpawnOptions, shared, spawnCulvert } from './spawned.ts';

export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Machine {
  readonly culvert: SpawnedCulvert;
  readonly home: string;
  readonly env: NodeJS.ProcessEnv;
  /** Runs a command to its end; `more` stands in its environment. The built file where CULVERT_BIN names one. */
  run(words: readonly string[], more?: NodeJS.ProcessEnv): Promise<Ended>;
  /** The same in a process of its own. */
  spawn(words: readonly string[], more?: NodeJS.ProcessEnv): Promise<Ended>;
  /** `run`, which must end well: its standard output. */
  ok(...words: string[]): Promise<string>;
}

/** Runs a program to its end, 60 s at most. */
export function endOf(
  program: string,
  args: readonly string[],
  options: { cwd: string; env: NodeJS.ProcessEnv },
): Promise<Ended> {
  return new Promise((resolve) => {
    const child = execFile(program, args, { ...options, timeout: 60_000 }, (_error, stdout, stderr) => {
      resolve({ code: child.exitCode ?? -1, stdout, stderr });
    });
  });
}

/** A machine on which the owner has logged in. */
export async function machine(t: Ends, options: SpawnOptions = {}): Promise<Machine> {
  const culvert = await spawnCulvert(t, options);
  const home = join(culvert.folder, 'person');
  mkdirSync(home);
  const env = { PATH: process.env['PATH'], HOME: home, XDG_RUNTIME_DIR: home };
  const [program = '', ...first] = culvertCommand();
  const spawn: Machine['spawn'] = (words, more = {}) =>
    endOf(program, [...first, ...words], { cwd: home, env: { ...env, ...more } });
  const isBuilt = Boolean(process.env['CULVERT_BIN']);
  const run: Machine['run'] = (words, more = {}) =>
    isBuilt ? spawn(words, more) : runHere(words, { home, env: { ...env, ...more } });
  const ok: Machine['ok'] = async (...words) => {
    const { code, stdout, stderr } = await run(words);
    assert.equal(code, 0, `${words.join(' ')}: ${stderr}`);
    return stdout;
  };
  const login = culvert.agent(['login'], { env: { ...env, CULVERT_TOKEN: '' } });
  const code = await login.printed(/\/app\/cli\?device_code=(\S+)/);
  await culvert.account.call('POST', '/auth/cli/authorize', { device_code: code });
  assert.equal(await login.ended(), 0);
  return { culvert, home, env, run, spawn, ok };
}

/** One for the tests of a suite, called in its body (`sharedCulvert`, spawned.ts). */
export function sharedMachine(): () => Promise<Machine> {
  return shared((ending) => machine(ending));
}
