/** The types of a connection to SQLite and of its statements. Types alone: open.ts opens connections, and loads the package. */
import type Database from 'better-sqlite3';

export type Sqlite = Database.Database;
export type Statement = Database.Statement;
