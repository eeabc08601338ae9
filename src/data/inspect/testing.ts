/** What tests ask of records: those that a rig's control plane was given, as text. Used by tests alone. */
import assert from 'node:assert/strict';
import type { Rig } from '../edge/testing/rig.ts';
import type { InspectedRequest } from '../../plane/inspection.ts';

/** All records so far, the ones that were complete when this was called among them. */
export async function recordsOf(rig: Rig): Promise<InspectedRequest[]> {
  await rig.node.flushInspections();
  return rig.link.inspections.flatMap((batch) => batch.records);
}

/** The only one. */
export async function recordOf(rig: Rig): Promise<InspectedRequest> {
  const records = await recordsOf(rig);
  assert.equal(records.length, 1);
  return records[0] as InspectedRequest;
}

export function textOf(bytes: Uint8Array | null): string {
  return bytes === null ? '' : Buffer.from(bytes).toString('latin1');
}
