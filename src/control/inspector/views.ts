/** A recorded request as the inspector and its exports hold it. */
import type { InspectedRequest } from '../../plane/inspection.ts';
import type { RecordedHead } from '../core/rules/recorded-head.ts';

/** A record with its heads read, and what the caller must not see masked. */
export interface ShownRequest {
  readonly record: InspectedRequest;
  readonly request: RecordedHead;
  /** Null: the service sent none. */
  readonly response: RecordedHead | null;
  /** It is a replay of one that the edge had blocked. Left out in exports. */
  readonly wasBlocked?: boolean;
}
