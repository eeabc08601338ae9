/**
 * What an action that is only tried (`enforce: false`) would have refused: counted in place, and told in intervals by report/dry-runs.ts. Made
 * by compile.ts for each such action of a policy; a policy without one has none, and pays nothing.
 */
import type { DryRunEvent, DryRunSample } from '../../plane/events.ts';
import { QUESTION } from '../../http1/chars.ts';
import type { FaultCode } from '../../base/codes/edge-faults.ts';
import type { PolicyRequest } from './step.ts';

/** Which action this is about. */
export type DryRunPlace = Pick<DryRunEvent, 'tunnelId' | 'setAt' | 'index' | 'action'>;
/** What is shown of a request: a connection that is no HTTP has neither method nor path. */
export type Seen = Omit<DryRunSample, 'code'>;

const MAX_PATH = 200;

export class DryRun {
  readonly #place: DryRunPlace;
  readonly #onNews: (self: DryRun) => void;
  readonly #now: () => number;
  #refused = 0;
  #lastAt = 0;
  #sample: DryRunSample = { method: null, path: null, clientIp: '', code: '' };

  /** `onNews`: there is something to `take`, for the first time since it was last taken. */
  constructor(place: DryRunPlace, deps: { readonly onNews: (self: DryRun) => void; readonly now: () => number }) {
    this.#place = place;
    this.#onNews = deps.onNews;
    this.#now = deps.now;
  }

  /** It would have refused this with that code. The last one is the sample. */
  count(code: FaultCode, { method, path, clientIp }: Seen): void {
    this.#lastAt = this.#now();
    this.#sample = { method, path, clientIp, code };
    if (this.#refused++ === 0) this.#onNews(this);
  }

  /** What was counted since the last time. */
  take(): DryRunEvent {
    const refused = this.#refused;
    this.#refused = 0;
    return { kind: 'dry_run', ...this.#place, refused, lastAt: this.#lastAt, sample: this.#sample };
  }
}

/** What is shown of a request, without its query: people put secrets there. */
export function seenIn({ bytes, start, head, clientIp }: PolicyRequest): Seen {
  const { pathStart, targetEnd } = head;
  let end = pathStart;
  while (end < targetEnd && end - pathStart < MAX_PATH && bytes[end] !== QUESTION) end++;
  return {
    method: bytes.toString('latin1', start, head.methodEnd),
    path: end === pathStart ? '/' : bytes.toString('latin1', pathStart, end),
    clientIp,
  };
}
