/** The migrations before the first release, as their builds applied and recorded them: for databases of that time. Text: migrations-before-release.sql. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../scripts/test/files.ts';
import type { Sqlite } from '../../src/control/db/sqlite.ts';

/** Applies the first `count` of them to an empty database. */
export function applyBeforeRelease(sqlite: Sqlite, count: number): void {
  sqlite.exec(
    'CREATE TABLE culvert_migrations (id INTEGER PRIMARY KEY, tag TEXT NOT NULL, hash TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT',
  );
  const record = sqlite.prepare('INSERT INTO culvert_migrations (tag, hash, applied_at) VALUES (?, ?, 1)');
  const all = readFileSync(join(ROOT, 'test/control/migrations-before-release.sql'), 'utf8')
    .split(/^--> migration /m)
    .slice(1);
  sqlite.pragma('foreign_keys = OFF');
  for (const one of all.slice(0, count)) {
    const [, tag = '', text = ''] = /^(\S+)\n([^]*)\n$/.exec(one) ?? [];
    sqlite.exec(text.replaceAll('--> statement-breakpoint', ''));
    record.run(tag, createHash('sha256').update(text).digest('hex'));
  }
  sqlite.pragma('foreign_keys = ON');
}
