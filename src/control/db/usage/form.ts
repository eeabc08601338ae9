/**
 * The tables of `usage.db`, made for three questions: the newest of an organization, the newest of a tunnel, one whole record.
 * `records` is ordered by (tunnel, id); `records_org` has what is filtered by most; `details` has what lists never read. Numbers
 * stand for organizations and tunnels, and are never given twice. Ids are BLOBs of 16 bytes. Why: docs/decisions/0012-usage-file.md.
 */

/** `PRAGMA user_version`. A file of another form is set aside and begun anew: no record is worth a migration that takes minutes. */
export const FORM = 2;

export const TABLES = `
CREATE TABLE organizations (
  n INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT UNIQUE,                        -- NULL: forgotten; its rows go little by little
  bytes INTEGER NOT NULL DEFAULT 0       -- what its records take, about
) STRICT;
CREATE TABLE tunnels (
  n INTEGER PRIMARY KEY AUTOINCREMENT,
  org INTEGER NOT NULL,
  id TEXT,                               -- NULL: forgotten
  UNIQUE (org, id)
) STRICT;
CREATE INDEX tunnels_by_id ON tunnels (id);
CREATE TABLE records (
  tunnel INTEGER NOT NULL,
  id BLOB NOT NULL,
  org INTEGER NOT NULL,
  at INTEGER NOT NULL,
  method TEXT NOT NULL,
  target TEXT NOT NULL,
  status INTEGER NOT NULL,
  latency_ms REAL NOT NULL,
  request_size INTEGER NOT NULL,
  response_size INTEGER NOT NULL,
  remote_ip TEXT NOT NULL,
  replay_of BLOB,
  outcome TEXT NOT NULL,
  code TEXT,
  detail INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  PRIMARY KEY (tunnel, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX records_org ON records (org, id, status, method);
CREATE INDEX records_replays ON records (replay_of) WHERE replay_of IS NOT NULL;
CREATE TABLE details (
  n INTEGER PRIMARY KEY,
  request_head BLOB NOT NULL,
  response_head BLOB,
  request_body BLOB NOT NULL,
  response_body BLOB NOT NULL,
  request_cut INTEGER NOT NULL,
  response_cut INTEGER NOT NULL,
  trace TEXT NOT NULL                    -- JSON
) STRICT;
CREATE TABLE unrecorded (
  org INTEGER NOT NULL,
  minute INTEGER NOT NULL,               -- since the epoch
  tunnel INTEGER NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (org, minute, tunnel)
) STRICT, WITHOUT ROWID;
PRAGMA user_version = ${FORM};
`;

/** What a record takes beside its heads, bodies, target and trace: rows in two tables and an index, and pages that are not full. */
export const RECORD_BYTES = 350;
export const UNRECORDED_BYTES = 24;
