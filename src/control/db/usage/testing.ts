/** Recorded requests and folders for tests of the store of records. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { systemClock } from '../../../base/clock.ts';
import { type Logger, silentLog } from '../../../base/log.ts';
import type { InspectedRequest, InspectionBatch } from '../../../plane/inspection.ts';
import { UsageStore } from './usage-store.ts';

export const ANN = '00000000-0000-7000-8000-00000000000a';
export const BEN = '00000000-0000-7000-8000-00000000000b';
export const SHOP = '00000000-0000-7000-8000-0000000000a1';
export const BLOG = '00000000-0000-7000-8000-0000000000a2';
export const BENS = '00000000-0000-7000-8000-0000000000b1';

/** A UUIDv7 of that instant. */
export function idAt(at: number): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(Math.floor(at), 0, 6);
  bytes.writeUInt8(0x70 | (bytes.readUInt8(6) & 0x0f), 6);
  bytes.writeUInt8(0x80 | (bytes.readUInt8(8) & 0x3f), 8);
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** A request of Ann's shop, but for `changes`; its id is of its instant. */
export function recorded(changes: Partial<InspectedRequest> = {}): InspectedRequest {
  const at = changes.at ?? Date.now();
  return {
    id: idAt(at),
    tunnelId: SHOP,
    orgId: ANN,
    at,
    method: 'GET',
    target: '/orders?page=2',
    status: 200,
    latencyMs: 12.25,
    requestSize: 3,
    responseSize: 70_000,
    remoteIp: '2001:db8::1',
    requestHead: Buffer.from('GET /orders?page=2 HTTP/1.1\r\nHost: shop.example.com\r\n\r\n'),
    responseHead: Buffer.from('HTTP/1.1 200 OK\r\nX: \xff\r\n\r\n', 'latin1'),
    requestBody: Buffer.from([0, 255, 1]),
    requestBodyTruncated: false,
    responseBody: Buffer.from('half of it'),
    responseBodyTruncated: true,
    replayOf: null,
    trace: {
      outcome: 'forwarded',
      code: null,
      host: 'shop.example.com',
      scheme: 'https',
      httpVersion: '2',
      steps: [{ step: 'deny', index: 0, rule: null, verdict: 'passed', code: null }],
      agentId: 'a',
      tokenId: 't',
      connection: 'kept',
      retried: false,
      policyMs: 0.5,
      firstByteMs: 11.75,
    },
    ...changes,
  };
}

export function batch(...records: readonly InspectedRequest[]): InspectionBatch {
  return { records, unrecorded: [] };
}

export interface LogLine {
  readonly level: string;
  readonly message: string;
  readonly fields: object;
}

/** A logger that keeps what is said. */
export function keptLog(lines: LogLine[]): Logger {
  const say = (level: string) => (fields: object, message: string) => void lines.push({ level, message, fields });
  return { ...silentLog, error: say('error'), warn: say('warn'), info: say('info') };
}

/** A folder of the test, removed behind it. */
export function usageFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'culvert-usage-'));
  t.after(() => rmSync(folder, { recursive: true, maxRetries: 5 }));
  return folder;
}

/** A store on a folder of its own, or on the one that is named; closed behind the test. */
export function openStore(
  t: TestContext,
  { dataDir = usageFolder(t), lines = [] }: { readonly dataDir?: string; readonly lines?: LogLine[] } = {},
): UsageStore {
  const store = new UsageStore({ dataDir, maxBytes: 2 ** 30, clock: systemClock, log: keptLog(lines) });
  t.after(() => store.close());
  return store;
}
