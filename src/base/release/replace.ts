/** Puts another program in the place of the running one. Each step is one rename: on Linux and macOS a kill between two of them leaves a program that starts. */
import { copyFileSync, existsSync, linkSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { flushFolder } from '../process/durable-file.ts';

/** Where the program from before an upgrade is kept. */
export function keptProgram(program: string): string {
  return process.platform === 'win32' ? `${program.replace(/\.exe$/i, '')}.old.exe` : `${program}.old`;
}

/** Keeps `program`, and gives its name to `fresh`, a file in the same file system. `report` is called before each step. */
export function replaceProgram(program: string, fresh: string, report: (line: string) => void): void {
  const kept = keptProgram(program);
  report(`Keeping the present program as ${kept}`);
  if (process.platform === 'win32') {
    // Windows replaces no program that runs, but renames it.
    rmSync(kept, { force: true });
    renameSync(program, kept);
  } else {
    const part = `${kept}.part`;
    rmSync(part, { force: true });
    copyName(program, part);
    renameSync(part, kept);
    // A rename between two names of the same file does nothing: so it is after a kill right here.
    rmSync(part, { force: true });
  }
  report(`Replacing ${program}`);
  renameSync(fresh, program);
  flushFolder(dirname(program));
}

/** Gives its name back to the program that an upgrade has kept. */
export function restoreProgram(program: string): void {
  const kept = keptProgram(program);
  if (process.platform === 'win32' && existsSync(program)) renameSync(program, `${program}.undone`);
  renameSync(kept, program);
  rmSync(kept, { force: true }); // still there when both were names of the same file
  flushFolder(dirname(program));
}

/** A second name for the same bytes; a copy where the file system has no links. */
function copyName(file: string, to: string): void {
  try {
    linkSync(file, to);
  } catch {
    copyFileSync(file, to); // throws what is really wrong
  }
}
