/** What programs are installed, started and used with. What they leave on the machine is in a cache folder; the rest ends with them. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { connect } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../../test/harness/config.ts';
import { Ending, type Ends } from '../../test/harness/ends.ts';
import { findProgram } from '../../test/harness/tools.ts';
import { NotHere } from './program.ts';

/** Where packages from npm and PyPI stay between runs, also those of tests, which have a temporary folder of their own. */
export const CACHE = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'culvert-compat');

const START_MS = 120_000;
const RUN_MS = 300_000;
/** Time for a server to end before it is killed. */
const STOP_MS = 5_000;
/** Lines of a program's output in an error message. */
const KEPT = 1500;
/** A user and group without rights: database servers refuse to run as root. */
const UNPRIVILEGED_ID = 65_534;

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly input?: string;
  /** As an unprivileged user, when this process is root. */
  readonly unprivileged?: boolean;
}

export interface KitOptions {
  readonly cache: string;
  /** Whether packages may be installed: from npm and PyPI into the cache, from Debian on the machine. */
  readonly installs: boolean;
}

export class Kit implements Ends {
  /** Empty, and removed at the end. */
  readonly folder: string;
  readonly #options: KitOptions;
  readonly #ending = new Ending();

  constructor(options: KitOptions) {
    this.#options = options;
    this.folder = mkdtempSync(join(tmpdir(), 'culvert-compat-run-'));
    this.after(() => rmSync(this.folder, { recursive: true, force: true }));
  }

  readonly freePort = freePort;

  after(close: () => unknown): void {
    this.#ending.after(close);
  }

  /** Ends what was started. */
  close(): Promise<void> {
    return this.#ending.run();
  }

