/**
 * Masks records before the file and the live feed, and entries of the access log before logs and exports. Each batch reads the rules from the
 * database, so a change applies to the next one. Decompresses frames of WebSockets first. Drops data that can't be masked. Called by the link.
 */
import { setImmediate } from 'node:timers/promises';
import { inArray } from 'drizzle-orm';
import type { Logger } from '../../../base/log.ts';
import type { AccessBatch } from '../../../plane/access-log.ts';
import type { InspectedRequest, InspectionBatch, UnrecordedCount, WebSocketUpdate } from '../../../plane/inspection.ts';
import { inspectorSettings } from '../../db/schema.ts';
import type { Store } from '../../db/tx.ts';
import { inflateFrames } from '../websockets/inflate-frames.ts';
import { maskEntry } from './mask-entry.ts';
import { maskFrames } from './mask-frames.ts';
import { maskRecord } from './mask-record.ts';
import { type MaskRules, readRules } from './rules.ts';

/** Longest work at a time: the thread also serves the API. */
const TURN_MS = 5;

export class RecordMasks {
  readonly #store: Store;
  readonly #log: Logger;

  constructor({ store, log }: { readonly store: Store; readonly log: Logger }) {
    this.#store = store;
    this.#log = log;
  }

  /** The batch as it may be stored and shown. Rejects when the rules can't be read. */
  async apply(batch: InspectionBatch): Promise<InspectionBatch> {
    const { websockets = [] } = batch;
    const rules = this.#rulesOf(new Set([...batch.records, ...websockets].map(({ tunnelId }) => tunnelId)));
    if (rules.size === 0 && websockets.length === 0) return batch;
    const records: InspectedRequest[] = [];
    const unrecorded: UnrecordedCount[] = [...batch.unrecorded];
    let turn = performance.now();
    for (const record of batch.records) {
      const masked = this.#mask(record, rules.get(record.tunnelId));
      if (masked !== undefined) records.push(masked);
      else unrecorded.push({ tunnelId: record.tunnelId, orgId: record.orgId, count: 1 });
      if (performance.now() - turn < TURN_MS) continue;
      await setImmediate();
      turn = performance.now();
    }
    if (websockets.length === 0) return { records, unrecorded };
    const updates: WebSocketUpdate[] = [];
    for (const update of websockets) {
      updates.push(this.#maskUpdate(update, rules.get(update.tunnelId)));
      if (performance.now() - turn < TURN_MS) continue;
      await setImmediate();
      turn = performance.now();
    }
    return { records, unrecorded, websockets: updates };
  }

  /** The batch as it may be written and exported. Throws when the rules can't be read. */
  applyToAccess(batch: AccessBatch): AccessBatch {
    const tunnelIds = batch.entries.flatMap(({ tunnelId }) => (tunnelId === null ? [] : [tunnelId]));
    const rules = this.#rulesOf(new Set(tunnelIds));
    if (rules.size === 0) return batch;
    const entries = batch.entries.map((entry) => {
      const own = entry.tunnelId === null ? undefined : rules.get(entry.tunnelId);
      return own === undefined ? entry : maskEntry(entry, own);
    });
    return { entries };
  }

  #mask(record: InspectedRequest, rules: MaskRules | undefined): InspectedRequest | undefined {
    if (rules === undefined) return record;
    try {
      return maskRecord(record, rules);
    } catch (error) {
      this.#log.error({ err: error, tunnel: record.tunnelId }, 'could not mask a recorded request: it is not stored');
      return undefined;
    }
  }

  /** Without its frames where they can't be masked. */
  #maskUpdate(update: WebSocketUpdate, rules: MaskRules | undefined): WebSocketUpdate {
    if (update.frames === null) return update;
    try {
      const frames = inflateFrames(update.frames);
      return { ...update, frames: rules === undefined ? frames : maskFrames(frames, rules) };
    } catch (error) {
      this.#log.error(
        { err: error, tunnel: update.tunnelId },
        'could not mask frames of a WebSocket: they are not stored',
      );
      return { ...update, frames: [], framesLeftOut: update.framesLeftOut + update.frames.length };
    }
  }

  #rulesOf(tunnelIds: ReadonlySet<string>): ReadonlyMap<string, MaskRules> {
    const rows = this.#store.db
      .select({ id: inspectorSettings.tunnelId, mask: inspectorSettings.mask })
      .from(inspectorSettings)
      .where(inArray(inspectorSettings.tunnelId, [...tunnelIds]))
      .all();
    return new Map(rows.filter(({ mask }) => mask.length > 0).map(({ id, mask }) => [id, readRules(mask)]));
  }
}
