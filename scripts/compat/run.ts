/**
 * `npm run compat`: well-known programs behind tunnels of the built executable, and what each needs besides.
 *
 *   npm run compat -- [NAME…] [--install] [--binary FILE] [--before FILE] [--out FILE.md] [--cache FOLDER]
 *
 * NAME is the name of a file in programs/. `--binary`: dist/culvert unless given. `--before`: an older build for comparison, in turn with the new
 * one. `--install`: get what is missing from npm and PyPI into the cache folder, and from Debian on this machine (as root). Without it, programs that
 * are not there are named so. `--out`: the table as Markdown. Fails when a program does not do what its file expects.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { Ending } from '../../test/harness/ends.ts';
import { CACHE } from './kit.ts';
import { PROGRAMS } from './programs.ts';
import { Stage } from './stage.ts';
import { line, markdown, type Row } from './table.ts';
import { tryProgram } from './try.ts';

const { values: options, positionals: names } = parseArgs({
  allowPositionals: true,
  options: {
    before: { type: 'string' },
    binary: { type: 'string', default: join(import.meta.dirname, '../../dist/culvert') },
    cache: { type: 'string', default: CACHE },
    install: { type: 'boolean', default: false },
    out: { type: 'string' },
  },
});

async function main(): Promise<boolean> {
  const binary = resolve(options.binary);
  if (!existsSync(binary)) throw new Error(`there is no ${binary}: run npm run build, or name one with --binary`);
  const unknown = names.filter((name) => PROGRAMS[name] === undefined);
  if (unknown.length > 0)
    throw new Error(`no such program: ${unknown.join(', ')} (${Object.keys(PROGRAMS).join(', ')})`);
  const chosen = Object.entries(PROGRAMS).filter(([name]) => names.length === 0 || names.includes(name));
  const ending = new Ending();
  try {
    const before = options.before === undefined ? undefined : await Stage.open(ending, resolve(options.before));
    const stages = { before, after: await Stage.open(ending, binary) };
    const rows: Row[] = [];
    for (const [, program] of chosen) {
      const row = await tryProgram(program, stages, { cache: resolve(options.cache), installs: options.install });
      console.log(line(row));
      rows.push(row);
    }
    if (options.out !== undefined) writeFileSync(options.out, markdown(rows));
    return rows.every(({ passed }) => passed);
  } finally {
    await ending.run();
  }
}

// What programs started must end with this one.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
process.exitCode = (await main()) ? 0 : 1;
