/** A program of a few lines as an installer leaves it, with the settings and the database of a server, and `culvert upgrade` for it. */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { PassThrough, Writable } from 'node:stream';
import { type Installed, upgradeOn } from '../../src/cli/server/upgrade.ts';
import { ExitError } from '../../src/cli/terminal/exit.ts';
import type { Io } from '../../src/cli/terminal/io.ts';

/** What stands in a database that the new version has migrated. */
const NEW_FORMAT = 'in-the-new-format';

export interface Script {
  readonly version: string;
  /** It starts with a database in the new format. */
  readonly isNew?: boolean;
  /** A command that fails: `config check FILE`, or `config check --migrate FOLDER`. */
  readonly fails?: 'settings' | 'migration';
}

/** A shell script that answers the commands of an upgrade as a program would. */
export function script({ version, isNew = false, fails }: Script): string {
  const fail = (what: Script['fails']): string =>
    fails === what ? `echo "culvert: the ${what} fails" >&2; exit 1; ` : '';
  // The path of the test may lead to folders that the user of the data folder may not read.
  return `#!/bin/sh
PATH=/usr/bin:/bin
case "$1 $2 $3" in
  "version  ") echo "culvert ${version} (commit 0000000)" ;;
  "config check --migrate") ${fail('migration')}${isNew ? '' : `grep -q ${NEW_FORMAT} "$4/culvert.db" && exit 10`}
    grep -q SQLite "$4/culvert.db" && echo >>"$4/written" ;;
  "config check "*) ${fail('settings')}[ -f "$3" ] ;;
  *) exit 9 ;;
esac
`;
}

export interface Home {
  readonly folder: string;
  readonly program: string;
  readonly config: string;
  readonly dataDir: string;
  /** Commands of the system are found here alone. */
  readonly tools: string;
  /** Folder that plays `/`. */
  readonly root: string;
}

/** A new home below `above`. */
export function install(above: string, program: Script): Home {
  const folder = mkdtempSync(join(above, 'home-'));
  chmodSync(folder, 0o755);
  const below = (name: string): string => {
    mkdirSync(join(folder, name));
    return join(folder, name);
  };
  const home = {
    ...{ folder, program: join(below('bin'), 'culvert'), config: join(folder, 'culvert.toml') },
    ...{ dataDir: below('data'), tools: below('tools'), root: below('root') },
  };
  putProgram(home.program, script(program));
  writeFileSync(home.config, `data_dir = "${home.dataDir}"\n`);
  writeDatabase(join(home.dataDir, 'culvert.db'), 'before');
  return home;
}

export function putProgram(file: string, text: string): void {
  writeFileSync(file, text, { mode: 0o755 });
}

/** A database with these words. */
export function writeDatabase(file: string, ...words: readonly string[]): void {
  const database = new DatabaseSync(file);
  database.exec('CREATE TABLE IF NOT EXISTS words (word TEXT)');
  for (const word of words) database.prepare('INSERT INTO words VALUES (?)').run(word);
  database.close();
}

/** What the first start of the new version does: it copies the database, and migrates it. Then it works. */
export function migrateToNew({ dataDir }: Home): void {
  mkdirSync(join(dataDir, 'snapshots'), { recursive: true });
  const database = new DatabaseSync(join(dataDir, 'culvert.db'));
  database.exec(`VACUUM INTO '${join(dataDir, 'snapshots/v1-to-v2.db')}'`);
  database.close();
  writeDatabase(join(dataDir, 'culvert.db'), NEW_FORMAT, 'after');
}

export function wordsIn(file: string): string[] {
  const database = new DatabaseSync(file);
  const rows = database.prepare('SELECT word FROM words').all();
  database.close();
  return rows.map(({ word }) => String(word));
}

/** Everything that an upgrade could change, as one value. */
export function stateOf({ program, dataDir }: Home): object {
  const folder = join(program, '..');
  const files = readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]);
  return {
    files,
    words: wordsIn(join(dataDir, 'culvert.db')),
    data: readdirSync(dataDir).filter((name) => name !== 'serve.lock'),
  };
}

/** Puts systemd, whose unit runs `runs`, into a home. Its orders are in the file that is returned, "held" behind those while a start would wait. */
export function addSystemd({ root, tools }: Home, runs: string, { staysUp = true } = {}): string {
  mkdirSync(join(root, 'run/systemd/system'), { recursive: true });
  const log = join(tools, 'orders');
  writeFileSync(log, '');
  const isDown = staysUp
    ? 'exit 0'
    : `while read -r order; do [ "$order" = "restart culvert" ] && exit 3; done <"${log}"`;
  putProgram(
    join(tools, 'systemctl'),
    `#!/bin/sh
case $1 in
  is-active) ${isDown} ;;
  show) echo "{ path=${runs} ; argv[]=${runs} serve ; ignore_errors=no }" ;;
  *) held=; [ -e "${root}/run/culvert-rollback" ] && held=" held"
    echo "$*$held" >>"${log}" ;;
esac
`,
  );
  return log;
}

export interface UpgradeRun {
  readonly home: Home;
  readonly flags: object;
  readonly installed?: Partial<Installed>;
  /** Called for each line of progress, before the step. */
  readonly onLine?: (count: number) => void;
}

export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  /** Progress, and the message of a failure. */
  readonly stderr: string;
}

/** Runs the command as the program of `home`. */
export async function runUpgrade({ home, flags, installed = {}, onLine }: UpgradeRun): Promise<Outcome> {
  const text = { stdout: '', stderr: '' };
  let lines = 0;
  const gather = (name: keyof typeof text): Writable =>
    new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        text[name] += chunk.toString();
        if (name === 'stderr') onLine?.(++lines);
        done();
      },
    });
  const io: Io = {
    ...{ stdin: new PassThrough().end(), stdout: gather('stdout'), stderr: gather('stderr') },
    ...{ env: {}, cwd: home.folder, onSignal: () => () => {}, onCrash: () => {}, pause: async () => {} },
  };
  const machine = { root: home.root, env: { PATH: home.tools }, settleMs: 1 };
  const body = upgradeOn({ version: '1.0.0', releaseKey: null, program: home.program, ...machine, ...installed });
  try {
    const code = await body(io, { args: [], flags: { config: home.config, ...flags } });
    return { code, ...text };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return {
      code: error instanceof ExitError ? error.exitCode : 1,
      stdout: text.stdout,
      stderr: text.stderr + error.message,
    };
  }
}

export const keptOf = ({ program }: Home): string => `${program}.old`;
export const hasKept = (home: Home): boolean => existsSync(keptOf(home));
