/** New records into the file. In the thread alone (usage-desk.ts). */
import type { Sqlite } from '../sqlite.ts';
import { RECORD_BYTES, UNRECORDED_BYTES } from './form.ts';
import type { PackedRecord, Piece } from './questions.ts';
import { idBytes } from './record-ids.ts';

export type Insert = (piece: Piece) => void;

/** What a record takes in the file, about. */
function weightOf(record: PackedRecord): number {
  const bytes =
    record.requestHead + Math.max(record.responseHead, 0) + record.requestBody + record.responseBody + RECORD_BYTES;
  return bytes + record.target.length + record.trace.length;
}

/** The returned function stores a piece in one transaction; a record whose id is there already, or is none, is left out. */
export function prepareInsert(sqlite: Sqlite): Insert {
  const organizationOf = sqlite.prepare<[string], { n: number }>('SELECT n FROM organizations WHERE id = ?');
  const newOrganization = sqlite.prepare('INSERT INTO organizations (id) VALUES (?)');
  const tunnelOf = sqlite.prepare<[number, string], { n: number }>('SELECT n FROM tunnels WHERE org = ? AND id = ?');
  const newTunnel = sqlite.prepare('INSERT INTO tunnels (org, id) VALUES (?, ?)');
  const weigh = sqlite.prepare('UPDATE organizations SET bytes = bytes + ? WHERE n = ?');
  const lastDetail = sqlite.prepare<[], { n: number | null }>('SELECT max(n) AS n FROM details');
  const insertRecord = sqlite.prepare(
    `INSERT INTO records (tunnel, id, org, at, method, target, status, latency_ms, request_size, response_size, remote_ip, replay_of, outcome, code, detail, bytes)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
  );
  const insertDetail = sqlite.prepare(
    `INSERT INTO details (n, request_head, response_head, request_body, response_body, request_cut, response_cut, trace)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const countMore = sqlite.prepare(
    'UPDATE unrecorded SET count = count + ? WHERE org = ? AND minute = ? AND tunnel = ?',
  );
  const countFirst = sqlite.prepare('INSERT INTO unrecorded (count, org, minute, tunnel) VALUES (?, ?, ?, ?)');

  return (piece) => {
    const organizations = new Map<string, { n: number; bytes: number }>();
    const tunnels = new Map<string, number>();
    const organization = (id: string): { n: number; bytes: number } => {
      const known = organizations.get(id);
      if (known !== undefined) return known;
      const n = organizationOf.get(id)?.n ?? Number(newOrganization.run(id).lastInsertRowid);
      const entry = { n, bytes: 0 };
      organizations.set(id, entry);
      return entry;
    };
    const tunnel = (org: number, id: string): number => {
      const key = `${org} ${id}`;
      const n = tunnels.get(key) ?? tunnelOf.get(org, id)?.n ?? Number(newTunnel.run(org, id).lastInsertRowid);
      tunnels.set(key, n);
      return n;
    };

    sqlite
      .transaction(() => {
        let detail = lastDetail.get()?.n ?? 0;
        let start = 0;
        const take = (length: number): Buffer => {
          const part = Buffer.from(piece.bytes.buffer, piece.bytes.byteOffset + start, length);
          start += length;
          return part;
        };
        for (const record of piece.records) {
          const requestHead = take(record.requestHead);
          const responseHead = record.responseHead < 0 ? null : take(record.responseHead);
          const requestBody = take(record.requestBody);
          const responseBody = take(record.responseBody);
          const id = idBytes(record.id);
          if (id === undefined) continue;
          const org = organization(record.orgId);
          const bytes = weightOf(record);
          const { changes } = insertRecord.run(
            tunnel(org.n, record.tunnelId),
            id,
            org.n,
            Math.floor(record.at),
            record.method,
            record.target,
            record.status,
            record.latencyMs,
            record.requestSize,
            record.responseSize,
            record.remoteIp,
            record.replayOf === null ? null : (idBytes(record.replayOf) ?? null),
            record.outcome,
            record.code,
            detail + 1,
            bytes,
          );
          if (changes === 0) continue;
          detail += 1;
          const cut = [record.requestCut ? 1 : 0, record.responseCut ? 1 : 0];
          insertDetail.run(detail, requestHead, responseHead, requestBody, responseBody, ...cut, record.trace);
          org.bytes += bytes;
        }
        for (const { orgId, tunnelId, count } of piece.unrecorded) {
          const org = organization(orgId);
          const row = [count, org.n, piece.minute, tunnel(org.n, tunnelId)];
          if (countMore.run(...row).changes > 0) continue;
          countFirst.run(...row);
          org.bytes += UNRECORDED_BYTES;
        }
        for (const { n, bytes } of organizations.values()) weigh.run(bytes, n);
      })
      .immediate();
  };
}
