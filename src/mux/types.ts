/** What a session runs on, and why it ends. What its users give and get is in session.ts and stream.ts. */

/** Why a session ended. */
export class MuxError extends Error {
  readonly code: MuxErrorCode;
  constructor(code: MuxErrorCode, message: string) {
    super(message);
    this.name = 'MuxError';
    this.code = code;
  }
}

export type MuxErrorCode =
  | 'closed' // the transport ended in good order
  | 'transport' // the transport failed
  | 'protocol' // the peer broke a rule of the wire format
  | 'window_overrun' // the peer sent more than it was allowed to
  | 'flood' // the peer sent control frames or streams beyond the limits
  | 'heartbeat' // a ping was not answered in time
  | 'go_away' // the peer said go-away with an error code
  | 'destroyed'; // cut by this side

/** What the session writes to: a socket, or a fake in tests. Only one write is outstanding at any time. */
export interface MuxTransport {
  write(bytes: Uint8Array, done: (error?: Error | null) => void): void;
  /** Ends in good order after what was written. */
  end(): void;
  destroy(): void;
}
