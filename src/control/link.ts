/**
 * The link between the planes when both live in one process: calls become service calls, faults become refusals. plane/port
 * carries it to the data thread. Everything is asynchronous and plain data.
 */
import { setImmediate } from 'node:timers/promises';
import { AppError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { AccessBatch } from '../plane/access-log.ts';
import type { EventBatch } from '../plane/events.ts';
import type { InspectionBatch } from '../plane/inspection.ts';
import type { AdmitAnswer, AttachAnswer, ClaimAnswer, ClaimQuestion, Link, Refusal } from '../plane/link.ts';
import type { AttachQuestion, RelayRoute } from '../plane/relays.ts';
import type { Delta, Route, Snapshot } from '../plane/routes.ts';
import type { AccessFeed } from './core/link/access-feed.ts';
import type { RecordStore } from './db/usage/records.ts';
import type { Publisher } from './core/link/publisher.ts';
import type { Certificates } from './certificates/service.ts';
import type { Exports } from './organizations/export/service.ts';
import type { LiveFeed } from './inspector/live-feed.ts';
import type { RecordMasks } from './inspector/masking/record-masks.ts';
import type { Attachments } from './networks/relay/attach.ts';
import type { Claims } from './tunnels/claims/service.ts';
import type { Narrowings } from './tunnels/narrowing/service.ts';
import type { Keys } from './core/secrets/keys.ts';
import type { Tunnels } from './tunnels/service.ts';
import type { Usage } from './tunnels/plane/usage.ts';

export interface LinkDeps {
  readonly publisher: Publisher;
  readonly tunnels: Tunnels;
  readonly keys: Keys;
  /** Base64url. */
  readonly visitorKey: string;
  readonly claims: Claims;
  readonly narrowings: Narrowings;
  readonly attachments: Attachments;
  /** Every relay of a private network, a slice at a time. */
  readonly relaySlices: () => Iterable<readonly RelayRoute[]>;
  readonly usage: Usage;
  readonly records: Pick<RecordStore, 'store'>;
  readonly recordMasks: Pick<RecordMasks, 'apply' | 'applyToAccess'>;
  readonly exports: Pick<Exports, 'exportingOrgs'>;
  readonly accessFeed: Pick<AccessFeed, 'publish'>;
  readonly liveFeed: Pick<LiveFeed, 'publish'>;
  readonly certificates: Certificates;
  readonly log: Logger;
}

/** A Link on services of this process. */
export function inProcessLink(deps: LinkDeps): Link {
  const fault = (what: string, error: unknown): Refusal => {
    if (error instanceof AppError && error.code === 'unavailable') {
      deps.log.warn({ error: error.message }, `${what} had to wait`);
      return { ok: false, code: 'overloaded', message: error.message };
    }
    deps.log.error({ err: error }, `${what} failed`);
    return { ok: false, code: 'internal', message: 'The server had an internal error. The reason is in its log.' };
  };
  return {
    snapshot: async (): Promise<Snapshot> => {
      // What changes while slices are read has a higher number, and its deltas say the same once more.
      const { version } = deps.publisher;
      const routes = await gathered<Route>(deps.tunnels.routeSlices());
      const relays = await gathered<RelayRoute>(deps.relaySlices());
      return {
        version,
        routes,
        accessKeys: deps.keys.accessKeys(),
        visitorKey: deps.visitorKey,
        relays,
        exportingOrgs: deps.exports.exportingOrgs(),
      };
    },
    onDelta: (listener: (delta: Delta) => void): (() => void) => deps.publisher.subscribe(listener),
    admit: async (token: string, remoteIp?: string): Promise<AdmitAnswer> => {
      try {
        return deps.claims.admit(token, remoteIp);
      } catch (error) {
        return fault('admit', error);
      }
    },
    recheck: async (tokenIds: readonly string[]): Promise<readonly AdmitAnswer[]> => deps.claims.recheck(tokenIds),
    claim: async (question: ClaimQuestion): Promise<ClaimAnswer> => {
      try {
        const prepared = await deps.narrowings.prepare(question);
        if (!prepared.ok) return prepared;
        const { narrowing } = prepared;
        const answer = deps.claims.claim(question, narrowing);
        // The commit's own deltas have been sent by now: this number is the one of a table that holds the route.
        return answer.ok ? { ...answer, version: deps.publisher.version, narrowing } : answer;
      } catch (error) {
        return fault('claim', error);
      }
    },
    attach: async (question: AttachQuestion): Promise<AttachAnswer> => {
      try {
        const answer = deps.attachments.decide(question);
        return answer.ok ? { ...answer, version: deps.publisher.version } : answer;
      } catch (error) {
        return fault('attach', error);
      }
    },
    wantCertificate: async (host: string): Promise<boolean> => {
      try {
        return await deps.certificates.want(host);
      } catch (error) {
        deps.log.error({ err: error, host }, 'could not request a certificate');
        return false;
      }
    },
    report: async (batch: EventBatch): Promise<void> => {
      deps.usage.storeBatch(batch);
    },
    inspect: async (batch: InspectionBatch): Promise<void> => {
      const masked = await deps.recordMasks.apply(batch);
      await deps.records.store(masked);
      // Told once it can be asked for by its id.
      try {
        deps.liveFeed.publish(masked.records);
      } catch (error) {
        deps.log.error({ err: error }, 'the live feed failed');
      }
    },
    logAccess: async (batch: AccessBatch): Promise<void> =>
      deps.accessFeed.publish(deps.recordMasks.applyToAccess(batch)),
  };
}

/** All items, a slice per turn of the loop. */
async function gathered<T>(slices: Iterable<readonly T[]>): Promise<readonly T[]> {
  const all: T[] = [];
  for (const slice of slices) {
    for (const one of slice) all.push(one);
    await setImmediate();
  }
  return all;
}
