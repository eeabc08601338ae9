/** The server of this machine during an upgrade: its settings and a copy of its database are tried with the other program. */
import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Settings } from '../../config/schema.ts';
import { DATABASE_FILE } from '../../control/db/open.ts';
import { replaceDatabase, type Snapshot, snapshots, testMigration } from './database.ts';
import { otherOwner } from './owner.ts';
import { runProgram } from './run-program.ts';

type Report = (line: string) => void;

export interface ServerToUpgrade {
  /** Tries the settings and a copy of the database with the new program. Rejects when it can't use one of them. */
  test(program: string, report: Report): Promise<void>;
  /** The copy of the database that the kept program needs. Undefined when it can use the database as it is. */
  copyFor(kept: string, report: Report): Promise<Snapshot | undefined>;
  /** Puts a copy in the place of the database. @throws when the server runs. */
  replaceDatabase(copy: Snapshot, report: Report): void;
}

/** `file`: the settings file, absolute. Undefined when no server ever ran on these settings. @throws when this user may not change its files. */
export function serverToUpgrade(settings: Settings, file: string): ServerToUpgrade | undefined {
  const dataDir = resolve(settings.data_dir);
  if (!existsSync(join(dataDir, DATABASE_FILE))) return undefined;
  const me = process.geteuid?.();
  if (me !== undefined && me !== 0 && me !== statSync(dataDir).uid) {
    throw new Error(`${dataDir} belongs to another user. Run this as root: sudo culvert upgrade`);
  }
  const tryWith = async (program: string, report: Report): Promise<boolean> => {
    report(`Checking ${file} with ${program}`);
    await runProgram(program, ['config', 'check', file], { owner: otherOwner(dataDir) });
    report('Migrating a copy of the database with it');
    return testMigration(dataDir, program);
  };
  return {
    test: async (program, report) => {
      if (await tryWith(program, report)) return;
      throw new Error(`the database in ${dataDir} is newer than the program of this release`);
    },
    copyFor: async (kept, report) => {
      if (await tryWith(kept, report)) return undefined;
      for (const snapshot of snapshots(dataDir)) {
        report(`The database is newer. Trying ${snapshot.file}`);
        if (await testMigration(dataDir, kept, snapshot.file)) return snapshot;
      }
      throw new Error(
        `the database in ${dataDir} is newer than ${kept}, and so are the copies in its folder snapshots. Restore a backup with the old program instead.`,
      );
    },
    replaceDatabase: ({ file: copy, takenAt }, report) => {
      report(`Putting ${copy} back as the database: changes since ${takenAt.toISOString()} are not in it`);
      const newer = replaceDatabase(dataDir, copy);
      report(`The newer database is kept as ${newer}`);
    },
  };
}
