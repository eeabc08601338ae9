/** What a made-up event of each kind of sender is made of. */

/** For one event. */
export interface TestContext {
  /** The receiver's own secret. */
  readonly secret: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** To which the sender would deliver it. */
  readonly url: string;
  /** A UUID, new for each event. */
  readonly id: string;
}

export interface TestMessage {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export interface TestSender {
  /** Types of events, the usual one first. */
  readonly types: readonly string[];
  /** `type`: one of `types`. Undefined: it can't be signed with this secret. */
  readonly make: (type: string, context: TestContext) => TestMessage | undefined;
}

/** The JSON text of a body, as senders write it. */
export function jsonBody(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}

export function seconds(ms: number): number {
  return Math.floor(ms / 1000);
}

export function isoSeconds(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

/** So many letters and digits of an ID, for IDs of other forms. */
export function shortId(id: string, length: number): string {
  return id.replaceAll('-', '').padEnd(length, '0').slice(-length);
}
