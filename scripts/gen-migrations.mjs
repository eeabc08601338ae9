/**
 * Embeds drizzle/*.sql in src/control/db/migrations.gen.ts, so that tests, tsx and the single executable run the same migrations.
 * `--check` writes nothing and exits 1 when the file is out of step.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const target = join(root, 'src/control/db/migrations.gen.ts');

/** The text of migrations.gen.ts for the folder `drizzle/` as it is now. */
export function render() {
  const journal = JSON.parse(readFileSync(join(root, 'drizzle/meta/_journal.json'), 'utf8'));
  const migrations = journal.entries.map(({ idx, tag }) => {
    const text = readFileSync(join(root, 'drizzle', `${tag}.sql`), 'utf8');
    const statements = text
      .split('--> statement-breakpoint')
      .map((s) => s.trim())
      // The runner owns this switch: inside a transaction it does nothing, outside of ours it would lose rows (migrate.ts).
      .filter((s) => s !== '' && !/^PRAGMA foreign_keys\s*=/i.test(s));
    return { index: idx + 1, tag, hash: createHash('sha256').update(text).digest('hex'), statements };
  });
  return [
    '/** Generated from drizzle/ by scripts/gen-migrations.mjs. Do not edit. */',
    "import type { Migration } from './migration.ts';",
    '',
    `export const MIGRATIONS: readonly Migration[] = ${JSON.stringify(migrations, null, 2)};`,
    '',
  ].join('\n');
}

if (process.argv[1] === import.meta.filename) {
  const text = render();
  const same = existsSync(target) && readFileSync(target, 'utf8') === text;
  if (process.argv.includes('--check')) {
    if (!same) {
      console.error('src/control/db/migrations.gen.ts is out of step with drizzle/: run scripts/gen-migrations.mjs');
      process.exitCode = 1;
    }
  } else if (!same) writeFileSync(target, text);
}
