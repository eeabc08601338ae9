/**
 * One executable: a prepared copy of Node with the bundle and its assets inside. Used by `npm run build` for this machine and by `npm run release` for
 * every platform. The same inputs make the same bytes: `main` is a relative path, for Node writes it into the file.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { removeLibatomic } from './libatomic.mjs';
import { signMachO } from './macho.ts';
import { removeAuthenticode } from './pe.ts';
import { executableName, hostTarget, TARGETS, type Target, type TargetName } from './targets.ts';

export interface ExecutableParts {
  readonly target: TargetName;
  /** Node for that platform. */
  readonly node: string;
  /** Has culvert.mjs; the executable is written here too. */
  readonly folder: string;
  /** Files inside the executable by their names. */
  readonly assets: Readonly<Record<string, string>>;
}

export interface Executable {
  readonly file: string;
  /** The program that removed the symbols; null where none is installed. */
  readonly strip: string | null;
}

export function makeExecutable({ target, node, folder, assets }: ExecutableParts): Executable {
  const base = join(folder, 'node-base');
  const file = join(folder, executableName(target));
  const settings = join(folder, 'sea.json');
  const strip = prepareNode(target, node, base);
  const names = Object.keys(assets).sort();
  const config = {
    main: 'culvert.mjs',
    mainFormat: 'module',
    executable: base,
    output: file,
    disableExperimentalSEAWarning: true,
    // A third off the start. The cache is of the machine's code, so only this platform's can be made.
    useCodeCache: target === hostTarget(),
    execArgvExtension: 'none', // NODE_OPTIONS of the environment must not run code in a server
    // A signal that opens a debugger would expose every key of the server to its sender.
    // A server behind a company's own authority is trusted where the machine trusts it, by agent and server alike.
    execArgv: ['--disable-warning=ExperimentalWarning', '--disable-sigusr1', '--use-system-ca'],
    assets: Object.fromEntries(names.map((name) => [name, assets[name]])),
  };
  writeFileSync(settings, JSON.stringify(config));
  // --predictable: the code cache is the same at each build.
  execFileSync(process.execPath, ['--predictable', '--build-sea', settings], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (target.startsWith('darwin')) sign(file);
  chmodSync(file, 0o755);
  for (const used of [base, settings]) rmSync(used);
  return { file, strip };
}

/** Writes the copy of Node that the executable begins with. Stripping after the injection would break it. */
function prepareNode(target: TargetName, node: string, base: string): string | null {
  const bytes = readFileSync(node);
  if (target.startsWith('linux')) removeLibatomic(bytes);
  writeFileSync(base, target.startsWith('windows') ? removeAuthenticode(bytes) : bytes, { mode: 0o755 });
  return stripSymbols(target, base);
}

/** 116 instead of 150 MB for Linux. */
function stripSymbols(target: TargetName, file: string): string | null {
  const { strip }: Target = TARGETS[target];
  const isHost = target === hostTarget() && process.platform === 'linux';
  for (const program of isHost ? [...strip, 'strip'] : strip) {
    try {
      execFileSync(program, ['--strip-all', file], { stdio: 'ignore' });
      return program;
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
    }
  }
  return null;
}

/** Apple's kernel ends a program whose signature does not fit. */
function sign(file: string): void {
  if (process.platform === 'darwin') execFileSync('codesign', ['--sign', '-', '--force', file], { stdio: 'inherit' });
  else writeFileSync(file, signMachO(readFileSync(file), 'culvert'));
}
