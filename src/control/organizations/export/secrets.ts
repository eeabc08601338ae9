/** Secrets of an organization's export, sealed for its row. */
import type { Sealer } from '../../core/secrets/sealing.ts';
import type { ExportRow } from './rows.ts';

export type Headers = Readonly<Record<string, string>>;

const headersPurpose = (orgId: string): string => `export headers ${orgId}`;
const secretPurpose = (orgId: string): string => `export secret ${orgId}`;

/** null: there are none. */
export function sealHeaders(sealer: Sealer, orgId: string, headers: Headers): string | null {
  if (Object.keys(headers).length === 0) return null;
  return sealer.seal(headersPurpose(orgId), Buffer.from(JSON.stringify(headers)));
}

export function openHeaders(sealer: Sealer, { orgId, sealedHeaders }: ExportRow): Headers {
  if (sealedHeaders === null) return {};
  return JSON.parse(sealer.open(headersPurpose(orgId), sealedHeaders).toString('utf8')) as Headers;
}

/** Their names; none where they can't be read. */
export function headerNames(sealer: Sealer, row: ExportRow): readonly string[] {
  try {
    return Object.keys(openHeaders(sealer, row));
  } catch {
    // Each attempt to send says so.
    return [];
  }
}

export function sealSecret(sealer: Sealer, orgId: string, secret: string): string {
  return sealer.seal(secretPurpose(orgId), Buffer.from(secret));
}

export function openSecret(sealer: Sealer, { orgId, sealedSecret }: ExportRow): string | null {
  return sealedSecret === null ? null : sealer.open(secretPurpose(orgId), sealedSecret).toString('utf8');
}