  /** Writes files into the folder: path → text. */
  write(files: Readonly<Record<string, string>>): void {
    for (const [path, text] of Object.entries(files)) {
      const file = join(this.folder, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
    }
  }

  /** A new folder in the folder that the unprivileged user may write. */
  makeFolder(name: string): string {
    const path = join(this.folder, name);
    mkdirSync(path);
    if (process.getuid?.() === 0) {
      chownSync(this.folder, UNPRIVILEGED_ID, UNPRIVILEGED_ID);
      chownSync(path, UNPRIVILEGED_ID, UNPRIVILEGED_ID);
    }
    return path;
  }

  /** Programs of the system: name → Debian's package. */
  async needs(programs: Readonly<Record<string, string>>): Promise<void> {
    const missing = Object.keys(programs).filter((name) => findProgram(name) === undefined);
    if (missing.length === 0) return;
    const packages = missing.map((name) => programs[name] ?? name);
    if (!this.#options.installs) throw new NotHere(`not installed: ${missing.join(', ')}`);
    if (process.getuid?.() !== 0 || findProgram('apt-get') === undefined) throw new NotHere('needs root and apt-get');
    await this.run(['apt-get', 'install', '-y', '--no-install-recommends', ...packages], {
      env: { DEBIAN_FRONTEND: 'noninteractive' },
    }).catch((error: unknown) => {
      throw new NotHere(`apt-get: ${String(error)}`);
    });
  }

  /** Version of a package in a folder of `npm`. */
  versionIn(folder: string, name: string): string {
    const file = join(folder, 'node_modules', name, 'package.json');
    return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
  }

  /** A folder whose node_modules has the packages. */
  npm(name: string, packages: readonly string[], overrides: Readonly<Record<string, string>> = {}): Promise<string> {
    return this.#cached(`npm-${name}`, async (folder) => {
      writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, overrides }));
      await this.run(['npm', 'install', '--no-audit', '--no-fund', ...packages], { cwd: folder });
    });
  }

  /** The programs' folder of a Python environment that has the packages. */
  async pip(name: string, packages: readonly string[]): Promise<string> {
    if (findProgram('python3') === undefined) throw new NotHere('python3 not installed');
    const folder = await this.#cached(`pip-${name}`, async (made) => {
      await this.run(['python3', '-m', 'venv', '--copies', made]);
      await this.run([join(made, 'bin/python'), '-m', 'pip', 'install', '-q', '--retries', '0', ...packages]);
    });
    return join(folder, 'bin');
  }

  /** Made once; a run that was cut leaves nothing that looks complete. */
  async #cached(name: string, make: (folder: string) => Promise<void>): Promise<string> {
    const folder = join(this.#options.cache, name);
    const done = join(folder, '.complete');
    if (existsSync(done)) return folder;
    if (!this.#options.installs) throw new NotHere(`${name} is not in the cache (use --install)`);
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    await make(folder).catch((error: unknown) => {
      throw new NotHere(`could not be installed: ${String(error)}`);
    });
    writeFileSync(`${done}.new`, '');
    renameSync(`${done}.new`, done);
    return folder;
  }

  /** The unprivileged user writes temporary files here: the folder for those of this process is another user's. */
  #own(options: RunOptions): RunOptions {
    return options.unprivileged === true ? { ...options, env: { TMPDIR: this.folder, ...options.env } } : options;
  }

  /** Runs a program to its end. Resolves with its output. @throws when it fails */
  async run(command: readonly string[], options: RunOptions = {}): Promise<string> {
    const child = start(command, this.#own(options));
    child.stdin?.on('error', () => undefined).end(options.input ?? ''); // it may end without reading
    const output = outputOf(child);
    const timer = setTimeout(() => kill(child), RUN_MS);
    const [code] = (await once(child, 'close').finally(() => clearTimeout(timer))) as [number | null];
    if (code !== 0) throw new Error(`${command.slice(0, 3).join(' ')} ended with ${code}: ${output().slice(-KEPT)}`);
    return output();
  }

  /** Starts a server and waits until it accepts connections. Ended with the kit, with its children. */
  async serve(command: readonly string[], port: number, options: RunOptions = {}): Promise<void> {
    // No stdin: rsync takes a socket there for its client.
    const child = start(command, this.#own(options), 'ignore');
    const output = outputOf(child);
    let fault: string | undefined;
    const closed = once(child, 'close').then(
      () => (fault = `${command[0]} ended`),
      (error: unknown) => (fault = String(error)),
    );
    this.after(async () => {
      // Shared memory of a database server that is killed stays on the machine.
      kill(child, 'SIGTERM');
      const timer = setTimeout(() => kill(child), STOP_MS);
      await closed.finally(() => clearTimeout(timer));
      kill(child); // what it started and left behind
    });
    const deadline = Date.now() + START_MS;
    while (!(await accepts(port))) {
      if (Date.now() > deadline) fault ??= `${command[0]} does not listen`;
      if (fault !== undefined) throw new Error(`${fault}: ${output().slice(-KEPT)}`);
      await pause(100);
    }
  }
}

const running = new Set<ChildProcess>();
process.on('exit', () => running.forEach((child) => kill(child)));

/** In a process group of its own: development servers start others. */
function start(
  command: readonly string[],
  { cwd, env, unprivileged }: RunOptions,
  stdin: 'pipe' | 'ignore' = 'pipe',
): ChildProcess {
  const [file = '', ...args] = command;
  const user = unprivileged === true && process.getuid?.() === 0 ? { uid: UNPRIVILEGED_ID, gid: UNPRIVILEGED_ID } : {};
  const child = spawn(file, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: [stdin, 'pipe', 'pipe'],
    detached: true,
    ...user,
  });
  running.add(child);
  child.on('close', () => running.delete(child));
  return child;
}

function outputOf(child: ChildProcess): () => string {
  let output = '';
  const take = (chunk: Buffer): void => {
    output += chunk.toString();
  };
  child.stdout?.on('data', take);
  child.stderr?.on('data', take);
  return () => output;
}

function kill(child: ChildProcess, signal: NodeJS.Signals = 'SIGKILL'): void {
  try {
    process.kill(-(child.pid ?? 0), signal);
  } catch {
    // it has ended
  }
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, 'localhost');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
