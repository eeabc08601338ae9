/** What a lane (scripts/test/lane.ts) tells its parent. Plain data: it goes over a channel between processes. */
export type LaneEvent =
  | { readonly kind: 'next' }
  /** Something happened: a test that takes long is not one that hangs. */
  | { readonly kind: 'alive' }
  | ResultEvent
  /** A file is over, but for results on their way. `cpuMs`: what it took of the lane's processor time, without children's. */
  | { readonly kind: 'left'; readonly path: string; readonly cpuMs: number }
  | { readonly kind: 'diagnostic'; readonly text: string };

/** The parent's response to `next`: a file and its limit in milliseconds; undefined: no file is left. */
export interface LaneOrder {
  readonly file?: { readonly path: string; readonly limitMs: number };
}

export interface ResultEvent {
  readonly kind: 'result';
  /** The file itself is the suite at depth 0. */
  readonly depth: number;
  readonly type: 'suite' | 'test';
  readonly names: readonly string[];
  readonly ok: boolean;
  /** Milliseconds. */
  readonly tookMs: number;
  /** Why it was skipped; true: without a reason. */
  readonly skip: string | boolean;
  readonly todo: boolean;
  readonly cancelled: boolean;
  /** Of a failure that is not one of its subtests alone; places are those of the bundle. */
  readonly error?: string;
  /** Where the test stands, `<file>:<line>:<column>` of what ran. */
  readonly at?: string;
}
